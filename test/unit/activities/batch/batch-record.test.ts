import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import fc from 'fast-check';
import type { RowRecord } from '../../../../src/contract/batch/batch-rows';
import { preparedRows } from '../../../support/prepared-rows-under-test';
import { endedRow, jsonLines, RecordUnderTest } from '../../../support/record-under-test';

let batch: RecordUnderTest;
beforeEach(() => {
  batch = new RecordUnderTest();
});
afterEach(() => {
  batch.close();
});

describe('recordRows', () => {
  it('makes the same file of the same records, however they are divided, repeated and ordered', async () => {
    const rows = preparedRows(Array.from({ length: 6 }, (_, index) => ({ key: `k${index}` })));
    const record = fc
      .record({
        row: fc.constantFrom(...rows),
        createNumber: fc.integer({ min: 1, max: 3 }),
        requestId: fc.constantFrom(null, 'r1', 'r2'),
        cost: fc.constantFrom(undefined, { currency: 'EUR', micros: 5 }, { currency: 'EUR', micros: 12 }),
        second: fc.integer({ min: 10, max: 12 }),
        status: fc.constantFrom<RowRecord['status']>('Success', 'Failed', 'Canceled'),
      })
      .map(({ row, second, cost, ...more }) => {
        const priced = { ...more, ...(cost !== undefined && { cost }) };
        return endedRow(row, 0, { ...priced, endedAt: `2026-01-02T03:04:${second}.000Z` });
      });
    const digest = 'd'.repeat(64);
    let count = 0;
    const recordedAs = async (calls: readonly (readonly RowRecord[])[]): Promise<string> => {
      count += 1;
      for (const records of calls) await batch.record(digest, records, `b${count}`);
      return readFile(batch.archive.locate(batch.pageName({ digest }, 0, `b${count}`)), 'utf8');
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(record, { minLength: 1, maxLength: 8 }).chain((records) =>
          fc.record({
            records: fc.constant(records),
            order: fc.shuffledSubarray([...records, ...records], { minLength: 2 * records.length }),
            cut: fc.nat(2 * records.length),
          }),
        ),
        async ({ records, order, cut }) => {
          const atOnce = await recordedAs([records]);
          const parts = [order.slice(0, cut), order.slice(cut)].filter((part) => part.length > 0);
          await expect(recordedAs([...parts, ...parts])).resolves.toBe(atOnce);
        },
      ),
      { numRuns: 25 },
    );
  });

  it('lets the same of two ends of one create stand, whichever was in the file before', async () => {
    const [, [row]] = await batch.write([{ key: 'a' }]);
    const ends = [5, 12].map((micros) => endedRow(row!, 0, { requestId: 'r1', cost: { currency: 'EUR', micros } }));
    const digest = 'd'.repeat(64);

    await batch.record(digest, ends, 'at-once');
    for (const end of ends) await batch.record(digest, [end], 'in-order');
    for (const end of ends.toReversed()) await batch.record(digest, [end], 'reversed');

    const [atOnce, ...others] = await Promise.all(
      ['at-once', 'in-order', 'reversed'].map(async (id) =>
        readFile(batch.archive.locate(batch.pageName({ digest }, 0, id)), 'utf8'),
      ),
    );
    expect(others).toEqual([atOnce, atOnce]);
  });

  it('keeps each page in the order of its rows, in a file of its own', async () => {
    const [reference, rows] = await batch.write([{ key: 'c' }, { key: 'a' }, { key: 'b' }]);
    const records = rows.map((row, index) => endedRow(row, Math.floor(index / 2))).reverse();

    await batch.record(reference.digest, records);

    expect(await batch.page(reference, 0)).toEqual([{ records: 2 }, records[2], records[1]]);
    expect(await batch.page(reference, 1)).toEqual([{ records: 1 }, records[0]]);
  });

  it.each<[string, (text: string) => string | Buffer, RegExp]>([
    ['cut off in a line', (text) => text.slice(0, -9), /it has 1 of 2 records/],
    ['cut off between two lines', (text) => `${text.split('\n').slice(0, 2).join('\n')}\n`, /it has 1 of 2 records/],
    ['emptied', () => '', /its first line does not say/],
    ['overwritten by rubbish', () => Buffer.from([0xff, 0xfe, 0, 10, 13]), /UTF-8|utf-8|not valid/],
    ['edited into something else', (text) => text.replace('"Success"', '"Great"'), /its line 2 is no record of a row/],
    ['left with half a line', (text) => text.replace('"requestId"', '"request'), /its line 2 is no record of a row/],
  ])('does not touch a page that somebody has %s, and names it', async (_, damage, problem) => {
    const [reference, rows] = await batch.write([{ key: 'a' }, { key: 'b' }]);
    const records = rows.map((row) => endedRow(row, 0));
    await batch.record(reference.digest, records);
    const path = batch.archive.locate(batch.pageName(reference, 0));
    const damaged = damage(await readFile(path, 'utf8'));
    await writeFile(path, damaged);

    const again = batch.record(reference.digest, records);

    await expect(again).rejects.toMatchObject({ type: 'ArchiveUnavailable', nonRetryable: false });
    await expect(again).rejects.toThrow(path);
    await expect(again).rejects.toThrow(problem);
    expect(await readFile(path)).toEqual(Buffer.from(damaged));
    await expect(batch.open(reference)).rejects.toThrow(/batch\.json is damaged/);
  });
});

