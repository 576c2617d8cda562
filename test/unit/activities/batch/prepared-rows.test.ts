import { rm, writeFile } from 'node:fs/promises';
import type { RowsReference } from '../../../../src/contract/batch/batch-input';
import { RecordUnderTest } from '../../../support/record-under-test';

let batch: RecordUnderTest;
beforeEach(() => {
  batch = new RecordUnderTest();
});
afterEach(() => {
  batch.close();
});

describe('prepared rows', () => {
  it.each<[string, (reference: RowsReference) => Promise<RowsReference>, RegExp]>([
    ['that are missing', (rows) => Promise.resolve({ ...rows, location: `${rows.location}x` }), /does not exist/],
    [
      'whose index is missing',
      async (rows) => {
        await rm(`${rows.location}.index`);
        return rows;
      },
      /\.index" does not exist/,
    ],
    [
      'outside the input roots',
      (rows) => Promise.resolve({ ...rows, location: '/etc/hostname' }),
      /outside the folders.*run the batch again with LONGHAUL_STAGING set/,
    ],
    ['in a bucket', (rows) => Promise.resolve({ ...rows, location: 's3://bucket/rows' }), /LONGHAUL_INPUT_BUCKETS/],
    ['that are fewer than there were', (rows) => Promise.resolve({ ...rows, rows: 4 }), /it has 3 rows, not 4/],
    ['with pages missing', (rows) => Promise.resolve({ ...rows, pages: 3 }), /it has no page 3 of 3/],
    ['with pages too many', (rows) => Promise.resolve({ ...rows, rows: 2, pages: 1 }), /it has more rows, not 2/],
    ['that are others', (rows) => Promise.resolve({ ...rows, digest: 'e'.repeat(64) }), /its rows are others/],
    [
      'that were damaged',
      async (rows) => {
        await writeFile(rows.location, 'rubbish\n'.repeat(200));
        return rows;
      },
      /page 1 is damaged, or the file was replaced/,
    ],
  ])('%s are unusable, in words', async (_, change, words) => {
    const [reference] = await batch.write([{ key: 'a' }, { key: 'b' }, { key: 'c' }]);
    const rows = await change(reference);

    const opened = batch.open(rows);

    await expect(opened).rejects.toMatchObject({ type: 'InputUnusable', nonRetryable: true });
    await expect(opened).rejects.toThrow(words);
    await expect(batch.names()).resolves.toEqual([]);
  });

  it('that cannot be read any more once the batch was opened are tried again, unless it is to end', async () => {
    const [reference] = await batch.write([{ key: 'a' }]);
    await batch.open(reference);
    await rm(reference.location);

    const start = batch.start(reference);

    await expect(start).rejects.toMatchObject({ type: 'InputUnusable', nonRetryable: false });
    await expect(start).rejects.toThrow(/does not exist.*run it again with its row file/);
    const final = { type: 'InputUnusable', nonRetryable: true };
    await expect(batch.start(reference, { onlyFound: true })).rejects.toMatchObject(final);
    await expect(batch.report(reference)).rejects.toMatchObject(final);
  });
});
