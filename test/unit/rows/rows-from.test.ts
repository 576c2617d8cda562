import {
  checkRows,
  type PreparedRow,
  readRows,
  type RowFile,
  RowFileError,
  type RowOutcome,
  rowsFrom,
} from '../../../src/rows';

const row = { key: 'a', inputs: { '1:LoadImage.image': { file: 'a.png' }, '2:ImageScale.width': 64 } };

const cyclic: Record<string, unknown> = { key: 'a', inputs: {} };
cyclic['itself'] = cyclic;

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

  it('have files that are relative to the working directory', async () => {
    const [first] = await rowsOf(rowsFrom([row]));
    expect(first?.input.inputs['1:LoadImage.image']).toEqual({ file: `${process.cwd()}/a.png` });
  });

  it('may have the usual field of a key, unset, beside the one that is named', async () => {
    const orders = rowsFrom([{ ...row, key: undefined, order: 'o-7' }], '/srv/photos');
    const outcomes = [];
    for await (const one of readRows(orders, { common: { webAppId: 1 }, keyColumn: 'order' })) outcomes.push(one);
    expect(outcomes).toMatchObject([{ row: { key: 'o-7' } }]);
  });

  it.each([
    ['an input that is undefined', { inputs: { '2:ImageScale.width': undefined } }, /2:ImageScale.width.*null/],
    ['a key that is undefined', { key: undefined, inputs: {} }, /"key" is null; give text .*or no row a key/],
    ['an input that is no number of JSON', { inputs: { '2:ImageScale.width': NaN } }, /2:ImageScale.width.*null/],
    ['a text', 'a', /The row is "a"; give an object/],
    [
      'a BigInt',
      { inputs: { '2:ImageScale.width': 1n } },
      /2:ImageScale.width"\] is {"bigint":"1"}; the service takes text and/,
    ],
    ['a key that is a BigInt', { key: 17n, inputs: {} }, /"key" is {"bigint":"17"}; give text/],
    ['what JSON cannot write', cyclic, /The row is "\[cannot be written as JSON: Converting circular structure/],
    ['a function', () => row, /The row is null; give an object/],
  ])('are refused with their place when one is or has %s', async (_what, bad, message) => {
    const [, outcome] = await outcomesOf(rowsFrom([row, bad as object]));
    expect(outcome?.problems).toMatchObject([{ line: 2, message: expect.stringMatching(message) as string }]);
  });

  it('say from where a relative path starts when its file is missing', async () => {
    const { firstProblems } = await checkRows(readRows(rowsFrom([row], '/srv/photos'), { common: { webAppId: 1 } }));
    expect(firstProblems.map(({ message }) => message)).toEqual([
      'The file "/srv/photos/a.png" of "1:LoadImage.image" does not exist; relative paths start from "/srv/photos", the second argument of rowsFrom (by default the working directory).',
    ]);
  });

  it('that JSON cannot write keep no other from being checked', async () => {
    const width = { '2:ImageScale.width': 1n };
    const { rows, goodRows, firstProblems } = await checkRows(
      readRows(rowsFrom([{ key: 'a', inputs: width }, cyclic, { key: 'c', inputs: { '2:ImageScale.width': 64 } }]), {
        common: { webAppId: 1 },
      }),
    );
    expect({ rows, goodRows }).toEqual({ rows: 3, goodRows: 1 });
    expect(firstProblems).toMatchObject([{ line: 1, key: 'a' }, { line: 2 }]);
  });

  it('throw as a row file does for no row', async () => {
    await expect(outcomesOf(rowsFrom([]))).rejects.toThrow(RowFileError);
    await expect(outcomesOf(rowsFrom([]))).rejects.toThrow(/row file is empty/);
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
