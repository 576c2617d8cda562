import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import { Longhaul } from '../../../src/client/longhaul';
import { runCommandLine } from '../../../src/commands/program';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { createRecordText } from '../../../src/formats/create-record';
import type { ReportRow, TaskFacts } from '../../../src/report/report-data';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { S3Archive } from '../../../src/storage/archive/s3-archive';
import { s3Settings } from '../../../src/storage/s3/s3-client';
import { type KnownTask, writeTaskPage, type WrittenTaskPage } from '../../../src/results/task-page';
import { archiveTask } from '../../support/archived-batch';
import { startBucketServer } from '../../support/bucket-server';
import { eventually } from '../../support/eventually';
import { FakeContext } from '../../support/fake-context';
import { fastTuning } from '../../support/task-environment';
import { photoFolder, TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const photo = join(photoFolder, 'rocket.jpg');
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

interface TaskPage {
  readonly context: FakeContext;
  readonly file: string;
  readonly facts: TaskFacts;
  readonly row: ReportRow;
}

async function status(id: string, ...more: string[]): Promise<TaskPage> {
  const file = join(folder.path, `${randomUUID()}.html`);
  const context = new FakeContext({
    TEMPORAL_ADDRESS: process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'],
    ...{ LONGHAUL_ARCHIVE: stack.archive, LONGHAUL_WEB_UI_URL: 'http://ui.example' },
  });
  await runCommandLine(['status', id, '--html', file, ...more], context);
  const html = context.exitCode === 0 ? readFileSync(file, 'utf8') : '';
  const data = (name: string): unknown =>
    JSON.parse(new RegExp(`id="${name}">([^]*?)</script>`).exec(html)?.[1] ?? '[]');
  return { context, file, facts: data('facts') as TaskFacts, row: (data('rows') as ReportRow[])[0]! };
}

describe('longhaul status --html', () => {
  it('writes the page of a task that is over, from its manifest, with links to its files', async () => {
    const key = `p-${randomUUID()}`;
    const inputs = { '1:LoadImage.image': { file: photo }, '2:ImageScale.width': 64 };
    const task = await longhaul.start({ key, webAppId: 1, inputs, tuning: fastTuning });
    const { requestId, outputs } = await task.result();
    const { context, file, facts, row } = await status(key);

    expect([context.exitCode, context.stderr.text]).toEqual([0, '']);
    expect(row).toMatchObject({ key, state: 'Success', requestId, failure: null, fileCount: outputs.length });
    for (const [index, { href }] of row.files.entries()) {
      expect(resolve(dirname(file), decodeURIComponent(href!))).toBe(outputs[index]?.path);
    }
    expect(facts.inputs).toEqual([
      { key: '1:LoadImage.image', value: photo, isFile: true, bytes: readFileSync(photo).length },
      { key: '2:ImageScale.width', value: '64', isFile: false, bytes: null },
    ]);
    expect(facts.about).toEqual([
      ['App', '1'],
      ['Account', 'default'],
    ]);
    expect(facts.workflowPages).toBe('http://ui.example/namespaces/default/workflows/');
    expect(Object.keys(facts.costTimes)).not.toEqual([]);

    const mailed = await status(key, '--embed', '--json');
    expect(JSON.parse(mailed.context.stdout.text)).toMatchObject({ path: mailed.file, files: outputs.length });
  });

  it('writes what a task does that runs, and what it was given', async () => {
    const key = `r-${randomUUID()}`;
    const task = await longhaul.start({ key, webAppId: 5, inputs: { '2:Wait.seconds': 3_600 }, tuning: fastTuning });
    await eventually(async () => (await task.status()).requestId !== null);
    const { context, facts, row } = await status(key);
    await task.stop();
    await task.result();

    expect([context.exitCode, context.stderr.text]).toEqual([0, '']);
    expect(row).toMatchObject({ state: 'Running', files: [], endedMs: null });
    expect(facts.inputs).toEqual([{ key: '2:Wait.seconds', value: '3600', isFile: false, bytes: null }]);
    expect(facts.commands.map(({ command }) => command)).toContain(`longhaul stop ${key}`);
    const over = await status(key);
    expect(over.row).toMatchObject({ state: 'Canceled', failure: null });
  });

  it('says why a task failed, and the command that runs it again', async () => {
    const key = `f-${randomUUID()}`;
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'fail', message: 'out of paint' } });
    const task = await longhaul.start({ key, webAppId: 5, inputs: {}, tuning: fastTuning });
    await task.result().catch(() => undefined);
    const { facts, row } = await status(key);

    expect(row.failure).toEqual({ type: 'TaskFailed', message: expect.stringContaining('out of paint') as unknown });
    expect(facts.remedies.map(({ command }) => command)).toEqual([`longhaul run 5 --key ${key} --retry OPTIONS`]);
  });

  it('takes a task that Temporal has forgotten from its create record and its manifest', async () => {
    const archive = new FolderArchive(stack.archive);
    const [key, requestId] = [`forgotten-${randomUUID()}`, randomUUID()];
    const record = { workflowId: `task:${key}`, createNumber: 1, maker: 'm', callbackAsked: false, requestId };
    const sentAt = '2026-01-02T03:04:00.000Z';
    await archive.replace(createRecordName(`task:${key}`, 1), createRecordText({ ...record, sentAt }));
    await archiveTask(archive, { requestId, files: { '0.png': 'old' }, manifest: { values: { '1:A.b': 7 } } });
    const { facts, row } = await status(key);

    expect(row).toMatchObject({ state: 'Success', requestId, files: [{ name: '0.png', bytes: 3 }] });
    expect(facts).toMatchObject({ status: null, inputs: [{ key: '1:A.b', value: '7' }] });
    expect((await status('never-heard-of')).context.exitCode).toBe(2);
  });

  it('refuses --embed without a page', async () => {
    const context = new FakeContext({});
    await runCommandLine(['status', 'order-17', '--embed'], context);
    expect([context.exitCode, context.stderr.text]).toEqual([2, expect.stringContaining('give --html FILE')]);
  });
});

