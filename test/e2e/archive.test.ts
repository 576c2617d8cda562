import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { copyFileSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { parseCreateRecord } from '../../src/archive/create-record';
import type { TaskHandle } from '../../src/client/task/task-handle';
import type { TaskTuning } from '../../src/contract/task-input';
import { createRecordName } from '../../src/contract/workflow-ids';
import { S3Archive } from '../../src/storage/archive/s3-archive';
import type { SupervisedProcess } from '../../tools/supervise';
import { listed } from '../support/archive-content';
import { type BucketServer, startBucketServer } from '../support/bucket-server';
import { eventually } from '../support/eventually';
import { listFiles } from '../support/list-files';
import { ProcessStack } from '../support/process-stack';
import { runLonghaul } from '../support/run-longhaul';
import { photoFolder } from '../support/task-stack';

/** The reference service's app that hands a file back byte for byte. */
const courier = 11;
/** One that makes several pictures of one. */
const contactSheet = 4;
const fileBytes = 4 * 1024 * 1024;
const tuning: Partial<TaskTuning> = { poll: { minMs: 100, maxMs: 200 }, retryMaxMs: 200 };
const checkOften = { everyMs: 20 };

let stack: ProcessStack;
let sha256: string;

/** A stack for each archive: the tasks of a task queue have one archive, and a worker with another does not start. */
async function openStack(): Promise<void> {
  stack = await ProcessStack.open();
  const content = randomBytes(fileBytes);
  sha256 = createHash('sha256').update(content).digest('hex');
  writeFileSync(join(stack.inputs, 'film.mp4'), content);
  copyFileSync(join(photoFolder, 'chelsea.png'), join(stack.inputs, 'chelsea.png'));
}

/** Starts a task and waits until the service holds it, so that only its archive is still to come. */
async function startHeld(): Promise<{ task: TaskHandle; requestId: string }> {
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' } });
  const inputs = { '1:LoadFile.file': { file: join(stack.inputs, 'film.mp4') } };
  const task = await stack.longhaul.start({ key: randomUUID(), webAppId: courier, inputs, tuning });
  const requestId = await eventually(async () => (await task.status()).requestId ?? '', checkOften);
  return { task, requestId };
}

/**
 * Waits until the archive of a task has failed for a while, and gives what a person reads of it.
 */
async function problemOf(task: TaskHandle): Promise<string> {
  await eventually(
    async () => {
      const { status, problem } = await task.status();
      return status === 'Archiving' && problem?.code === 'Retrying';
    },
    { ...checkOften, what: 'attempts to archive that fail' },
  );
  return (await stack.run('status', task.workflowId)).stdout;
}

describe('an archive whose disk is full', () => {
  let worker: SupervisedProcess;
  beforeAll(async () => {
    await openStack();
    worker = await stack.startWorker();
  });
  afterAll(() => stack.close());

  /** The kernel lets this process write no file beyond this length: what a full disk is to it, on any machine. */
  function limitFiles(limit: string): void {
    execFileSync('prlimit', ['--pid', String(worker.pid), `--fsize=${limit}:`]);
  }

  it('is told in words, and the task goes on by itself once there is room', async () => {
    const { task, requestId } = await startHeld();
    limitFiles(String(fileBytes / 4));
    stack.service.release(requestId);
    expect(await problemOf(task)).toMatch(/no space left for .*0\.mp4.*make room/s);
    limitFiles('unlimited');

    expect(await task.result()).toMatchObject({ status: 'Success', outputs: [{ sha256, bytes: fileBytes }] });
    expect(listFiles(join(stack.archive, requestId))).toEqual(['0.mp4', 'manifest.json']);
    expect(stack.service.ledger.entries({ endpoint: 'create', requestId })).toHaveLength(1);
  });
});

describe('an archive in a bucket', () => {
  const prefix = 'team-a/results';
  let storage: BucketServer;
  let archive: S3Archive;
  let worker: SupervisedProcess;

  beforeAll(async () => {
    await openStack();
    storage = await startBucketServer();
    const { client, bucket } = storage;
    archive = new S3Archive({ client, bucket, prefix, spoolFolder: join(stack.inputs, '..', 'spool') });
    worker = await startWorker();
  });
  afterAll(async () => {
    await stack.close();
    await storage.stop();
  });

  function startWorker(): Promise<SupervisedProcess> {
    const place = { LONGHAUL_ARCHIVE: `s3://${storage.bucket}/${prefix}`, ...storage.env };
    return stack.startWorker({ ...stack.env, ...place });
  }

  async function hashInMetadata(name: string): Promise<string | undefined> {
    const command = new HeadObjectCommand({ Bucket: storage.bucket, Key: `${prefix}/${name}` });
    return (await storage.client.send(command)).Metadata?.['sha256'];
  }

  /** Tells an object that was written again from one that was not. */
  function writtenAt(name: string): bigint {
    return statSync(join(storage.bucketFolder, prefix, name), { bigint: true }).mtimeNs;
  }

  function startSheet(): Promise<TaskHandle> {
    const inputs = { '1:LoadImage.image': { file: join(stack.inputs, 'chelsea.png') } };
    return stack.longhaul.start({ key: randomUUID(), webAppId: contactSheet, inputs, tuning, archive: 'drafts' });
  }

  it('holds outputs, manifest and create record of a task, with the hash of each output in its metadata', async () => {
    const task = await startSheet();
    const { requestId, outputs, manifest, status } = await task.result();
    const folder = `drafts/${requestId ?? ''}`;
    const files = outputs.map(({ ext }, index) => `${folder}/${index}${ext}`);

    expect(status).toBe('Success');
    expect(outputs.length).toBeGreaterThan(2);
    expect(outputs.map(({ path }) => path)).toEqual(files.map((name) => archive.locate(name)));
    expect(manifest).toBe(archive.locate(`${folder}/manifest.json`));
    expect(await listed(archive, folder)).toEqual([...files, `${folder}/manifest.json`]);
    for (const [index, name] of files.entries()) {
      const content = await archive.read(name);
      const hash = createHash('sha256')
        .update(content ?? '')
        .digest('hex');
      expect([outputs[index]?.sha256, await hashInMetadata(name)]).toEqual([hash, hash]);
    }
    expect(JSON.parse(String(await archive.read(`${folder}/manifest.json`)))).toMatchObject({ requestId, status });
    const record = await archive.read(createRecordName(task.workflowId, 1));
    expect(parseCreateRecord(record)).toMatchObject({ requestId, workflowId: task.workflowId });
  });

  it('is gone on with where a killed worker left it: what is whole is not sent again', async () => {
    const injected = storage.proxy.inject({
      markers: ['PUT /', '/1.jpg?x-id=PutObject'],
      fault: { kind: 'holdRequest', afterBytes: 1_000 },
    });
    const task = await startSheet();
    await eventually(() => injected.hitCount > 0, { ...checkOften, what: 'the second output on its way' });
    const requestId = (await task.status()).requestId ?? '';
    const first = `drafts/${requestId}/0.png`;
    await eventually(async () => (await listed(archive, `drafts/${requestId}`)).includes(first), {
      ...checkOften,
      what: 'the first output',
    });
    // Until it is written down there, nothing proves which output the file is.
    const manifest = `drafts/${requestId}/manifest.json`;
    await eventually(async () => String(await archive.read(manifest)).includes('"0.png"'), checkOften);
    const before = writtenAt(first);
    process.kill(worker.pid, 'SIGKILL');
    await worker.ended;
    const left = await listed(archive, `drafts/${requestId}`);
    expect(left).toContain(first);
    expect(left).not.toContain(`drafts/${requestId}/1.jpg`);
    storage.proxy.release();
    worker = await startWorker();

    const { status, outputs } = await task.result();
    expect(status).toBe('Success');
    expect(writtenAt(first)).toBe(before);
    expect(await listed(archive, `drafts/${requestId}`)).toHaveLength(outputs.length + 1);
    expect(stack.service.ledger.entries({ endpoint: 'create', requestId })).toHaveLength(1);
  });

  const busy = '<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>';
  it.each<[string, () => unknown, () => unknown, RegExp]>([
    ['does not listen', () => storage.proxy.refuse(), () => storage.proxy.accept(), /the storage does not answer/],
    [
      'answers 503',
      () => {
        const text = `HTTP/1.1 503 Slow Down\r\nContent-Length: ${busy.length}\r\nConnection: close\r\n\r\n${busy}`;
        storage.proxy.inject({ markers: [storage.bucket], fault: { kind: 'answer', text }, times: Infinity });
      },
      () => {
        storage.proxy.release();
      },
      /HTTP 503.*the storage cannot answer now/s,
    ],
    [
      'has lost the bucket',
      () => {
        renameSync(storage.bucketFolder, `${storage.bucketFolder}.away`);
      },
      () => {
        renameSync(`${storage.bucketFolder}.away`, storage.bucketFolder);
      },
      /there is no bucket archive-of-tests/,
    ],
  ])(
    'whose storage %s for a while is told in words, and the task goes on by itself',
    async (_how, away, back, words) => {
      const { task, requestId } = await startHeld();
      await away();
      stack.service.release(requestId);
      try {
        expect(await problemOf(task)).toMatch(words);
      } finally {
        await back();
      }
      expect(await task.result()).toMatchObject({ status: 'Success', outputs: [{ sha256, bytes: fileBytes }] });
      expect(await hashInMetadata(`${requestId}/0.mp4`)).toBe(sha256);
    },
  );

  it('keeps a worker from starting when it cannot be used, in words', async () => {
    const place = { LONGHAUL_ARCHIVE: 's3://no-such-bucket', ...storage.env };
    const { exitCode, stderr } = await runLonghaul(['worker'], { ...stack.env, ...place });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/LONGHAUL_ARCHIVE: .*no bucket no-such-bucket/s);
    expect(Object.values(storage.env).filter((value) => value.length > 20 && stderr.includes(value))).toEqual([]);
  });

  it('leaves its credentials in no log and in no history', async () => {
    const task = await startSheet();
    await task.result();
    const { events } = await stack.client.workflow.getHandle(task.workflowId).fetchHistory();
    const shown = [JSON.stringify(events), ...stack.logFiles.map((file) => readFileSync(file, 'utf8'))].join('');
    const { AWS_SECRET_ACCESS_KEY: secret = '', AWS_ACCESS_KEY_ID: keyId = '' } = storage.env;
    expect(shown).toContain('worker started');
    expect([secret, keyId].filter((value) => shown.includes(value))).toEqual([]);
  });
});
