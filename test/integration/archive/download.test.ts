import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { Longhaul } from '../../../src/client/longhaul';
import { runCommandLine } from '../../../src/commands/program';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { createRecordText } from '../../../src/archive/create-record';
import { openBatchResults } from '../../../src/archive/batch-results';
import { Destination } from '../../../src/archive/destination';
import { fetchBatch, type FetchedBatch } from '../../../src/archive/fetch-batch';
import { parseResultNameTemplate } from '../../../src/archive/result-names';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { S3Archive } from '../../../src/storage/archive/s3-archive';
import { s3Settings } from '../../../src/storage/s3/s3-client';
import { archiveBatch, archiveTask } from '../../support/archived-batch';
import { type BucketServer, startBucketServer } from '../../support/bucket-server';
import { FakeContext } from '../../support/fake-context';
import { listFiles } from '../../support/list-files';
import { fastTuning } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
let stack: TaskStack;
let longhaul: Longhaul;
beforeAll(async () => {
  stack = await TaskStack.open();
  longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
});
afterAll(async () => {
  await stack.close();
  folder.remove();
});

async function download(id: string, target: string, ...more: string[]): Promise<FakeContext> {
  const env = { TEMPORAL_ADDRESS: process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'], LONGHAUL_ARCHIVE: stack.archive };
  const context = new FakeContext(env);
  await runCommandLine(['download', id, '-o', target, ...more], context);
  return context;
}

describe('longhaul download', () => {
  it('fetches what a task left, and nothing of it twice', async () => {
    const key = `d-${randomUUID()}`;
    const task = await longhaul.start({ key, webAppId: 5, inputs: {}, tuning: fastTuning });
    const { outputs } = await task.result();
    const names = outputs.map(({ path }) => path.split('/').at(-1));
    const target = join(folder.path, key);
    const first = await download(key, target);
    expect([first.exitCode, first.stderr.text]).toEqual([0, expect.stringContaining('fetched')]);
    expect(listFiles(target)).toEqual([...names, 'manifest.json'].sort());

    const again = await download(key, target);
    expect([again.exitCode, again.stdout.text]).toEqual([0, expect.stringMatching(/^0 files fetched/)]);
  });

  it('says in words why a folder cannot be written to', async () => {
    const key = `d-${randomUUID()}`;
    await (await longhaul.start({ key, webAppId: 5, inputs: {}, tuning: fastTuning })).result();
    const refused = await download(key, join(__filename, 'out'));
    expect(refused.exitCode).toBe(2);
    expect(refused.stderr.text).toMatch(/the folder .*download\.test\.ts\/out cannot keep or give a file \(ENOTDIR\)/);
    expect(refused.stderr.text).not.toMatch(/Unexpected|^ +at /m);
  });

  it('finds what Temporal has forgotten by its create record', async () => {
    const archive = new FolderArchive(stack.archive);
    const key = `forgotten-${randomUUID()}`;
    const requestId = randomUUID();
    const record = {
      workflowId: `task:${key}`,
      createNumber: 1,
      sentAt: new Date().toISOString(),
      maker: 'm',
      callbackAsked: false,
    };
    await archive.replace(createRecordName(`task:${key}`, 1), createRecordText({ ...record, requestId }));
    await archiveTask(archive, { requestId, files: { '0.png': 'old' } });
    const { exitCode } = await download(key, join(folder.path, key));
    expect([exitCode, listFiles(join(folder.path, key))]).toEqual([0, ['0.png', 'manifest.json']]);
  });

  it('says what is in the way: a task that runs, failed, was stopped, or is not known', async () => {
    const { scenarios } = stack.service;
    const start = (key: string, inputs = {}): ReturnType<Longhaul['start']> =>
      longhaul.start({ key, webAppId: 5, inputs, tuning: fastTuning });
    const [running, failing] = [`r-${randomUUID()}`, `f-${randomUUID()}`];
    const held = await start(running, { '2:Wait.seconds': 3_600 });
    const runs = await download(running, join(folder.path, 'none'));
    expect([runs.exitCode, runs.stderr.text]).toEqual([
      2,
      expect.stringMatching(/still runs.*longhaul status .* --follow/),
    ]);

    await held.stop();
    await held.result();
    const stopped = await download(running, join(folder.path, 'none'));
    expect([stopped.exitCode, stopped.stderr.text]).toEqual([4, expect.stringContaining('was stopped')]);

    scenarios.add({ endpoint: 'create', scenario: { name: 'fail', message: 'out of paint' } });
    await (await start(failing)).result().catch(() => undefined);
    const failed = await download(failing, join(folder.path, 'none'));
    expect([failed.exitCode, failed.stderr.text]).toEqual([3, expect.stringContaining('out of paint')]);

    const { requestId } = await longhaul.task(failing).status();
    await archiveTask(new FolderArchive(stack.archive), { requestId: requestId ?? '', files: { '0.png': 'preview' } });
    const left = await download(failing, join(folder.path, 'left'), '--json');
    expect([left.exitCode, JSON.parse(left.stdout.text)]).toEqual([
      3,
      expect.objectContaining({ failure: expect.objectContaining({ type: 'TaskFailed' }) as unknown }),
    ]);
    expect(listFiles(join(folder.path, 'left'))).toEqual(['0.png', 'manifest.json']);

    const unknown = await download('never-heard-of', join(folder.path, 'none'));
    expect(unknown.exitCode).toBe(2);
  });
});

/** More of them by `ROWS`. */
const rowCount = Number(process.env['ROWS'] ?? 100);

describe(`the outputs of ${rowCount} rows in a bucket`, () => {
  let server: BucketServer;
  let client: S3Client;
  beforeAll(async () => {
    server = await startBucketServer();
    const { rootAccessKeyId: accessKeyId, rootSecretAccessKey: secretAccessKey, region } = server.server;
    client = new S3Client({
      ...s3Settings({ connectMs: 5_000, idleMs: 30_000 }),
      ...{ region, credentials: { accessKeyId, secretAccessKey }, forcePathStyle: true },
      endpoint: `http://127.0.0.1:${server.proxy.port}`,
    });
  });
  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  it('are fetched but for those that break off, and those by the next try', async () => {
    const { bucket } = server;
    const archive = new S3Archive({ client, bucket, prefix: 'studio', spoolFolder: join(folder.path, 'spool') });
    const keys = Array.from({ length: rowCount }, (_, index) => `row-${index}`);
    await archiveBatch(archive, 'photos', keys);
    const target = join(folder.path, 'rows');
    const { template: names = [] } = parseResultNameTemplate('{key}');
    const fetchAll = async (): Promise<FetchedBatch> =>
      await fetchBatch(archive, await openBatchResults(archive, 'photos'), {
        destination: new Destination(target),
        names,
        partial: false,
        signal: new AbortController().signal,
        onProgress: () => undefined,
      });
    server.proxy.inject({ markers: ['GET', '0.png'], fault: { kind: 'cutAnswer', afterBytes: 10 }, times: 5 });
    const first = await fetchAll();
    expect(first).toMatchObject({ rows: rowCount, fetched: rowCount - 5, failed: 5 });
    expect(first.failures).toHaveLength(5);

    const second = await fetchAll();
    expect(second).toMatchObject({ fetched: rowCount, failed: 0, files: 5, kept: rowCount - 5 });
    expect(listFiles(target)).toHaveLength(2 * rowCount);
  });
});
