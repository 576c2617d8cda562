import { readFile } from 'node:fs/promises';
import { S3Archive } from '../../../src/storage/archive/s3-archive';
import { type BucketServer, startBucketServer } from '../../support/bucket-server';
import { endedRow, RecordUnderTest } from '../../support/record-under-test';
import { temporaryFolder } from '../../support/temporary-folder';

const spool = temporaryFolder();
let server: BucketServer;
let batch: RecordUnderTest;
beforeAll(async () => {
  server = await startBucketServer();
  const { client, bucket } = server;
  batch = new RecordUnderTest(new S3Archive({ client, bucket, prefix: 'studio', spoolFolder: spool.path }));
});
afterAll(async () => {
  batch.close();
  await server.stop();
  spool.remove();
});

describe('the record of a batch in a bucket', () => {
  it('is laid out, merged, laid out anew for other rows and joined as in a folder', async () => {
    const keys = ['a', 'b', 'c', 'd', 'e'].map((key) => ({ key }));
    const [former, rows] = await batch.write(keys);
    const records = rows.map((row, index) => endedRow(row, Math.floor(index / 2)));
    await expect(batch.open(former, undefined, {})).resolves.toMatchObject({ gone: 0 });
    await batch.record(former.digest, records.slice(2));
    await batch.record(former.digest, records.slice(0, 3));
    expect(await batch.page(former, 1)).toEqual([{ records: 2 }, records[2], records[3]]);

    const [reference] = await batch.write([{ key: 'new' }, { key: 'e' }, { key: 'a', input: { webAppId: 9 } }]);
    await expect(batch.refused(reference)).resolves.toMatchObject({ changed: 1, changedRows: [{ line: 3, key: 'a' }] });
    await batch.open(reference);
    const folder = `batches/b/results/${reference.digest.slice(0, 12)}`;
    expect(await batch.names()).toEqual([
      'batches/b/batch.json',
      ...['0', '1', 'orphaned'].map((name) => `${folder}/${name}.jsonl`),
    ]);

    const report = await batch.report(reference);
    expect(report).toMatchObject({
      success: 1,
      notStarted: 2,
      csv: `s3://${server.bucket}/studio/batches/b/results.csv`,
    });
    const csv = await readFile(`${server.bucketFolder}/studio/batches/b/results.csv`, 'utf8');
    expect(csv.split('\n').map((line) => line.split(',').slice(0, 3))).toEqual([
      ['status', 'output', 'message'],
      ['NotStarted', '', ''],
      ['Success', '/archive/e/0.png', ''],
      ['NotStarted', '', ''],
      [''],
    ]);
  });
});