describe('openBatch', () => {
  it('lays out an empty record for the first rows', async () => {
    const [reference] = await batch.write([{ key: 'a' }]);

    await expect(batch.open(reference)).resolves.toMatchObject({
      succeeded: 0,
      gone: 0,
    });

    const { digest, rows, pages } = reference;
    expect(JSON.parse(await readFile(batch.archive.locate('batches/b/batch.json'), 'utf8'))).toEqual({
      id: 'b',
      digest,
      rows,
      pages,
      source: null,
    });
  });

  it('brings the records to where their rows stand now, unless rows that changed are refused, which leaves the record as it was', async () => {
    const [previous, rows] = await batch.write([{ key: 'a' }, { key: 'b' }, { key: 'c' }, { key: 'd' }]);
    await batch.open(previous);
    const records = rows.slice(0, 3).map((row, index) => endedRow(row, Math.floor(index / 2)));
    await batch.record(previous.digest, records);
    const [reference, moved] = await batch.write([{ key: 'e' }, { key: 'c' }, { key: 'a', input: { webAppId: 6 } }]);

    const before = await batch.names();
    expect(await batch.refused(reference)).toMatchObject({ changed: 1, changedRows: [{ line: 3, key: 'a' }] });
    expect(await batch.names()).toEqual(before);
    const opened = await batch.open(reference);

    expect(opened).toMatchObject({ succeeded: 1, gone: 1 });
    expect(await batch.page(reference, 0)).toEqual([{ records: 1 }, { ...records[2], index: 1, line: 2, page: 0 }]);
    expect(await batch.page(reference, 1)).toEqual([{ records: 1 }, { ...records[0], index: 2, line: 3, page: 1 }]);
    const folderName = `batches/b/results/${reference.digest.slice(0, 12)}`;
    expect(await batch.names()).toEqual([
      'batches/b/batch.json',
      ...['0', '1', 'orphaned'].map((name) => `${folderName}/${name}.jsonl`),
    ]);
    await expect(batch.open(reference)).resolves.toEqual(opened);
    expect(moved[1]?.digest).toBe(records[2]?.digest);
  });

  it('finds the records of rows whose pages end elsewhere than they did', async () => {
    const [previous, rows] = await batch.write([{ key: 'a' }, { key: 'b' }, { key: 'c' }], 2);
    const records = rows.map((row, index) => endedRow(row, Math.floor(index / 2)));
    await batch.open(previous);
    await batch.record(previous.digest, records);

    const [reference] = await batch.write([{ key: 'a' }, { key: 'b' }, { key: 'c' }], 1);
    await batch.open(reference);

    expect(await batch.page(reference, 1)).toEqual([{ records: 1 }, { ...records[1], page: 1 }]);
    await expect(batch.report(reference)).resolves.toMatchObject({ success: 3, notStarted: 0 });
  });

  it('keeps the latest records of rows that are left out, not all of every file there ever was', async () => {
    const [previous, rows] = await batch.write([{ key: 'a' }, { key: 'b' }, { key: 'c' }, { key: 'd' }], 4);
    await batch.open(previous);
    const records = rows.map((row, index) => endedRow(row, 0, { endedAt: `2026-01-02T03:04:1${index}.000Z` }));
    await batch.record(previous.digest, records);

    const [reference] = await batch.write([{ key: 'd' }]);
    await batch.open(reference, 2);

    const orphaned = batch.pageName(reference, 0).replace('0.jsonl', 'orphaned.jsonl');
    expect(await jsonLines(batch.archive.locate(orphaned))).toEqual([{ records: 2 }, records[1], records[2]]);
  });

  it('has the records of rows that were left out for a while when they come back', async () => {
    const [all, rows] = await batch.write([{ key: 'a' }, { key: 'b' }, { key: 'c' }]);
    const records = rows.map((row, index) => endedRow(row, Math.floor(index / 2)));
    await batch.open(all);
    await batch.record(all.digest, records);
    const before = await readFile(batch.archive.locate(batch.pageName(all, 0)), 'utf8');
    const [few] = await batch.write([{ key: 'b' }]);
    await batch.open(few);

    await batch.open(all);

    expect(await readFile(batch.archive.locate(batch.pageName(all, 0)), 'utf8')).toBe(before);
    expect(await batch.names()).toHaveLength(3);
  });

  it('goes on from the whole old record when it died half-way', async () => {
    const [previous, rows] = await batch.write([{ key: 'a' }, { key: 'b' }]);
    const records = rows.map((row) => endedRow(row, 0));
    await batch.open(previous);
    await batch.record(previous.digest, records);
    const [reference] = await batch.write([{ key: 'b' }, { key: 'x' }, { key: 'a' }]);
    // As far as one came that died before its last step, on rows that had moved once more since.
    await mkdir(dirname(batch.archive.locate(batch.pageName(reference, 7))), { recursive: true });
    await writeFile(batch.archive.locate(batch.pageName(reference, 7)), '{"records":9}\nhalf a page');

    await batch.open(reference);

    expect(await batch.page(reference, 0)).toEqual([{ records: 1 }, { ...records[1], index: 0, line: 1 }]);
    expect(await batch.page(reference, 1)).toEqual([{ records: 1 }, { ...records[0], index: 2, line: 3, page: 1 }]);
    expect(await batch.names()).toHaveLength(3);
  });

  it('refuses to begin a new record beside pages whose batch.json is gone or damaged', async () => {
    const [reference, rows] = await batch.write([{ key: 'a' }]);
    await batch.open(reference);
    await batch.record(
      reference.digest,
      rows.map((row) => endedRow(row, 0)),
    );
    const path = batch.archive.locate('batches/b/batch.json');
    await writeFile(path, '{"digest":');
    await expect(batch.open(reference)).rejects.toThrow(`${path} is damaged`);

    await rm(path);

    const opened = batch.open(reference);
    await expect(opened).rejects.toThrow(`${path} is damaged: it is missing`);
    await expect(opened).rejects.toThrow('move batch.json and the folder results away');
    await expect(opened).rejects.toMatchObject({ type: 'ArchiveUnavailable' });
    expect(await batch.page(reference, 0)).toHaveLength(2);
  });
});

