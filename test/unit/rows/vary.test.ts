import fc from 'fast-check';
import {
  checkRows,
  parseVary,
  type PreparedRow,
  readRows,
  RowFileError,
  type RowOptions,
  type RowProblem,
  rowsFrom,
} from '../../../src/rows';
import { fileProblemsOf, rowsOf } from './rows-under-test';

const seed = '3:KSampler.seed';
const width = '2:ImageScale.width';
const text = '4:Text.text';
const common = { webAppId: 1 };

async function check(rows: readonly object[], options: RowOptions) {
  const good: PreparedRow[] = [];
  const problems: RowProblem[] = [];
  const report = await checkRows(readRows(rowsFrom(rows), { common, batchId: 'b', ...options }), {
    onRow: (row) => void good.push(row),
    onProblem: (problem) => void problems.push(problem),
  });
  return { report, problems, rows: good, keys: good.map(({ originalKey, key }) => originalKey ?? key) };
}

describe('the values of an option', () => {
  it.each([
    ['1,2.5,-3', [1, 2.5, -3]],
    ['007,a dog,"a cat, sitting","say ""hi"""', ['007', 'a dog', 'a cat, sitting', 'say "hi"']],
    ['@a.jpg,@s3://b/c.png', [{ file: 'a.jpg' }, { file: 's3://b/c.png' }]],
    ['"random"', ['random']],
    ['random', { random: 1 }],
    ['random*40', { random: 40 }],
  ])('are those of cells, or drawn: %s', (list, values) => {
    const [, read] = parseVary(`${text}=${list}`, () => false);

    expect(read).toEqual(values);
  });

  it.each(['', 'seed=1', seed, `${seed}=`, `${seed}=1,,2`, `${seed}=1, 2`, `${seed}="1`, `${seed}=+5`])(
    'are refused where they would be others: %s',
    (given) => {
      expect(() => parseVary(given, () => false)).toThrow(RowFileError);
    },
  );

  it('are text for inputs that are sent as text', () => {
    expect(parseVary(`${text}=1,+5,@ada`, (input) => input === text)[1]).toEqual(['1', '+5', '@ada']);
  });
});