describe('the page of a task in a bucket', () => {
  it('leads to no file of it, and has its small pictures inside when asked', async () => {
    const { server, bucket, proxy, stop } = await startBucketServer();
    const { rootAccessKeyId: accessKeyId, rootSecretAccessKey: secretAccessKey, region } = server;
    const client = new S3Client({
      ...s3Settings({ connectMs: 5_000, idleMs: 30_000 }),
      ...{ region, credentials: { accessKeyId, secretAccessKey }, forcePathStyle: true },
      endpoint: `http://127.0.0.1:${proxy.port}`,
    });
    try {
      const archive = new S3Archive({ client, bucket, prefix: 'studio', spoolFolder: join(folder.path, 'spool') });
      const manifest = await archiveTask(archive, { requestId: 'request-1', files: { '0.png': 'picture' } });
      const known: KnownTask = {
        ...{ workflowId: 'task:a', state: 'Success', status: 'Success', waits: null, failure: null, remarks: [] },
        ...{ app: '5', account: 'default', requestId: 'request-1', startedAt: null, endedAt: null, manifest },
        ...{ timestamps: {}, costTimes: {}, cost: null, inputs: [], outputs: [], outputCount: 0, missing: [] },
        manifestNames: ['request-1/manifest.json'],
      };
      const file = join(folder.path, 'bucket.html');
      const write = (embed: boolean): Promise<WrittenTaskPage> =>
        writeTaskPage(archive, known, { file, embed, webUi: null, now: new Date() });
      expect(await write(false)).toMatchObject({ files: 1, embedded: 0, withoutLink: 1 });
      expect(await write(true)).toMatchObject({ files: 1, embedded: 1, withoutLink: 0 });
    } finally {
      client.destroy();
      await stop();
    }
  });
});
