import { callbackSignal, interruptSignal, statusQuery } from '../../src/contract/task-messages';
import { eventually } from '../support/eventually';
import { blocked, FakeService, finalFailure, seen } from '../support/fake-activities';
import {
  executionOf,
  fastTuning,
  type RunningTask,
  TaskEnvironment,
  type TestInput,
  whenStatusIs,
} from '../support/task-environment';
import { uncertain } from '../support/uncertain-create';

/** `SIGNALS=10000` sends as many as one run of a workflow takes. */
const count = Number(process.env['SIGNALS'] ?? 300);
const senders = 50;

/**
 * Two, as in earnest: Temporal's core may lose a workflow task that comes before it has heard of the end of the former
 * one ("Trying to send a new WFT for a run which already has one"), and then that worker answers for this run no more.
 */
const workers = { executionTimeout: '300 seconds', workflowWorkers: 2 } as const;

const environment = TaskEnvironment.forSuite();

/** Sends thousands of callbacks about tasks that are none, side by side; those that Temporal refuses are not repeated. */
async function flood(task: RunningTask): Promise<void> {
  let next = 0;
  const sender = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) {
      await task
        .signal(callbackSignal, { requestId: `forged-${index}`, createNumber: 1, status: 'Success' })
        .catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: senders }, sender));
}

/**
 * The receiver answers a callback that Temporal does not take with an error, and the service sends it again; unless the
 * task has seen the end by itself meanwhile.
 */
async function callBack(task: RunningTask, requestId: string): Promise<void> {
  await eventually(
    async () => {
      try {
        await task.signal(callbackSignal, { requestId, createNumber: 1, status: 'Success' });
      } catch (error) {
        if ((await task.describe()).status.name === 'RUNNING') throw error;
      }
      return true;
    },
    { withinMs: 60_000, what: 'Temporal to take the true callback' },
  );
}

/** Rarer than messages. */
const seldom = { ...fastTuning, poll: { minMs: 5_000, maxMs: 5_000 } };

interface Step {
  readonly input: TestInput;
  /** Prepares the service; returns how the task gets on from the step, once it is there. */
  readonly begin: (service: FakeService) => {
    readonly reached: (task: RunningTask) => Promise<unknown>;
    readonly goOn: (task: RunningTask) => Promise<unknown>;
    /** Ends an activity that is held up, which its worker would wait for. */
    readonly release?: () => void;
  };
  /** How a stop ends it there. */
  readonly stopped: 'CANCELLED' | 'FAILED' | 'COMPLETED';
}

const steps: Record<string, Step> = {
  'while an input is uploaded': {
    input: {},
    begin: (service) => {
      const { until, release } = blocked();
      service.onUpload = until;
      return {
        reached: () => eventually(() => service.calls.uploads.length > 0),
        goOn: () => {
          release();
          return Promise.resolve();
        },
        release,
      };
    },
    stopped: 'CANCELLED',
  },
  'whose create waits for its turn': {
    input: { inputs: {} },
    begin: (service) => {
      service.heldBackMs = 500;
      return {
        reached: () => eventually(() => service.calls.heldBack > 0),
        goOn: () => {
          service.heldBackMs = undefined;
          return Promise.resolve();
        },
      };
    },
    stopped: 'CANCELLED',
  },
  'with an uncertain create': {
    input: { inputs: {} },
    begin: (service) => {
      service.createOutcomes = [uncertain];
      service.knownAs = ['true-id'];
      return { reached: (task) => whenStatusIs(task, 'CreateUncertain'), goOn: (task) => callBack(task, 'true-id') };
    },
    stopped: 'FAILED',
  },
  'while it is watched by timer': {
    input: { inputs: {}, tuning: seldom },
    begin: (service) => {
      service.script = [seen('Running')];
      return {
        reached: (task) => callBackUntilPolled(service, task),
        goOn: async (task) => {
          service.script = [seen('Success')];
          await callBack(task, 'request-1');
        },
      };
    },
    stopped: 'CANCELLED',
  },
  'while it is watched by activity': {
    input: { inputs: {}, watch: 'activity', tuning: seldom },
    begin: (service) => {
      service.script = [seen('Running')];
      return {
        reached: (task) => whenStatusIs(task, 'Watching'),
        goOn: async (task) => {
          service.script = [seen('Success')];
          await callBack(task, 'request-1');
        },
      };
    },
    stopped: 'CANCELLED',
  },
  'while it is archived': {
    input: { inputs: {} },
    begin: (service) => {
      service.script = [seen('Success')];
      const { until, release } = blocked();
      service.onArchive = until;
      return {
        reached: async (task) => {
          await eventually(async () => (await task.query(statusQuery)).status === 'Archiving');
        },
        goOn: () => {
          release();
          return Promise.resolve();
        },
      };
    },
    stopped: 'COMPLETED',
  },
  'with an incomplete archive': {
    input: { inputs: {} },
    begin: (service) => {
      service.script = [seen('Success')];
      service.archiveFailures = [finalFailure('OutputUnavailable', 'no link')];
      return {
        reached: (task) => whenStatusIs(task, 'ArchiveIncomplete'),
        goOn: (task) => task.executeUpdate('rearchive'),
      };
    },
    stopped: 'COMPLETED',
  },
};

async function callBackUntilPolled(service: FakeService, task: RunningTask): Promise<void> {
  await whenStatusIs(task, 'Queuing');
  await task.signal(callbackSignal, { requestId: 'request-1', createNumber: 1, status: 'Success' });
  await eventually(() => service.calls.polls > 0);
}

describe.each(Object.entries(steps))(`${count} forged callbacks to a task %s`, (_, { input, begin, stopped }) => {
  it('leave it going on: the true callback or decision is taken, and nothing is done twice', async () => {
    const service = new FakeService();
    const { reached, goOn, release } = begin(service);
    await environment.withTask(
      service.activities,
      input,
      async (task) => {
        await reached(task);
        await flood(task);
        await goOn(task);
        expect(await task.result()).toMatchObject({ status: 'Success' });
      },
      workers,
    );
    expect(service.calls.creates).toHaveLength(1);
    // One that is held up for long, without a heartbeat, is tried again; that costs nothing.
    expect(service.calls.uploads.length).toBeLessThanOrEqual(release === undefined ? 1 : 10);
  }, 300_000);

  it('leave it stoppable while they come', async () => {
    const service = new FakeService();
    const { reached, goOn, release } = begin(service);
    await environment.withTask(
      service.activities,
      input,
      async (task) => {
        await reached(task);
        const sending = flood(task);
        await task.signal(interruptSignal);
        await task.cancel();
        if (stopped === 'COMPLETED') await goOn(task);
        expect(await executionOf(task)).toBe(stopped);
        release?.();
        await sending;
      },
      workers,
    );
    expect(service.calls.creates.length).toBeLessThanOrEqual(1);
  }, 300_000);
});