describe('a varied row', () => {
  it('becomes a task for each combination, on its line, the last input the fastest', async () => {
    const rows = await rowsOf(`key,${text}\na,x\nb,y\n`, 'csv', {
      common,
      vary: { [width]: [256, 512], [seed]: [1, 2] },
    });
    expect(rows.map(({ key, line, index }) => `${key} ${line} ${index}`)).toEqual([
      ...['a-256-1 2 0', 'a-256-2 2 1', 'a-512-1 2 2', 'a-512-2 2 3'],
      ...['b-256-1 3 4', 'b-256-2 3 5', 'b-512-1 3 6', 'b-512-2 3 7'],
    ]);
    expect(rows[2]?.input.inputs).toEqual({ [width]: 512, [seed]: 1, [text]: 'x' });
  });

  it('keeps its key and digest when values or the order of the options change', async () => {
    const values = fc.uniqueArray(fc.oneof(fc.integer(), fc.string({ minLength: 1 })), { minLength: 1, maxLength: 4 });
    const read = async (vary: RowOptions['vary']): Promise<readonly string[]> =>
      (await check([{ key: 'a' }], { vary })).rows.map(({ key, digest }) => `${key} ${digest}`);
    await fc.assert(
      fc.asyncProperty(values, values, fc.integer(), async (some, others, more) => {
        const before = await read({ [text]: some, [seed]: others }).catch(() => undefined);
        const after = await read({ [seed]: [more, ...others], [text]: [...some, `${more} more`] }).catch(
          () => undefined,
        );
        fc.pre(before !== undefined && after !== undefined);
        expect(after).toEqual(expect.arrayContaining([...before]));
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    ['P1', [5, 'a cat, sitting'], [/^P1-5$/, /^P1-a cat, sitting$/]],
    ['photo 1.jpg', ['x'], [/^photo 1-x\.jpg$/]],
    ['P1', [{ file: 's3://b/cat.jpg' }], [/^P1-cat$/]],
    ['P1', ['a/b: "c"'], [/^P1-ab c-[0-9a-f]{6}$/]],
    ['P1', ['x'.repeat(300)], [/^P1-x{33}-[0-9a-f]{6}$/]],
    ['P1', ['???'], [/^P1-[0-9a-f]{6}$/]],
    [null, [1], [/^row-[0-9a-f]{24}-1$/]],
  ])('has a key that reads as a file name: %s, %j', async (key, values, expected) => {
    const { keys } = await check([key === null ? {} : { key }], { vary: { [text]: values } });
    expect(keys).toEqual(expected.map((one) => expect.stringMatching(one) as string));
  });

  it('is refused where its key would be that of another one, or too long', async () => {
    const { problems } = await check([{ key: 'a' }, { key: 'a-1' }], { vary: { [seed]: [1, '1-1'] } });
    expect(problems.map(({ code, line }) => [code, line])).toEqual([['DUPLICATE', 2]]);
    const { problems: long } = await check([{ key: 'x'.repeat(499) }], { vary: { [seed]: [1, 22] } });
    expect(long.map(({ code }) => code)).toEqual(['KEY']);
  });

  it('has each problem of its row once, and the report counts rows of the file', async () => {
    const rows = [{ key: 'a', inputs: { [text]: { file: '/none' } } }, { key: 'b', other: 1 }, { key: 'c' }];
    const { report, problems } = await check(rows, { vary: { [seed]: [1, 2, 3] } });
    expect(problems.map(({ code, line }) => [code, line])).toEqual([
      ['FILE', 1],
      ['INPUT', 2],
    ]);
    expect(report).toMatchObject({ rows: 9, fileRows: 3, goodRows: 3, badRows: 6, problemCount: 2 });
  });

  it('must not have the input itself', async () => {
    const { problems } = await check([{ key: 'a', [seed]: 5 }], { vary: { [seed]: [1, 2] } });
    expect(problems.map(({ code, field }) => [code, field])).toEqual([['INPUT', seed]]);
  });
});

describe('drawn seeds', () => {
  it('are the same in every run, differ between batches, rows and inputs, and stay when more are drawn', async () => {
    const drawn = async (batchId: string, key: string, input: string, random: number): Promise<readonly unknown[]> => {
      const { rows } = await check([{ key }], { batchId, vary: { [input]: { random } } });
      return rows.map((row) => row.input.inputs[input]);
    };
    const four = await drawn('b', 'a', seed, 4);
    expect(await drawn('b', 'a', seed, 6)).toEqual([...four, expect.any(Number), expect.any(Number)]);
    expect(new Set(four).size).toBe(4);
    for (const one of four) expect(one).toBeLessThanOrEqual(0xffff_ffff);
    const others = [
      ...(await drawn('c', 'a', seed, 4)),
      ...(await drawn('b', 'z', seed, 4)),
      ...(await drawn('b', 'a', width, 4)),
    ];
    expect(others.filter((one) => four.includes(one))).toEqual([]);
  });
});

describe('an option that cannot be used', () => {
  it.each<[string, RowOptions]>([
    ['an input of --each', { vary: { [text]: ['a'] }, each: text }],
    ['a constant', { vary: { [seed]: [1] }, constants: { [seed]: 1 } }],
    ['no input', { vary: { seed: [1] } }],
    ['no values', { vary: { [seed]: [] } }],
    ['two values of one key', { vary: { [seed]: ['a', 'A'] } }],
    ['no seeds', { vary: { [seed]: { random: 0 } } }],
    ['seeds without a batch', { vary: { [seed]: { random: 1 } }, batchId: undefined }],
    ['too many seeds', { vary: { [seed]: { random: 1e9 } } }],
    ['too many tasks', { vary: { [seed]: { random: 101 }, [width]: { random: 101 } } }],
  ])('ends the reading: %s', async (_, options) => {
    expect(await fileProblemsOf('{"key":"a"}', 'jsonl', { common, batchId: 'b', ...options })).not.toEqual([]);
  });
});
