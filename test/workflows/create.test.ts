import { setTimeout as delay } from 'node:timers/promises';
import { heartbeat } from '@temporalio/activity';
import { refusedForNow } from '../../src/activities/to-application-failure';
import { pendingProblem } from '../../src/client/task/pending-work';
import { toMs } from '../../src/client/workflow-info';
import { statusQuery } from '../../src/contract/task-messages';
import type { CreateNotSent, CreateOutcome } from '../../src/core/create-outcome';
import { eventually } from '../support/eventually';
import { FakeService, finalFailure, seen, untilCancelled } from '../support/fake-activities';
import { pendingCreate } from '../support/pending-create';
import {
  executionOf,
  failureOf,
  fastTuning,
  listedStatusOf,
  type RunningTask,
  stopRequestOf,
  TaskEnvironment,
  whenStatusIs,
} from '../support/task-environment';
import { refusedCreate } from '../support/refused-create';

const notSent: CreateNotSent = { outcome: 'notSent', reason: 'connect ECONNREFUSED' };
const busy = refusedCreate(429, 'queue full');
const noInputs = { inputs: {} };

const environment = TaskEnvironment.forSuite();

describe('the create of a task', () => {
  it.concurrent('is sent again, under the same number, until it was sent, and then never more', async () => {
    const service = new FakeService({ createOutcomes: [notSent, notSent, notSent] });
    const status = await environment.withTask(service.activities, noInputs, async (task) => {
      await task.result();
      return task.query(statusQuery);
    });
    expect(service.calls.creates.map(({ createNumber }) => createNumber)).toEqual([1, 1, 1, 1]);
    expect(status).toMatchObject({ status: 'Success', createRequests: 1 });
  });

  it.concurrent(
    'is a pending activity while it waits, with its attempt, its last failure in words and its next try',
    async () => {
      const service = new FakeService({ createOutcomes: [notSent, { ...busy, retryAfterMs: 60_000 }] });
      await environment.withTask(service.activities, noInputs, async (task) => {
        const { lastFailure, nextMs } = await pendingCreate(task, 3);
        expect(lastFailure).toBe('The service refused the create for now (HTTP 429): queue full');
        // Since it was to be sent first, however often it was tried since.
        const { raw, startTime } = await task.describe();
        const problem = await pendingProblem(environment.client, raw.pendingActivities ?? []);
        expect(problem).toMatchObject({ code: 'Retrying', message: `createTask: ${lastFailure}` });
        const { scheduledTime, lastAttemptCompleteTime } = raw.pendingActivities?.[0] ?? {};
        expect(toMs(scheduledTime) ?? 0).toBeGreaterThan(toMs(lastAttemptCompleteTime) ?? Infinity);
        // Its first state is wanted since its start, however late a worker took it up.
        expect(await task.query(statusQuery)).toMatchObject({
          since: startTime.toISOString(),
          startedAt: startTime.toISOString(),
        });
        const sinceMs = Date.parse(problem?.since ?? '');
        expect(sinceMs).toBeGreaterThanOrEqual(startTime.getTime());
        expect(sinceMs).toBeLessThan(toMs(lastAttemptCompleteTime) ?? 0);
        expect(nextMs).toBeGreaterThan(50_000);
        expect(await task.query(statusQuery)).toMatchObject({
          status: 'Creating',
          waitingFor: expect.stringContaining('createTask') as string,
          createRequests: 0,
        });
      });
    },
  );

  it.concurrent('is paused, unpaused and hurried by an operator, as any pending activity', async () => {
    const service = new FakeService();
    service.createOutcomes = [
      { ...busy, retryAfterMs: 60_000 },
      { ...busy, retryAfterMs: 300 },
    ];
    const { workflowService } = environment.client;
    await environment.withTask(service.activities, noInputs, async (task) => {
      const create = { namespace: 'default', execution: { workflowId: task.workflowId }, type: 'createTask' };
      await pendingCreate(task);
      await workflowService.resetActivity(create);
      await eventually(() => service.calls.creates.length === 2);
      await workflowService.pauseActivity({ ...create, identity: 'an operator' });
      await eventually(async () => (await task.describe()).raw.pendingActivities?.[0]?.paused === true);
      const { raw } = await task.describe();
      const problem = await pendingProblem(environment.client, raw.pendingActivities ?? []);
      expect(problem).toMatchObject({ code: 'Paused', remedy: expect.stringContaining('Unpause') as string });
      expect(problem?.message).toMatch(/^createTask is paused by an operator: .*queue full/);
      await delay(1_000);
      expect(service.calls.creates).toHaveLength(2);
      await workflowService.unpauseActivity(create);
      expect(await task.result()).toMatchObject({ status: 'Success' });
    });
    expect(service.calls.creates).toHaveLength(3);
  });

  it.concurrent('costs no history while it waits, however often it is tried', async () => {
    const lengthAfter = async (tries: number): Promise<number> => {
      const service = new FakeService({ createOutcomes: Array.from({ length: tries }, () => busy) });
      return environment.withTask(service.activities, { ...noInputs, watch: 'activity' }, async (task) => {
        await task.result();
        expect(service.calls.creates).toHaveLength(tries + 1);
        return (await task.describe()).historyLength;
      });
    };
    const [none, many] = await Promise.all([lengthAfter(0), lengthAfter(20)]);
    expect(many).toBe(none);
  });

  it.concurrent.each([
    ['Temporal’s cancellation', (task: RunningTask): Promise<unknown> => task.cancel(), 'CANCELLED'],
    ['the verb cancel', (task: RunningTask): Promise<unknown> => task.signal('cancel'), 'COMPLETED'],
  ])('waits no longer when it is stopped by %s, and nothing is created', async (_what, stop, execution) => {
    const service = new FakeService({ createOutcomes: [{ ...busy, retryAfterMs: 60_000 }] });
    await environment.withTask(service.activities, noInputs, async (task) => {
      await pendingCreate(task);
      await stop(task);
      expect(await executionOf(task)).toBe(execution);
    });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent('that is refused for now while a stop waits for its answer is not sent again', async () => {
    const service = new FakeService();
    await environment.withTask(service.activities, noInputs, async (task) => {
      service.createOutcomes = [
        async () => {
          await task.cancel();
          await eventually(async () => (await stopRequestOf(task, 'stop')).outcome === 'waiting');
          throw refusedForNow(busy);
        },
      ];
      expect(await executionOf(task)).toBe('CANCELLED');
    });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent('waits as long as the service asks when it is refused for now, and never fails for it', async () => {
    const service = new FakeService({
      createOutcomes: [{ ...busy, retryAfterMs: 400 }, busy, busy, busy, busy, busy, busy],
    });
    const result = await environment.withTask(service.activities, noInputs, (task) => task.result());
    expect(result.status).toBe('Success');
    expect(service.calls.creates).toHaveLength(8);
    const [first = 0, second = 0] = service.calls.createdAtMs;
    expect(second - first).toBeGreaterThanOrEqual(400);
  });

  it.concurrent('is not sent after the task’s deadline, however long the service asks to wait', async () => {
    const service = new FakeService({ createOutcomes: [{ ...busy, retryAfterMs: 60_000 }] });
    const input = { ...noInputs, deadlines: { total: 5_000 } };
    const failure = await environment.withTask(service.activities, input, failureOf);
    expect(failure.type).toBe('DeadlineExceeded');
    expect(failure.message).toMatch(/deadlines\.total.*Nothing was created\..*queue full/);
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent('fails the task as TaskRejected in the service’s own words', async () => {
    const service = new FakeService();
    const message = 'The app 7 does not exist.';
    service.createOutcomes = [refusedCreate(404, message, { code: 20224 })];
    await environment.withTask(service.activities, noInputs, async (task) => {
      expect(await failureOf(task)).toMatchObject({
        type: 'TaskRejected',
        message: `The service rejected the task: ${message}`,
        details: [{ httpStatus: 404, code: 20224 }],
      });
      expect(await listedStatusOf(task)).toBe('Failed');
    });
    expect(service.calls.creates).toHaveLength(1);
    expect(service.calls.polls).toBe(0);
  });

  it.concurrent('fails by the activity’s own type when it could never be sent', async () => {
    const service = new FakeService({ createOutcomes: [finalFailure('AccountUnknown', 'no account "team-b"')] });
    const failure = await environment.withTask(service.activities, noInputs, failureOf);
    expect(failure).toMatchObject({ type: 'AccountUnknown', message: 'no account "team-b"' });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent('is accepted when its worker was lost after it had told the request id', async () => {
    const service = new FakeService();
    service.createOutcomes = [
      () => {
        heartbeat({ archiveId: 'archive-of-all', requestId: 'request-told' });
        return untilCancelled();
      },
    ];
    const tuning = { ...fastTuning, createTimeoutMs: 2_000 };
    const result = await environment.withTask(service.activities, { ...noInputs, tuning }, (task) => task.result());
    expect(result).toMatchObject({ status: 'Success', requestId: 'request-told' });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.concurrent(
    'is found out about, and not sent again, when its worker was lost after it had claimed its record',
    async () => {
      const service = new FakeService();
      service.createOutcomes = [
        () => {
          heartbeat({ archiveId: 'archive-of-all', requestId: 'two words' });
          return untilCancelled();
        },
      ];
      const tuning = { ...fastTuning, createTimeoutMs: 2_000 };
      await environment.withTask(service.activities, { ...noInputs, tuning }, async (task) => {
        await whenStatusIs(task, 'CreateUncertain');
        expect(service.calls.creates).toHaveLength(1);
      });
      expect(service.calls.creates).toHaveLength(1);
    },
  );

  it.concurrent('counts the creates that the service refused among those that were sent', async () => {
    const service = new FakeService();
    service.createOutcomes = [
      () => Promise.resolve({ outcome: 'accepted', requestId: 'request-1', sent: 3 } as CreateOutcome),
    ];
    await environment.withTask(service.activities, noInputs, async (task) => {
      await task.result();
      expect((await task.query(statusQuery)).createRequests).toBe(3);
    });
  });

  it.concurrent('hands a task that is accepted to the watch with a stop that came meanwhile', async () => {
    const service = new FakeService({ script: [seen('Queuing')] });
    await environment.withTask(service.activities, noInputs, async (task) => {
      service.createOutcomes = [
        async () => {
          await task.signal('cancel');
          return { outcome: 'accepted', requestId: 'request-1' };
        },
      ];
      expect(await task.result()).toMatchObject({ status: 'Canceled', requestId: 'request-1' });
    });
    expect(service.calls.verbs).toEqual(['cancel']);
  });
});
