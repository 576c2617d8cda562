import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCreateRecord } from '../../src/archive/create-record';
import type { ScenarioInput } from '../../reference-service/scenarios/scenario';
import type { TaskHandle } from '../../src/client/task/task-handle';
import type { TaskTuning } from '../../src/contract/task-input';
import { createRecordName } from '../../src/contract/workflow-ids';
import type { LonghaulStatus } from '../../src/core/task-state';
import type { SupervisedProcess } from '../../tools/supervise';
import { eventually } from '../support/eventually';
import { listFiles } from '../support/list-files';
import { ProcessStack } from '../support/process-stack';

/** The reference service's app that hands a file back byte for byte: what comes out is known from what went in. */
const courier = 11;
const fileBytes = 1024 * 1024;
const tuning: Partial<TaskTuning> = { poll: { minMs: 150, maxMs: 250 }, retryMaxMs: 200, createTimeoutMs: 20_000 };
const checkOften = { everyMs: 10 };

let stack: ProcessStack;
let worker: SupervisedProcess;
/** SHA-256 of the file that every task sends through the app. */
let sha256: string;

beforeAll(async () => {
  stack = await ProcessStack.open();
  const content = randomBytes(fileBytes);
  sha256 = createHash('sha256').update(content).digest('hex');
  writeFileSync(join(stack.inputs, 'film.mp4'), content);
  worker = await stack.startWorker();
});
afterAll(() => stack.close());

function startTask(more: Partial<TaskTuning> = {}): Promise<TaskHandle> {
  const inputs = { '1:LoadFile.file': { file: join(stack.inputs, 'film.mp4') } };
  return stack.longhaul.start({ key: randomUUID(), webAppId: courier, inputs, tuning: { ...tuning, ...more } });
}

async function killWorker(): Promise<void> {
  process.kill(worker.pid, 'SIGKILL');
  expect(await worker.ended).toEqual({ code: null, signal: 'SIGKILL' });
}

/** Nobody is told of the end of a killed worker, so Temporal finds out by its own timeouts while the next one starts. */
async function restartWorker(): Promise<void> {
  worker = await stack.startWorker();
}

function orderCreate(scenario: ScenarioInput): void {
  stack.service.scenarios.add({ endpoint: 'create', scenario });
}

/** What a test leaves at the service and in the archive, apart from what was there before. */
class Traces {
  readonly #files = listFiles(stack.archive);
  readonly #requests = stack.service.ledger.entries().length;

  entries(endpoint: 'create' | 'detail'): ReturnType<ProcessStack['service']['ledger']['entries']> {
    return stack.service.ledger
      .entries()
      .slice(this.#requests)
      .filter((entry) => entry.endpoint === endpoint);
  }

  /** The request id that the service gave to the only task that was created. */
  createdId(): string {
    const [create] = this.entries('create');
    return create?.requestId ?? '';
  }

  newFiles(): string[] {
    const own = (file: string): boolean => file !== '.archive-id' && !this.#files.includes(file);
    return listFiles(stack.archive).filter(own);
  }
}

/** One create, one whole output, its manifest and its create record, and nothing else. */
async function expectOneWholeTask(traces: Traces, task: TaskHandle): Promise<void> {
  const { workflowId } = task;
  const result = await task.result();
  const requestId = traces.createdId();
  expect(traces.entries('create')).toHaveLength(1);
  expect(result).toMatchObject({ status: 'Success', requestId, outputs: [{ sha256, bytes: fileBytes }] });
  const record = createRecordName(workflowId, 1);
  expect(traces.newFiles()).toEqual([record, `${requestId}/0.mp4`, `${requestId}/manifest.json`]);
  expect(parseCreateRecord(await readFile(join(stack.archive, record)))).toMatchObject({ workflowId, requestId });
  expect(await sha256Of(join(stack.archive, requestId, '0.mp4'))).toBe(sha256);
  expect(await readJson(`${requestId}/manifest.json`)).toMatchObject({
    requestId,
    workflowId,
    inputs: [{ name: 'film.mp4', sha256 }],
    outputs: [{ file: '0.mp4', sha256, bytes: fileBytes }],
  });
}

/** A file of the archive. */
async function readJson(name: string): Promise<unknown> {
  return JSON.parse(await readFile(join(stack.archive, name), 'utf8'));
}

async function sha256Of(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
}

/** Moments that the matrix does not have; there is no receiver here. */
describe('a worker that is killed', () => {
  it('in the watch, twice: the task is followed as if nothing had happened', async () => {
    const traces = new Traces();
    orderCreate({ name: 'hold' });
    const task = await startTask();
    for (const polls of [4, 8]) {
      await eventually(() => traces.entries('detail').length >= polls, checkOften);
      await killWorker();
      await restartWorker();
    }
    await eventually(() => traces.entries('detail').length >= 12, checkOften);
    stack.service.release(traces.createdId());

    await expectOneWholeTask(traces, task);
  });

  it('while the service answers the create: it is not sent again, and adopted by the id that the service knows', async () => {
    const traces = new Traces();
    orderCreate({ name: 'stall' });
    const task = await startTask({ createTimeoutMs: 4_000 });
    await eventually(() => traces.createdId() !== '', checkOften);
    await killWorker();
    await restartWorker();
    await whenStatusIs(task, 'CreateUncertain');
    const { exitCode, stdout } = await stack.run('resolve', task.workflowId, '--adopt', traces.createdId());

    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: `The task ${traces.createdId()} is followed from now on.\n`,
    });
    await expectOneWholeTask(traces, task);
  });

  it('right after the create was answered: it is known or visibly uncertain, and never sent again', async () => {
    const traces = new Traces();
    const task = await startTask({ createTimeoutMs: 4_000 });
    await eventually(() => traces.entries('create').some(({ status }) => status === 202), {
      ...checkOften,
      everyMs: 1,
    });
    await killWorker();
    await restartWorker();
    if ((await statusPastCreate(task)) === 'CreateUncertain') await task.adopt(traces.createdId());

    await expectOneWholeTask(traces, task);
  });
});

async function whenStatusIs(task: TaskHandle, status: LonghaulStatus): Promise<void> {
  await eventually(async () => (await task.status()).status === status, { ...checkOften, what: `status ${status}` });
}

/** How the task stands once it is past its create. */
async function statusPastCreate(task: TaskHandle): Promise<string> {
  let status = '';
  await eventually(async () => {
    ({ status } = await task.status());
    return !['PreparingInputs', 'Creating'].includes(status);
  }, checkOften);
  return status;
}
