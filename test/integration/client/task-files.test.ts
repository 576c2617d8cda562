import { createHash } from 'node:crypto';
import { createReadStream, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { openArchive, type OpenStaging, openStaging, type TaskOutput } from '../../../src/files';
import { Longhaul, TaskFailedError } from '../../../src/index';
import { prepareRows, readRows, rowsFrom } from '../../../src/row-files';
import { type BucketServer, startBucketServer } from '../../support/bucket-server';
import { eventually } from '../../support/eventually';
import { fastTuning } from '../../support/task-environment';
import { photoFolder, TaskStack } from '../../support/task-stack';

const photo = join(photoFolder, 'rocket.jpg');
const before = { ...process.env };

let storage: BucketServer;
let staging: OpenStaging;
let inFolder: TaskStack;
let inBucket: TaskStack;

beforeAll(async () => {
  storage = await startBucketServer();
  // The AWS SDK reads the environment of the process, as in a backend.
  Object.assign(process.env, storage.env);
  const env = { ...storage.env, LONGHAUL_STAGING: `s3://${storage.bucket}/staging`, LONGHAUL_INPUT_ROOTS: '' };
  staging = openStaging({ env });
  inFolder = await TaskStack.open({ env });
  inBucket = await TaskStack.open({ env: { ...env, LONGHAUL_ARCHIVE: `s3://${storage.bucket}/archive` } });
});
afterAll(async () => {
  await inFolder.close();
  await inBucket.close();
  staging.close();
  await storage.stop();
  for (const name of Object.keys(storage.env)) {
    if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = before[name];
  }
});

function backend({ client, taskQueue }: TaskStack, place?: string): Longhaul {
  return new Longhaul({ client, taskQueue, staging, ...(place !== undefined && { archive: openArchive({ place }) }) });
}

const photoFinish = (content: Buffer | NodeJS.ReadableStream, key: string) => ({
  ...{ key, webAppId: 1, tuning: fastTuning },
  inputs: { '1:LoadImage.image': { content: content as Buffer, name: 'rocket.jpg' }, '2:ImageScale.width': 64 },
});

describe.each([
  ['a folder', () => ({ stack: inFolder, place: inFolder.archive })],
  ['a bucket', () => ({ stack: inBucket, place: `s3://${storage.bucket}/archive` })],
])('a backend whose workers archive in %s', (kind, parts) => {
  it('starts a task with bytes and with a stream, which are the same input, and reads the outputs', async () => {
    const { stack, place } = parts();
    const longhaul = backend(stack, place);
    const key = `content-${kind.slice(2)}-${stack.taskQueue.slice(-8)}`;

    const task = await longhaul.start(photoFinish(await readFile(photo), key));
    const again = await longhaul.start(photoFinish(createReadStream(photo), key));
    expect([task.origin, again.origin]).toEqual(['started', 'attached']);

    const outputs = await task.outputs();
    const { outputs: listed } = await task.result();
    expect(outputs.map(({ path, sha256 }) => ({ path, sha256 }))).toEqual(
      listed.map(({ path, sha256 }) => ({ path, sha256 })),
    );
    for (const output of outputs) {
      const content = await buffer(await output.read());
      expect(output).toMatchObject({ contentType: 'image/png', bytes: content.length });
      expect(createHash('sha256').update(content).digest('hex')).toBe(output.sha256);
    }
    expect(outputs.length).toBeGreaterThan(0);
    expect(await task.input()).toMatchObject({
      inputs: {
        '1:LoadImage.image': { file: expect.stringMatching(/^s3:.*\/staging\/[0-9a-f]{64}\/rocket\.jpg$/) as string },
      },
    });
  });
});

describe('a backend that shares only a bucket with its workers', () => {
  it('starts a batch of rows in memory, whose rows and files it puts there', async () => {
    const { client, taskQueue } = inBucket;
    const longhaul = new Longhaul({ client, taskQueue });
    const id = `rows-in-memory-${taskQueue.slice(-8)}`;
    const orders = ['a', 'b'].map((key) => ({
      ...{ key, webAppId: 1, tuning: fastTuning },
      inputs: { '1:LoadImage.image': { file: photo }, '2:ImageScale.width': 64 },
    }));
    const { rows } = await prepareRows(readRows(rowsFrom(orders)), { staging, name: id });
    if (rows === null) throw new Error('the rows are bad');
    expect(rows.location).toMatch(/^s3:\/\/[^/]+\/staging\/rows\/rows-in-memory-/);

    const batch = await longhaul.startBatch({ id, rows });
    expect(await batch.result()).toMatchObject({ ending: 'completed', rows: 2, success: 2 });
  });
});

async function anOutput(): Promise<TaskOutput | undefined> {
  const longhaul = backend(inBucket, `s3://${storage.bucket}/archive`);
  const task = await longhaul.start({ key: 'no-such-link', webAppId: 5, inputs: {}, tuning: fastTuning });
  return (await task.outputs())[0];
}

describe('a link of an output', () => {
  it('gives its bytes to anyone who fetches it, until it ends', async () => {
    const longhaul = backend(inBucket, `s3://${storage.bucket}/archive`);
    const task = await longhaul.start({ webAppId: 5, inputs: {}, tuning: fastTuning });
    const [output] = await task.outputs();
    const lasting = await fetch((await output?.link({ expiresInMs: 60_000 })) ?? '');
    const content = Buffer.from(await lasting.arrayBuffer());
    expect(createHash('sha256').update(content).digest('hex')).toBe(output?.sha256);
    expect(lasting.headers.get('content-type')).toBe(output?.contentType);

    const link = (await output?.link({ expiresInMs: 1_999 })) ?? '';
    expect(new URL(link).searchParams.get('X-Amz-Expires')).toBe('1');
    const refused = await eventually(async () => {
      const answer = await fetch(link);
      return answer.ok ? undefined : await answer.text();
    });
    expect(refused).toMatch(/expired/i);
  });

  it.each<[unknown, string]>([
    [{ expiresInMs: 999 }, 'expiresInMs is'],
    [{ expiresInMs: 7 * 24 * 3_600_000 + 1 }, 'expiresInMs is'],
    [{ expiresInMs: 60_000, download: true }, 'Unknown option "download"; known are expiresInMs.'],
    [{}, 'expiresInMs is missing; give from 1000 to 604800000'],
    [60_000, 'The options are 60000; give an object'],
  ])('with %p is refused with every problem', async (options, words) => {
    const refused = (await anOutput())?.link(options as { expiresInMs: number });
    await expect(refused).rejects.toMatchObject({
      name: 'InputInvalidError',
      problems: [expect.stringContaining(words)],
    });
  });

  it('and a read with a misspelt option are refused', async () => {
    const output = await anOutput();
    const refused = output?.read({ sginal: AbortSignal.abort() } as object);
    await expect(refused).rejects.toMatchObject({
      name: 'InputInvalidError',
      problems: ['Unknown option "sginal"; did you mean signal? Known are signal.'],
    });
  });

  it('is null where the archive is a folder', async () => {
    const task = await backend(inFolder, inFolder.archive).start({ webAppId: 5, inputs: {}, tuning: fastTuning });
    const [output] = await task.outputs();
    expect(await output?.link({ expiresInMs: 60_000 })).toBeNull();
  });
});

describe('outputs', () => {
  it('that have changed since they were archived end their stream with an error', async () => {
    const longhaul = backend(inFolder, inFolder.archive);
    const task = await longhaul.start({ webAppId: 5, inputs: {}, tuning: fastTuning });
    const [output] = await task.outputs();
    const bytes = Buffer.alloc(output?.bytes ?? 0);
    writeFileSync(output?.path ?? '', bytes);
    await expect(buffer((await output?.read()) ?? new PassThrough())).rejects.toMatchObject({
      ...{ name: 'ResultsError', code: 'damaged' },
    });
  });

  it('of an archive that is not there cannot be told, and a client without an archive says what to give', async () => {
    const elsewhere = backend(inFolder, `${inFolder.archive}-of-another`);
    const task = await elsewhere.start({ webAppId: 5, inputs: {}, tuning: fastTuning });
    await expect(task.outputs()).rejects.toMatchObject({ name: 'ArchiveError', code: 'ARCHIVE_UNUSABLE' });
    await expect(backend(inFolder).task(task.workflowId).outputs()).rejects.toThrow(
      /no archive: give Longhaul.connect/,
    );
  });

  it('of a task that failed are those of its partial result', async () => {
    const longhaul = backend(inFolder, inFolder.archive);
    const task = await longhaul.start({
      ...{ webAppId: 10, tuning: fastTuning },
      inputs: { '1:LoadImage.image': { content: await readFile(photo), name: 'rocket.jpg' } },
    });
    const failure = await task.outputs().catch((error: unknown) => error);
    if (!(failure instanceof TaskFailedError)) throw new Error('it did not fail');
    const partial = failure.detailsOf('TaskFailed')?.result;
    if (partial === undefined) throw failure;
    expect(partial.outputCount).toBeGreaterThan(0);
    const archive = openArchive({ place: inFolder.archive });
    expect(await archive.outputs(partial)).toHaveLength(partial.outputCount);
  });
});

describe('a content as an input', () => {
  it('is refused where there is no staging, and its stream is closed', async () => {
    const { client, taskQueue } = inFolder;
    const content = createReadStream(photo);
    const start = new Longhaul({ client, taskQueue }).start(photoFinish(content, 'no-staging'));
    await expect(start).rejects.toThrow(/inputs\["1:LoadImage.image"\] is a content.*openStaging/);
    expect(content.destroyed).toBe(true);
  });

  it('is not staged when the rest of the input is refused', async () => {
    const content = new PassThrough();
    const start = backend(inFolder).start({ ...photoFinish(content, 'bad key'), webAppId: 0 });
    await expect(start).rejects.toThrow(/webAppId is 0/);
    expect(content.destroyed).toBe(true);
  });

  it('that is empty, or breaks, starts nothing', async () => {
    const longhaul = backend(inFolder);
    await expect(longhaul.start(photoFinish(Buffer.alloc(0), 'empty-content'))).rejects.toThrow(
      /inputs\["1:LoadImage\.image"\] is empty/,
    );
    const broken = new PassThrough();
    broken.write('half');
    const reason = new Error('the camera is off');
    setImmediate(() => broken.destroy(reason));
    await expect(longhaul.start(photoFinish(broken, 'broken-content'))).rejects.toMatchObject({
      ...{ name: 'InputInvalidError', cause: reason },
      message: expect.stringMatching(/inputs\["1:LoadImage\.image"\].*the camera is off/) as string,
    });
    await expect(longhaul.task('broken-content').status()).rejects.toMatchObject({ name: 'UnknownTaskError' });
  });
});

describe('a place of files', () => {
  it.each([
    ['staging', () => openStaging({ env: {} }), /LONGHAUL_STAGING is not set; give "s3:/],
    ['staging that is a folder', () => openStaging({ place: '/srv', env: {} }), /place is "\/srv"; give "s3:/],
    ['archive', () => openArchive({ env: {} }), /LONGHAUL_ARCHIVE is not set; give the path/],
  ])('without a usable %s is a ConfigError', (_name, open, problem) => {
    expect(open).toThrow(problem);
  });
});
