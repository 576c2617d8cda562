import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { checkRows, parseRowTemplate, readRows, rowFileAt, rowProblemText } from '../../../src/rows';
import { fuzzSeed, useFuzzSeed } from '../../support/fuzz-seed';
import { problemsOf } from './rows-under-test';

useFuzzSeed();

const folder = mkdtempSync(join(tmpdir(), 'row-messages-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const common = { webAppId: 7 };
const width = '2:ImageScale.width';
const numbers = parseRowTemplate(`{"webAppId":7,"inputs":{"${width}":"{width:number}"}}`);

describe('a remedy that is an option', () => {
  const text = '3:Text.text';

  it.each([
    ['the column of text', `${text}\n=A1\n`, 'csv', 'textColumns (--text-column)'],
    ['empty cells', `key,${text}\na,\n`, 'csv', 'emptyCells (--empty)'],
    ['a field to ignore', '{"my note":1}', 'jsonl', 'ignoreColumns (--ignore-column)'],
    ['text that looks like a file', `{"${text}":"@a.jpg"}`, 'jsonl', 'textColumns (--text-column)'],
  ] as const)('is named in the library and on the command line: %s', async (_, content, format, option) => {
    const [problem] = await problemsOf(content, format, { common });
    expect(problem?.message).toContain(option);
  });
});

describe('the first refusal of a cell', () => {
  const app = parseRowTemplate(
    `{"webAppId":"{app:number}","key":"{sku}","inputs":{"${width}":"{width:number}","3:Text.text":"{width} wide"}}`,
  );
  const fieldsOf = async (...args: Parameters<typeof problemsOf>): Promise<readonly (string | null)[]> =>
    (await problemsOf(...args)).map(({ field }) => field);

  it('is the only one', async () => {
    expect(await fieldsOf(`${width}\n#REF!\n`, 'csv', { common })).toEqual([width]);
    expect(await fieldsOf('width\n#REF!\n', 'csv', { template: numbers })).toEqual(['width']);
    expect(await fieldsOf('width,note\n,x\n', 'csv', { template: numbers })).toEqual(['width']);
    expect(await fieldsOf(`webAppId,${width}\n#REF!,1\n`, 'csv')).toEqual(['webAppId']);
    expect(await fieldsOf('app,sku,width\nfive,a,5\n', 'csv', { template: app })).toEqual(['app']);
    expect(await fieldsOf('{"width":null}', 'jsonl', { template: numbers })).toEqual(['width']);
    expect(await fieldsOf('{"key":{},"inputs":{}}', 'jsonl', { common, keepColumns: ['key'] })).toEqual(['key']);
    const fixed = { account: { value: 'a', option: '--account' } };
    expect(await fieldsOf('{"inputs":{},"account":7}', 'jsonl', { common, fixed })).toEqual(['account']);
  });

  it('is the only one of a file that a template uses for several inputs', async () => {
    const inputs = { '1:A.b': { file: '{photo}' }, '2:A.b': { file: '{photo}' }, '3:A.b': { file: '{photo}' } };
    const file = join(folder, 'photos.csv');
    writeFileSync(file, 'key,photo\na,none.png\n');
    const template = parseRowTemplate(JSON.stringify({ webAppId: 7, inputs }));
    const { firstProblems } = await checkRows(readRows(rowFileAt(file), { template }));
    expect(firstProblems.map(rowProblemText)).toEqual([
      `row 2: The file "${join(folder, 'none.png')}" of "photo" does not exist; relative paths start from the folder of the row file.`,
    ]);
  });

  it('leaves those of other cells, and an app that no row gives', async () => {
    expect(await fieldsOf('width,note\nx,\n', 'csv', { template: numbers })).toEqual(['width']);
    const without = parseRowTemplate(`{"inputs":{"${width}":"{width:number}"}}`);
    expect(await fieldsOf('width\nx\n', 'csv', { template: without })).toEqual(['width', 'webAppId']);
    const broken = await fieldsOf('app,sku,width\nfive,#REF!,x\n', 'csv', { template: app });
    expect([...broken].sort()).toEqual(['app', 'sku', 'width']);
  });

  const cell = fc.constantFrom('', ' ', '5', '0,5', '#REF!', '=A1+1', ' 7 ', 'five', '@', '@x.png', "'5");

  it(`is the only one whatever the cells are (SEED=${fuzzSeed})`, async () => {
    await fc.assert(
      fc.asyncProperty(cell, cell, cell, fc.constantFrom('refuse', 'omit', 'text'), async (one, two, three, empty) => {
        // A line of empty cells alone is no row.
        fc.pre([one, two, three].some((text) => text !== ''));
        const options = { emptyCells: empty } as const;
        const tables = [
          [['app', 'sku', 'width'], { ...options, template: app }],
          [['webAppId', 'sku', width], { ...options, keyColumn: 'sku' }],
        ] as const;
        for (const [header, more] of tables) {
          const fields = await fieldsOf(stringify([header, [one, two, three]]), 'csv', more);
          expect(new Set(fields).size).toBe(fields.length);
        }
      }),
    );
  });
});

describe('a row with a mistake', () => {
  const template = parseRowTemplate(
    '{"webAppId":7,"key":"{Name}","inputs":{"1:A.b":{"file":"{Bild}"},"2:B.c":"{Unschärfe:number}","3:C.d":{"file":"{Ordner}/{Bild}"}}}',
  );
  const check = async (name: string, content: string): Promise<readonly (readonly unknown[])[]> => {
    const path = join(folder, name);
    writeFileSync(path, content);
    const { firstProblems } = await checkRows(readRows(rowFileAt(path), { template, delimiter: ';' }));
    return firstProblems.map(({ line, key, code, field, value }) => [line, key, code, field, value]);
  };

  it('is checked for its other mistakes as well: the key of another row, and missing files', async () => {
    writeFileSync(join(folder, 'there.png'), 'x');
    const rows = ['a;there.png;.;2,5', 'A;missing.png;.;2,5', 'c;#REF!;.;2,5'];
    expect(await check('many.csv', `Name;Bild;Ordner;Unschärfe\n${rows.join('\n')}\n`)).toEqual([
      [2, 'a', 'VALUE', 'Unschärfe', '"2,5"'],
      [3, 'A', 'VALUE', 'Unschärfe', '"2,5"'],
      [3, 'A', 'DUPLICATE', 'Name', '"A"'],
      [3, 'A', 'FILE', 'Bild', '"missing.png"'],
      [4, 'c', 'VALUE', 'Bild', '"#REF!"'],
      [4, 'c', 'VALUE', 'Unschärfe', '"2,5"'],
    ]);
  });

  it('names the column of a missing file, and the inputs where it is made of several columns', async () => {
    expect(await check('files.csv', 'Name;Bild;Ordner;Unschärfe\na;none.png;photos;1\n')).toEqual([
      [2, 'a', 'FILE', 'Bild', '"none.png"'],
    ]);
    expect(await check('folders.csv', 'Name;Bild;Ordner;Unschärfe\na;there.png;photos;1\n')).toEqual([
      [2, 'a', 'FILE', '3:C.d', expect.stringContaining('photos/there.png')],
    ]);
  });
});

describe('a key column by another name', () => {
  async function check(name: string, content: string, options = {}): Promise<readonly string[]> {
    const path = join(folder, name);
    writeFileSync(path, content);
    const { firstProblems } = await checkRows(readRows(rowFileAt(path), { common, keyColumn: 'sku', ...options }));
    expect(firstProblems.map(({ field }) => field)).toEqual(firstProblems.map(() => 'sku'));
    return firstProblems.map(rowProblemText);
  }
  const limits = 'give text of 1 to 500 characters, or no row a key';

  it('is called by that name in every message', async () => {
    expect(await check('blank.csv', `sku,${width}\n ,5\n`)).toEqual([`row 2: "sku" is " "; ${limits}.`]);
    expect(await check('none.jsonl', '{"inputs":{}}')).toEqual(['line 1: "sku" is missing; give every row its key.']);
    expect(await check('object.jsonl', '{"sku":{},"inputs":{}}')).toEqual([`line 1: "sku" is {}; ${limits}.`]);
    const alike = 'capital letters, spaces and forms of accents make no difference; give every row a key of its own.';
    expect(await check('twice.csv', `sku,${width}\na,5\nA,6\n`)).toEqual([
      `row 3: "sku" is "A", the key of row 2, "a": ${alike}`,
    ]);
  });
});
