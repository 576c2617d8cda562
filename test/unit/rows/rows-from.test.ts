import {
  checkRows,
  parseRowTemplate,
  type PreparedRow,
  readRows,
  type RowFile,
  RowFileError,
  type RowOutcome,
  rowsFrom,
} from '../../../src/rows';

const row = { key: 'a', inputs: { '1:LoadImage.image': { file: 'a.png' }, '2:ImageScale.width': 64 } };

const width = '2:ImageScale.width';
const circular: Record<string, unknown> = {};
circular['itself'] = circular;

async function outcomesOf(file: RowFile): Promise<readonly RowOutcome[]> {
  const outcomes: RowOutcome[] = [];
  for await (const outcome of readRows(file, { common: { webAppId: 1 } })) outcomes.push(outcome);
  return outcomes;
}

async function rowsOf(file: RowFile): Promise<readonly (PreparedRow | undefined)[]> {
  return (await outcomesOf(file)).map((outcome) => outcome.row);
}

describe('rows that a program has', () => {
  it('are what the lines of a JSONL file would be', async () => {
    const [first, second] = await rowsOf(rowsFrom([row, { ...row, key: 'b', deadlines: undefined }], '/srv/photos'));
    expect(first).toMatchObject({
      ...{ index: 0, line: 1, key: 'a' },
      input: { webAppId: 1, inputs: { '1:LoadImage.image': { file: '/srv/photos/a.png' }, '2:ImageScale.width': 64 } },
    });
    expect(second).toMatchObject({ index: 1, line: 2, key: 'b', digest: first?.digest });
  });

  it('come one at a time from what is asynchronous, which is closed when the reading ends', async () => {
    let made = 0;
    let isClosed = false;
    const endless = async function* (): AsyncGenerator<object> {
      try {
        for (;;) {
          made += 1;
          yield await Promise.resolve({ ...row, key: `k${made}` });
        }
      } finally {
        isClosed = true;
      }
    };
    for await (const outcome of readRows(rowsFrom(endless()), { common: { webAppId: 1 } })) {
      if (outcome.row?.key === 'k3') break;
    }
    expect(made).toBeLessThan(10);
    expect(isClosed).toBe(true);
  });

  it('may have the usual field of a key, unset, beside the one that is named', async () => {
    const orders = rowsFrom([{ ...row, key: undefined, order: 'o-7' }], '/srv/photos');
    const outcomes = [];
    for await (const one of readRows(orders, { common: { webAppId: 1 }, keyColumn: 'order' })) outcomes.push(one);
    expect(outcomes).toMatchObject([{ row: { key: 'o-7' } }]);
  });

  it.each([
    ['an input that is undefined', { inputs: { [width]: undefined } }, width],
    ['an input in its place that is undefined', { [width]: undefined }, width],
    ['inputs that are undefined', { inputs: undefined }, 'inputs'],
    ['a key that is undefined', { key: undefined, inputs: {} }, 'key'],
    ['a key that is a BigInt', { key: 17n, inputs: {} }, 'key'],
    ['an input that is no number of JSON', { inputs: { [width]: NaN } }, width],
    ['a BigInt', { inputs: { [width]: 1n } }, width],
    ['a function', { inputs: { [width]: () => 64 } }, width],
    ['a Date', { inputs: { [width]: new Date(0) } }, width],
    ['an input that holds itself', { inputs: { [width]: circular } }, width],
    ['a file that is a URL', { inputs: { [width]: { file: new URL('s3://a/b') } } }, width],
    ['a Map of inputs', { inputs: new Map([[width, 64]]) }, 'inputs'],
    ['inputs that write themselves', { inputs: { toJSON: () => ({}) } }, 'inputs'],
    ['a Map of deadlines', { inputs: {}, deadlines: new Map([['run', '2h']]) }, 'deadlines'],
    ['a deadline that is undefined', { inputs: {}, deadlines: { run: undefined } }, null],
    ['an app that is a promise', { inputs: {}, webAppId: Promise.resolve(1) }, 'webAppId'],
    ['a text', 'a', null],
    ['a list', [1], null],
    ['undefined', undefined, null],
    ['what holds itself', { itself: circular }, 'itself'],
    ['a Map', new Map([['inputs', {}]]), null],
    ['a function in place of an object', () => row, null],
  ])('are refused with their place when one is or has %s', async (_what, bad, field) => {
    const [, outcome] = await outcomesOf(rowsFrom([row, bad as object]));
    expect(outcome?.problems).toMatchObject([{ line: 2, field }]);
  });

  it('are refused when one cannot be read', async () => {
    const broken = {
      inputs: {},
      get archive() {
        throw new Error('no session');
      },
    };
    const [, outcome] = await outcomesOf(rowsFrom([row, broken]));
    expect(outcome?.problems).toMatchObject([{ line: 2, message: expect.stringContaining('no session') as string }]);
  });

  it('that JSON cannot write keep no other from being checked', async () => {
    const lost = { [width]: new Map() };
    const { rows, goodRows, firstProblems } = await checkRows(
      readRows(rowsFrom([{ key: 'a', inputs: lost }, circular, { key: 'c', inputs: { '2:ImageScale.width': 64 } }]), {
        common: { webAppId: 1 },
      }),
    );
    expect({ rows, goodRows }).toEqual({ rows: 3, goodRows: 1 });
    expect(firstProblems).toMatchObject([
      { line: 1, key: 'a', field: width, value: 'an object of the class Map' },
      { line: 2, field: 'itself', value: 'a value that holds itself' },
    ]);
  });

  it('may hold anything in fields that are ignored', async () => {
    const orders = rowsFrom([{ ...row, id: 7n, createdAt: new Date(0), itself: circular }], '/srv/photos');
    const outcomes = [];
    for await (const one of readRows(orders, {
      common: { webAppId: 1 },
      ignoreColumns: ['id', 'createdAt', 'itself'],
    }))
      outcomes.push(one);
    const [known] = await rowsOf(rowsFrom([row], '/srv/photos'));
    expect(outcomes).toMatchObject([{ row: { key: 'a', digest: known?.digest } }]);
  });

  it('may be of a class, and say themselves what they are', async () => {
    class Order {
      readonly key = 'a';
      readonly inputs = row.inputs;
    }
    const model = { dataValues: new Order(), toJSON: () => ({ ...row, key: 'b' }) };
    expect(await rowsOf(rowsFrom([new Order(), model]))).toMatchObject([{ key: 'a' }, { key: 'b' }]);
  });

  it('are as they were when they were asked for, though the program fills one object for all', async () => {
    const filled: Record<string, unknown> = {};
    const refilled = function* (): Generator<object> {
      yield Object.assign(filled, { key: 'a', inputs: { [width]: NaN } });
      yield Object.assign(filled, { key: 'b', inputs: { [width]: 64 } });
    };
    const { firstProblems, goodRows } = await checkRows(readRows(rowsFrom(refilled()), { common: { webAppId: 1 } }));
    expect(goodRows).toBe(1);
    expect(firstProblems).toMatchObject([{ line: 1, key: 'a', value: 'NaN' }]);
  });

  it('have columns of file names and of templates that are text, a number or a boolean', async () => {
    const rows = (): RowFile => rowsFrom([{ ...row, shot: new Date(0), size: NaN }]);
    const problems = [];
    for await (const outcome of readRows(rows(), { common: { webAppId: 1 }, keepColumns: ['shot', 'size'] }))
      problems.push(...(outcome.problems ?? []));
    const template = parseRowTemplate('{"webAppId":1,"inputs":{"1:Text.text":"{shot}","2:Text.text":"at {size}"}}');
    for await (const outcome of readRows(rows(), { template })) problems.push(...(outcome.problems ?? []));
    expect(problems.map(({ field, value }) => [field, value])).toEqual([
      ['shot', 'an object of the class Date'],
      ['size', 'NaN'],
      ['size', 'NaN'],
      ['shot', 'an object of the class Date'],
    ]);
  });

  it('throw as a row file does for no row', async () => {
    await expect(outcomesOf(rowsFrom([]))).rejects.toThrow(RowFileError);
    await expect(outcomesOf(rowsFrom([]))).rejects.toThrow(/^There are no rows; give at least one/);
  });

  it.each([undefined, null, 7, 'rows', row])('are not %j', (given: unknown) => {
    const rows = given as object[];
    expect(() => rowsFrom(rows)).toThrow(RowFileError);
    expect(() => rowsFrom(rows)).toThrow(/The rows are .*give objects in an array/);
  });
});