describe('files that are not the record’s own', () => {
  const foreign = [
    'batches/b/results/mine/request-1/0.png',
    'batches/b/results/0.jsonl',
    'batches/b/results/0123456789ab/manifest.json',
    // By its name a page of previous rows, by its content an output.
    'batches/b/results/0123456789ab/0.jsonl',
  ];

  it('do not keep a batch from opening', async () => {
    for (const name of foreign.slice(0, 3)) await batch.archive.replace(name, 'paid for');
    const [reference] = await batch.write([{ key: 'a' }]);

    await expect(batch.open(reference)).resolves.toMatchObject({ gone: 0 });
  });

  it('stay when the record is laid out for other rows', async () => {
    const [previous, rows] = await batch.write([{ key: 'a' }]);
    await batch.open(previous);
    await batch.record(previous.digest, [endedRow(rows[0]!, 0)]);
    for (const name of foreign) await batch.archive.replace(name, 'paid for');
    const mine = `batches/b/results/${previous.digest.slice(0, 12)}/mine.png`;
    await batch.archive.replace(mine, 'paid for');
    const [reference] = await batch.write([{ key: 'b' }]);

    await batch.open(reference);

    expect(await batch.names()).toEqual(expect.arrayContaining([...foreign, mine]));
    expect(await batch.names()).not.toContain(batch.pageName(previous, 0));
  });

  it('are the whole record when it is another batch’s, whose id the file system takes for the same', async () => {
    const [reference] = await batch.write([{ key: 'a' }]);
    await batch.open(reference);
    const layout = batch.archive.locate('batches/b/batch.json');
    await writeFile(layout, (await readFile(layout, 'utf8')).replace('"b"', '"B"'));

    const opened = batch.open(reference);

    await expect(opened).rejects.toMatchObject({ type: 'ArchiveUnavailable', nonRetryable: false });
    await expect(opened).rejects.toThrow(/is that of the batch "B".*with another id \(--id\)/);
  });
});
