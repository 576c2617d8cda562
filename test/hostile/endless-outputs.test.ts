import { randomUUID } from 'node:crypto';
import { statfsSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { TaskHandle } from '../../src/client/task/task-handle';
import type { TaskTuning } from '../../src/contract/task-input';
import type { SupervisedProcess } from '../../tools/supervise';
import { eventually } from '../support/eventually';
import { listFiles } from '../support/list-files';
import { ProcessStack } from '../support/process-stack';
import { contentOf, ResultsService } from '../support/results-service';
import { fastTuning } from '../support/task-environment';

const megabyte = 1_000_000;
/** How much less is left on the disk of the archive before the second worker takes no more. */
const roomBytes = 150 * megabyte;
/** What the large files have once they have an end. */
const wholeBytes = 3 * megabyte;
/** Over a minute; its window is not configurable. */
const withinAWindow = { withinMs: 100_000, everyMs: 500 };

const service = new ResultsService();
let stack: ProcessStack;
const workers: SupervisedProcess[] = [];
/** How often the outputs of each task were listed, and how many bytes were sent of each file. */
const listed = new Map<string, number>();
const sent = new Map<string, number>();
/** The queue of the worker whose disk is nearly full. */
const fullQueue = `test-${randomUUID()}`;
/** Once true, every file has an end and comes at once. */
let areWhole = false;

beforeAll(async () => {
  await service.start();
  service.outputs = (_question, requestId) => {
    listed.set(requestId, (listed.get(requestId) ?? 0) + 1);
    return { outputs: namesIn(requestId).map((name) => service.item(`${name}.${requestId}`)) };
  };
  service.file = (file, response) => {
    sendFile(file, response);
  };
  stack = await ProcessStack.open();
  workers.push(
    await startWorker({
      LONGHAUL_MAX_OUTPUT_BYTES: String(2 * megabyte),
      LONGHAUL_MAX_TASK_BYTES: String(3.5 * megabyte),
      LONGHAUL_ARCHIVE_RESERVE_BYTES: '0',
    }),
  );
});
afterAll(async () => {
  await stack.close();
  await service.stop();
});

function startWorker(limits: NodeJS.ProcessEnv, taskQueue?: string): Promise<SupervisedProcess> {
  return stack.startWorker({ ...stack.env, LONGHAUL_SERVICE_URL: service.url, ...limits }, taskQueue);
}

/** A request id says which files its task has: `a-endless-b.<uuid>`. */
function namesIn(requestId: string): string[] {
  return (requestId.split('.')[0] ?? '').split('-');
}

function sendFile(file: string, response: ServerResponse): void {
  const [name] = file.split('.');
  const count = (bytes: number): void => void sent.set(file, (sent.get(file) ?? 0) + bytes);
  if (name === 'endless' && !areWhole) sendEndlessly(response, count);
  else if (name === 'slow' && !areWhole) sendSlowly(response);
  else if (name === 'huge' && !areWhole) response.writeHead(200, { 'content-length': 1e9 }).flushHeaders();
  else if (name?.startsWith('part') === true) response.end(Buffer.alloc(megabyte, 'GIF89a'));
  else response.end(namesOfLarge.has(name ?? '') ? Buffer.alloc(wholeBytes, 'GIF89a') : contentOf(name ?? ''));
}

const namesOfLarge: ReadonlySet<string> = new Set(['endless', 'slow', 'huge']);

const chunk = Buffer.alloc(64 * 1024, 'GIF89a');

function sendEndlessly(response: ServerResponse, count: (bytes: number) => void): void {
  let isTaken = true;
  while (isTaken && !response.destroyed) {
    isTaken = response.write(chunk);
    count(chunk.length);
  }
  if (!response.destroyed) response.once('drain', sendEndlessly.bind(null, response, count));
}

function sendSlowly(response: ServerResponse): void {
  const timer = setInterval(() => response.write('GIF89a'), 1_000);
  response.once('close', () => {
    clearInterval(timer);
  });
}

async function follow(names: string, tuning: Partial<TaskTuning> = {}, taskQueue = stack.taskQueue): Promise<Followed> {
  const requestId = `${names}.${randomUUID()}`;
  const { workflowId } = await stack.client.workflow.start('task', {
    taskQueue,
    workflowId: `task:${randomUUID()}`,
    workflowExecutionTimeout: '30 minutes',
    args: [
      { adopt: { requestId }, tuning: { ...fastTuning, archiveGraceMs: 1_200_000, archivePauseMs: 100, ...tuning } },
    ],
  });
  return { task: stack.longhaul.task(workflowId), requestId };
}

interface Followed {
  readonly task: TaskHandle;
  readonly requestId: string;
}

/** Waits until the task waits for a person, and has tried on by itself since; what it says of the reason. */
async function problemOf({ task, requestId }: Followed): Promise<string> {
  await eventually(async () => (await task.status()).status === 'ArchiveIncomplete', { withinMs: 90_000 });
  const before = listed.get(requestId) ?? 0;
  await eventually(() => (listed.get(requestId) ?? 0) > before + 2, { withinMs: 90_000, what: 'attempts by itself' });
  return (await task.status()).problem?.message ?? '';
}

function timesFetched(name: string, { requestId }: Followed): number {
  return service.fetched.filter((file) => file === `${name}.${requestId}`).length;
}

/** What is archived; a further attempt may have something on its way. */
function filesOf({ requestId }: Followed): string[] {
  const names = listFiles(join(stack.archive, requestId)).sort();
  return names.filter((name) => !name.startsWith('.part-'));
}

async function expectOthersToSucceed(taskQueue?: string): Promise<void> {
  const others = await Promise.all(['a', 'a-b-c'].map((names) => follow(names, {}, taskQueue)));
  for (const { task, requestId } of others) {
    const { outputs } = await task.result();
    expect(outputs).toHaveLength(namesIn(requestId).length);
  }
}

describe('a service whose outputs are more than a worker takes', () => {
  let slow: Followed;
  let endless: Followed;
  let tooMany: Followed;
  let full: Followed;
  let huge: Followed;

  it('has an endless one stopped at LONGHAUL_MAX_OUTPUT_BYTES, once, while its siblings are archived', async () => {
    slow = await follow('a-slow-b');
    endless = await follow('a-endless-b');
    const problem = await problemOf(endless);
    expect(problem).toMatch(/1 of 3 outputs.*output 1: it has 2\.\d MB or more.*LONGHAUL_MAX_OUTPUT_BYTES/);
    expect(timesFetched('endless', endless)).toBe(1);
    // Beyond the limit only what was on its way through the buffers of both sides.
    expect(sent.get(`endless.${endless.requestId}`)).toBeLessThan(20 * megabyte);
    expect(filesOf(endless)).toEqual(['0.png', '2.png', 'manifest.json']);
    await expectOthersToSucceed();
  }, 90_000);

  it('has those refused that go beyond LONGHAUL_MAX_TASK_BYTES together, and keeps the others', async () => {
    tooMany = await follow('part1-part2-part3-part4-a');
    expect(await problemOf(tooMany)).toMatch(/1 of 5 outputs.*with 3\.0 MB of other outputs.*LONGHAUL_MAX_TASK_BYTES/);
    expect(filesOf(tooMany)).toHaveLength(5);
    expect(
      service.fetched.filter((file) => file.startsWith('part') && file.endsWith(tooMany.requestId)).length,
    ).toBeLessThan(10);
    await expectOthersToSucceed();
  }, 90_000);

  it('is stopped where the archive would have less left than LONGHAUL_ARCHIVE_RESERVE_BYTES', async () => {
    const { bavail, bsize } = statfsSync(stack.inputs);
    const reserve = { LONGHAUL_ARCHIVE_RESERVE_BYTES: String(bavail * bsize - roomBytes) };
    workers.push(await startWorker(reserve, fullQueue));
    full = await follow('a-endless-b', { archiveGraceMs: 3_000 }, fullQueue);
    huge = await follow('a-huge-b', { archiveGraceMs: 3_000 }, fullQueue);
    for (const [task, name] of [
      [full, 'endless'],
      [huge, 'huge'],
    ] as const) {
      expect(await problemOf(task)).toMatch(/1 of 3 outputs.*output 1: .*LONGHAUL_ARCHIVE_RESERVE_BYTES/);
      expect(filesOf(task)).toEqual(['0.png', '2.png', 'manifest.json']);
      expect(sent.get(`${name}.${task.requestId}`) ?? 0).toBeLessThan(10 * roomBytes);
    }
    // Other programs write and remove files on this disk, too.
    expect(timesFetched('endless', full)).toBeLessThanOrEqual(3);
    await expectOthersToSucceed(fullQueue);
  }, 120_000);

  it('gives up one that comes too slowly', async () => {
    const words = async (): Promise<string> => (await slow.task.status()).problem?.message ?? '';
    await eventually(async () => (await words()) !== '', withinAWindow);
    expect(await words()).toMatch(/1 of 3 outputs.*output 1: it comes too slowly/);
    expect(filesOf(slow)).toEqual(['0.png', '2.png', 'manifest.json']);
    expect(timesFetched('slow', slow)).toBe(1);
  }, 120_000);

  it('can be given up, and archived once the limits allow it', async () => {
    const givenUp = await follow('endless-a');
    await problemOf(givenUp);
    await givenUp.task.abandon();
    await expect(givenUp.task.result()).rejects.toMatchObject({ failureType: 'ArchiveIncomplete' });
    areWhole = true;
    await Promise.all(workers.map((worker) => worker.stop()));
    await startWorker({});
    await startWorker({}, fullQueue);
    for (const one of [slow, endless, tooMany, full, huge]) {
      // It may have tried by itself already.
      await one.task.rearchive().catch(() => undefined);
      expect(await one.task.result()).toMatchObject({ status: 'Success' });
      expect(filesOf(one)).toHaveLength(namesIn(one.requestId).length + 1);
    }
    // What was there was not fetched again; on the full disk one task may have been in the way of another.
    expect([slow, endless, tooMany].flatMap((one) => [timesFetched('a', one), timesFetched('b', one)])).toEqual([
      1, 1, 1, 1, 1, 0,
    ]);
  }, 120_000);
});