describe('options of reading rows', () => {
  it('that are not known are refused, with the one that was meant', async () => {
    const misspelt: object = { comon: { webAppId: 1 }, maxRowByte: 1 };
    const read = readRows(rowsFrom([row]), misspelt);
    const refused = read.next();
    await expect(refused).rejects.toThrow(/Unknown option "comon"; did you mean common\?/);
    await expect(refused).rejects.toThrow(/Unknown option "maxRowByte"; did you mean maxRowBytes\?/);
  });

  it.each(['common', 'constants', 'fixed', 'forms'])('that hold others are objects, such as %s', async (name) => {
    const refused = readRows(rowsFrom([row]), { [name]: new Map() }).next();
    await expect(refused).rejects.toThrow(`${name} is an object of the class Map; give an object.`);
  });
});

describe('what is no row file', () => {
  it.each([
    ['an array of rows', [row]],
    ['a path', '/srv/rows.csv'],
    ['nothing', undefined],
    ['another format', { ...rowsFrom([row]), format: 'xml' }],
    ['no chunks', { format: 'csv', folder: '/srv' }],
  ])('such as %s is refused with the two ways to have one', async (_what, file) => {
    await expect(outcomesOf(file as RowFile)).rejects.toThrow(RowFileError);
    await expect(outcomesOf(file as RowFile)).rejects.toThrow(
      /no row file .*give rowFileAt\(path\), or rowsFrom\(rows\)/,
    );
  });
});
