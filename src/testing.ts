/**
 * Longhaul in memory, for the tests of a backend: its client is the real one, and the test ends the tasks. A module of
 * its own, which no program needs beside its tests.
 * @example
 * const fake = fakeLonghaul();
 * const order = placeOrder(fake.longhaul, 'order-17');
 * (await fake.task('order-17')).succeed([{ name: '0.png', content: picture }]);
 * expect(await order).toEqual({ state: 'ready' });
 */
import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FakeRun } from './client/testing/fake-run';
import { FakeTemporal } from './client/testing/fake-temporal';
import type { InputStaging, OutputArchive, TaskOutput } from './client/task/task-files';
import type { FailureDetails } from './contract/failure-details';
import type { FailureType } from './contract/failure-types';
import type { TaskInput } from './contract/task-input';
import { taskWorkflowId } from './contract/workflow-ids';
import type { LonghaulStatus, TerminalStatus } from './core/task-state';
import { Longhaul } from './index';

/** An output of a task that a test ends. */
export interface FakeOutput {
  /** With its extension, such as `0.png`. */
  readonly name: string;
  readonly content: Uint8Array | string;
  /** @default `application/octet-stream` */
  readonly contentType?: string;
}

/** What a task did not end well with. */
export interface FakeFailure<Type extends FailureType = FailureType> {
  /** @default words that name the type */
  readonly message?: string;
  /** What `TaskFailedError.detailsOf` returns. @default those of a task without outputs, or none */
  readonly details?: Type extends keyof FailureDetails ? FailureDetails[Type] : undefined;
}

/** A task that was started, for its test to drive. Every method throws when it is over. */
export interface FakeTask {
  /** What it was started with. */
  readonly input: TaskInput;
  /** What `status` and `events` show. `Queuing`, `Preparing` and `Running` are the service's own. */
  report(status: Exclude<LonghaulStatus, TerminalStatus>, queuePosition?: number): void;
  /** Ends it as `Success`. */
  succeed(outputs: readonly [FakeOutput, ...FakeOutput[]]): void;
  /** Ends it as `Failed`: `result` throws `TaskFailedError`. */
  fail<Type extends FailureType>(type: Type, failure?: FakeFailure<Type>): void;
}

/** What {@link fakeLonghaul} makes. */
export interface FakeLonghaul {
  /** For the code under test. It has no batches, lists and adoptions; a stop ends a task at once. */
  readonly longhaul: Longhaul;
  /** The latest run of a key, as soon as it is started. */
  task(key: string): Promise<FakeTask>;
  /** Forgets a task that is over, as Temporal does when its retention ends. */
  forget(key: string): void;
}

/** One for each test: it shares nothing with others and opens nothing. */
export function fakeLonghaul(): FakeLonghaul {
  const archived = new Map<string | null, readonly TaskOutput[]>();
  const runs = new Map<string, FakeRun>();
  const started = new EventEmitter();
  const temporal = new FakeTemporal((run) => {
    runs.set(run.status.workflowId, run);
    started.emit(run.status.workflowId);
  });
  const archive: OutputArchive = { outputs: ({ requestId }) => Promise.resolve(archived.get(requestId) ?? []) };
  return {
    longhaul: new Longhaul({ client: temporal.client, archive, staging }),
    task: async (key) => {
      const workflowId = taskWorkflowId(key);
      if (!runs.has(workflowId)) await once(started, workflowId);
      const run = runs.get(workflowId);
      if (run === undefined) throw new Error(`The task ${workflowId} was forgotten.`);
      return fakeTask(run, archived);
    },
    forget: (key) => {
      temporal.forget(taskWorkflowId(key));
      runs.delete(taskWorkflowId(key));
    },
  };
}

function fakeTask(run: FakeRun, archived: Map<string | null, readonly TaskOutput[]>): FakeTask {
  return {
    input: run.input,
    report: (status, queuePosition) => {
      run.become(status, serviceStates[status] ?? run.status.serviceStatus, queuePosition);
    },
    succeed: (outputs) => {
      run.become('Success', 'Success');
      const folder = `s3://fake/${encodeURIComponent(run.status.requestId ?? '')}`;
      const made = outputs.map((output, index) => taskOutput(output, index, folder));
      archived.set(run.status.requestId, made);
      run.complete(run.result('Success', made, `${folder}/manifest.json`));
    },
    fail: (type, { message = `The test ended it as ${type}.`, details } = {}) => {
      if (paidFailures.includes(type)) run.become('Failed', 'Failed');
      const ofTask = { requestId: run.status.requestId, result: run.result('Failed') };
      run.fail(type, message, details ?? (paidFailures.includes(type) ? ofTask : undefined));
    },
  };
}

/** What the service says meanwhile. */
const serviceStates: Partial<Record<LonghaulStatus, string>> = {
  Queuing: 'Queuing',
  Preparing: 'Preparing',
  Running: 'Running',
  Archiving: 'Success',
  ArchiveIncomplete: 'Success',
};
/** Of a task that was created and ended; each has a result or a request id in its details. */
const paidFailures: readonly FailureType[] = ['TaskFailed', 'SuccessNoOutputs', 'ResultLost', 'ArchiveIncomplete'];

function taskOutput({ name, content, contentType }: FakeOutput, index: number, folder: string): TaskOutput {
  const bytes = Buffer.from(content);
  const path = `${folder}/${name}`;
  return {
    index,
    name,
    contentType: contentType ?? 'application/octet-stream',
    bytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    path,
    read: () => Promise.resolve(Readable.from([bytes], { objectMode: false })),
    link: () => Promise.resolve(path.replace('s3://', 'https://')),
  };
}

const staging: InputStaging = {
  keep: async (content, name) => {
    const bytes = await buffer(content);
    if (bytes.length === 0) throw Object.assign(new Error(`${name} is empty`), { code: 'EMPTY' });
    return `s3://fake/${createHash('sha256').update(bytes).digest('hex')}/${name}`;
  },
};
