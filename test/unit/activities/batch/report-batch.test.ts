import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { plainCell } from '../../../../src/archive/results-table';
import { mkdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RowRecord } from '../../../../src/contract/batch/batch-rows';
import { endedRow, jsonLines, RecordUnderTest } from '../../../support/record-under-test';

let batch: RecordUnderTest;
beforeEach(() => {
  batch = new RecordUnderTest();
});
afterEach(() => {
  batch.close();
});

const failed: Partial<RowRecord> = {
  ...{ status: 'Failed', failure: { type: 'TaskFailed', message: 'out of memory, "really"' } },
  ...{ outputs: [], outputCount: 0, outputBytes: 0, manifest: null },
};

describe('reportBatch', () => {
  it('counts what every attempt of a row cost, those before the last as without a result', async () => {
    const [reference, rows] = await batch.write([{ key: 'a' }, { key: 'b' }]);
    const cost = (micros: number) => ({ cost: { currency: 'EUR', micros } });
    await batch.open(reference);
    await batch.record(reference.digest, [
      endedRow(rows[0]!, 0, { createNumber: 2, ...cost(30) }),
      endedRow(rows[0]!, 0, { ...failed, ...cost(20) }),
      endedRow(rows[1]!, 0, { createNumber: 2, ...cost(5) }),
      endedRow(rows[1]!, 0, failed),
    ]);

    const { costs, jsonl } = await batch.report(reference);

    expect(costs).toEqual({
      ...{ sums: [{ currency: 'EUR', micros: 55 }], withoutResult: [{ currency: 'EUR', micros: 20 }] },
      ...{ knownRows: 1, unknownRows: 1 },
    });
    expect(await jsonLines(jsonl)).toMatchObject([{ cost: { micros: 50 } }, { cost: { micros: 5 } }]);
  });

  it('joins the record in the order of the rows, with those that were never started', async () => {
    const [reference, rows] = await batch.write([{ key: 'a' }, { key: 'b-1', originalKey: 'bé, "1"' }, { key: 'c' }]);
    const outputs = [0, 1].map((index) => ({ path: `/archive/a/${index}.png`, sha256: 'cd', bytes: 5 }));
    const records = [
      endedRow(rows[0]!, 0, {
        outputs,
        outputCount: 25,
        outputBytes: 125,
        failedOutputCount: 3,
        uploads: { files: 3, bytes: 30, shared: 1 },
      }),
      endedRow(rows[1]!, 0, {
        ...failed,
        uploads: { files: 0, bytes: 0, shared: 2 },
        endedAt: '2026-01-02T03:05:05.000Z',
      }),
    ];
    await batch.open(reference);
    await batch.record(reference.digest, records);

    const report = await batch.report(reference);

    expect(report).toEqual({
      jsonl: batch.archive.locate('batches/b/results.jsonl'),
      csv: batch.archive.locate('batches/b/results.csv'),
      html: batch.archive.locate('batches/b/report.html'),
      costs: { sums: [], withoutResult: [], knownRows: 0, unknownRows: 2 },
      apps: [{ webAppId: 5, rows: 1, ms: { median: 1_500, p90: 1_500 }, cost: null }],
      ...{ success: 1, failed: 1, canceled: 0, notStarted: 1, outputs: 25, outputBytes: 125, failedOutputs: 3 },
      ...{ uploads: { files: 3, bytes: 30, shared: 3 }, failures: { TaskFailed: 1 } },
      slowest: [
        { key: 'b-1', originalKey: 'bé, "1"', line: 2, ms: 60_000 },
        { key: 'a', line: 1, ms: 1_500 },
      ],
      unsuccessful: [
        { key: 'b-1', originalKey: 'bé, "1"', line: 2, type: 'TaskFailed', message: 'out of memory, "really"' },
      ],
    });
    expect(await jsonLines(report.jsonl)).toMatchObject([
      {
        ...{ key: 'a', line: 1, status: 'Success', workflowId: 'batch:b:a', outputs, outputCount: 25 },
        ...{ failedOutputCount: 3, seconds: 1.5 },
      },
      { key: 'bé, "1"', line: 2, status: 'Failed', workflowId: 'batch:b:b-1', failure: { type: 'TaskFailed' } },
      { key: 'c', line: 3, status: 'NotStarted', requestId: null, outputs: [], startedAt: null, seconds: null },
    ]);
    expect(await readFile(report.csv, 'utf8')).toBe(
      [
        'status,output,message,failure_type,key,sheet_row,line,started_at,ended_at,seconds,queued_seconds,cost,currency,failed_outputs,request_id,manifest',
        'Success,/archive/a/0.png|/archive/a/1.png,,,a,,1,2026-01-02T03:04:05.000Z,2026-01-02T03:04:06.500Z,1.5,,,,3,request-a,/archive/a/manifest.json',
        'Failed,,"out of memory, ""really""",TaskFailed,"bé, ""1""",,2,2026-01-02T03:04:05.000Z,2026-01-02T03:05:05.000Z,60,,,,0,request-b-1,',
        'NotStarted,,,,c,,3,,,,,,,0,,',
        '',
      ].join('\n'),
    );
  });

  it('says in its report how many rows were left out, and has no line for them in its table', async () => {
    const [reference] = await batch.prepare('photos.csv', 'key;5:Swatch.name\na;red\n', { delimiter: ';' });
    await batch.open(reference);

    const { csv, html = '' } = await batch.report(reference, { badRows: 5 });

    expect((await readFile(csv, 'utf8')).trimEnd().split('\n')).toHaveLength(2);
    const page = await readFile(html, 'utf8');
    expect(page).toContain('"leftOut":5');
    expect(page).toContain('--dry-run --problems problems.csv');
  });

  it('says nothing of rows that were left out where none were', async () => {
    const [reference] = await batch.write([{ key: 'a' }]);
    await batch.open(reference);
    const { html = '' } = await batch.report(reference, { badRows: 0 });
    expect(await readFile(html, 'utf8')).not.toContain('--problems problems.csv');
  });

  it('begins with the columns of the row file, with its delimiter and its byte order mark, and names its own apart', async () => {
    const [reference, rows] = await batch.prepare(
      'photos.csv',
      '\uFEFFkey;5:Swatch.name;notes;status\nß;red;"=1;""x""\r\ny";paid\nb;blue;;\n',
      { delimiter: ';', ignoreColumns: ['notes', 'status'] },
    );
    await batch.open(reference);
    await batch.record(reference.digest, [endedRow(rows[0]!, 0)]);

    const report = await batch.report(reference);
    const csv = await readFile(report.csv, 'utf8');

    const page = await readFile(report.html ?? '', 'utf8');
    expect(page).toContain(
      String.raw`"cells":[["key","ß"],["5:Swatch.name","red"],["notes","=1;\"x\" \ny"],["status","paid"]]`,
    );
    expect(page).toContain('"cells":[["key","b"],["5:Swatch.name","blue"]]');
    expect(csv.charAt(0)).toBe('\uFEFF');
    const cells = parse(csv, { delimiter: ';', bom: true });
    expect(cells.map((line) => line.slice(0, 9))).toEqual([
      ['key', '5:Swatch.name', 'notes', 'status', 'result.status', 'output', 'message', 'failure_type', 'result.key'],
      ['ß', 'red', '\'=1;"x"\r\ny', 'paid', 'Success', `/archive/${rows[0]?.key ?? ''}/0.png`, '', '', 'ß'],
      ['b', 'blue', '', '', 'NotStarted', '', '', '', 'b'],
    ]);
    expect(await jsonLines(report.jsonl)).toMatchObject([
      { cells: [['key', 'ß'], ['5:Swatch.name', 'red'], {}, {}] },
      {},
    ]);
  });

  it.each([
    [{ delimiter: ';' }, '1,5'],
    [{ delimiter: ';', decimal: 'point' }, '1.5'],
    [{ delimiter: ';', decimal: 'comma' }, '1,5'],
    [{ delimiter: '\t', decimal: 'comma' }, '1,5'],
    [{ delimiter: '|' }, '1.5'],
  ] as const)(
    'writes numbers as the row file does, for a spreadsheet takes 12.345 for thousands: %j',
    async (form, seconds) => {
      const text = 'key;5:Swatch.name\na;red\n'.replaceAll(';', form.delimiter);
      const [reference, rows] = await batch.prepare('photos.csv', text, form);
      await batch.open(reference);
      await batch.record(reference.digest, [endedRow(rows[0]!, 0)]);

      const { csv } = await batch.report(reference);

      const [line] = parse(await readFile(csv, 'utf8'), { delimiter: form.delimiter, columns: true }) as [object];
      expect(line).toMatchObject({ key: 'a', status: 'Success', seconds });
    },
  );

  it('has every cell of any table as it was, whatever its delimiter', async () => {
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', ';', ',', '|', '\t', '"', "'", '=', '\r', '\n', '-', '5', ' ') }),
      fc.string({ unit: 'grapheme' }),
    );
    const delimiter = fc.constantFrom(';', ',', '|', '\t');
    const isFormula = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
    await fc.assert(
      fc.asyncProperty(delimiter, fc.array(text, { minLength: 1, maxLength: 5 }), async (between, notes) => {
        const lines = notes.map((note, index) => [`k${index}`, note]);
        const content = stringify([['key', 'notes'], ...lines], { delimiter: between, quoted: true });
        const file = between === ',' ? 'any.csv' : 'any.tsv';
        const [reference] = await batch.prepare(file, `sep=${between}\n${content}`, { ignoreColumns: ['notes'] });
        await batch.open(reference);
        const csv = await readFile((await batch.report(reference)).csv, 'utf8');
        const cells = parse(csv, { delimiter: between, record_delimiter: '\n' }).map(([, note]) => note ?? '');
        const texts = cells
          .slice(1)
          .map((cell) => (cell.startsWith("'") && isFormula.test(cell) ? cell.slice(1) : cell));
        expect(texts).toEqual(notes);
      }),
      { numRuns: 40 },
    );
  });

  it('makes the same files again, and tells nothing of another content under the same key', async () => {
    const [previous, rows] = await batch.write([{ key: 'a' }, { key: 'b' }]);
    await batch.open(previous);
    const records = [
      endedRow(rows[0]!, 0),
      endedRow(rows[1]!, 0, {
        digest: 'other',
        ...failed,
        failure: { type: 'InputChanged', message: 'another input' },
      }),
    ];
    await batch.record(previous.digest, records);
    const report = await batch.report(previous);
    const files = await Promise.all([report.jsonl, report.csv].map((path) => readFile(path, 'utf8')));
    await expect(batch.report(previous)).resolves.toEqual(report);
    expect(await Promise.all([report.jsonl, report.csv].map((path) => readFile(path, 'utf8')))).toEqual(files);
    expect(report).toMatchObject({ success: 1, failed: 1, notStarted: 0 });

    const [reference] = await batch.write([{ key: 'a', input: { webAppId: 9 } }, { key: 'b' }]);
    await batch.open(reference);

    await expect(batch.report(reference)).resolves.toMatchObject({
      ...{ success: 0, failed: 1, notStarted: 1 },
      unsuccessful: [{ key: 'b', type: 'InputChanged' }],
    });
  });

  it.each([
    ['is a folder', (path: string) => mkdir(path, { recursive: true })],
    ['cannot be where it belongs', (path: string) => writeFile(dirname(path), '')],
    [
      'is huge',
      async (path: string) => {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, '');
        await truncate(path, 3 * 1024 ** 3);
      },
    ],
  ])('ends the batch although the file of what earlier rows cost %s', async (_, spoil) => {
    const [reference, rows] = await batch.write([{ key: 'a' }]);
    await batch.open(reference);
    await batch.record(reference.digest, [endedRow(rows[0]!, 0)]);
    await spoil(batch.archive.locate('.estimates/5.json'));

    const { html } = await batch.report(reference);

    expect(await readFile(html ?? '', 'utf8')).toContain('request-a');
  });

  it('leaves the previous result files whole when the record turns out to be damaged', async () => {
    const [reference, rows] = await batch.write([{ key: 'a' }, { key: 'b' }, { key: 'c' }]);
    await batch.open(reference);
    const records = rows.map((row, index) => endedRow(row, Math.floor(index / 2)));
    await batch.record(reference.digest, records);
    const { jsonl } = await batch.report(reference);
    const before = await readFile(jsonl, 'utf8');
    await writeFile(batch.archive.locate(batch.pageName(reference, 1)), 'x');

    await expect(batch.report(reference)).rejects.toThrow(batch.archive.locate(batch.pageName(reference, 1)));

    expect(await readFile(jsonl, 'utf8')).toBe(before);
    expect((await batch.names()).filter((name) => name.includes('results.'))).toHaveLength(2);
  });

  it('has no cell that a spreadsheet takes for a formula, and every text can be had back', () => {
    expect(['=1+1', '+cmd', '-cmd', '@x', '\t=1', '\r=1', "'=1", "''@", '＝1'].map(plainCell)).toEqual([
      "'=1+1",
      "'+cmd",
      "'-cmd",
      "'@x",
      "'\t=1",
      "'\r=1",
      "''=1",
      "'''@",
      "'＝1",
    ]);
    expect(['-5', '+5', '-0.5', "it's", "'quoted'", 'a=b', ''].map(plainCell)).toEqual([
      '-5',
      '+5',
      '-0.5',
      "it's",
      "'quoted'",
      'a=b',
      '',
    ]);
    const part = fc.constantFrom("'", '=', '+', '-', '@', '\t', '\r', '5', 'x', '.');
    const text = fc.oneof(
      fc.string(),
      fc.array(part, { maxLength: 6 }).map((parts) => parts.join('')),
    );
    const isNumber = (cell: string): boolean => /^[+-]?\d+(?:[.,]\d+)?$/.test(cell);
    fc.assert(
      fc.property(text, (one) => {
        const cell = plainCell(one) ?? '';
        expect(/^[=+\-@\t\r\n]/.test(cell) && !isNumber(cell)).toBe(false);
        expect(/^'+[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/.test(cell) ? cell.slice(1) : cell).toBe(one);
      }),
    );
  });
});
