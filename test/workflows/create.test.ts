import { heartbeat } from '@temporalio/activity';
import { statusQuery } from '../../src/contract/messages';
import type { CreateOutcome } from '../../src/domain/create-outcome';
import { eventually } from '../support/eventually';
import { FakeService, finalFailure, seen, untilCancelled } from '../support/fake-activities';
import { failureOf, fastTuning, listedStatusOf, TaskEnvironment, whenStatusIs } from '../support/task-environment';

const notSent: CreateOutcome = { outcome: 'notSent', reason: 'connect ECONNREFUSED' };
const busy: CreateOutcome = { outcome: 'rejected', retryable: true, httpStatus: 429, message: 'queue full' };
const noInputs = { inputs: {} };

let environment: TaskEnvironment;
beforeAll(async () => {
  environment = await TaskEnvironment.open();
});
afterAll(() => environment.close());

describe('the create of a task', () => {
  it('is sent again, under the same number, until it was sent, and then never more', async () => {
    const service = new FakeService();
    service.createOutcomes = [notSent, notSent, notSent];
    const status = await environment.withTask(service.activities, noInputs, async (task) => {
      await task.result();
      return task.query(statusQuery);
    });
    expect(service.calls.creates.map(({ createNumber }) => createNumber)).toEqual([1, 1, 1, 1]);
    expect(status).toMatchObject({ status: 'Success', createRequests: 1 });
  });

  it('tells why it was not sent while it waits to try again', async () => {
    const service = new FakeService();
    service.createOutcomes = [notSent];
    const tuning = { ...fastTuning, createRetryMs: 60_000, createRetryMaxMs: 60_000 };
    await environment.withTask(service.activities, { ...noInputs, tuning }, async (task) => {
      const status = await eventually(async () => {
        const now = await task.query(statusQuery);
        return now.problem === null ? undefined : now;
      });
      expect(status).toMatchObject({
        status: 'Creating',
        problem: 'The create was not sent: connect ECONNREFUSED',
        waitingFor: 'the next try in 1 m',
        createRequests: 0,
      });
    });
  });

  it('waits as long as the service asks when it is refused for now, and never fails for it', async () => {
    const service = new FakeService();
    service.createOutcomes = [{ ...busy, retryAfterMs: 400 }, busy, busy, busy, busy, busy, busy];
    const result = await environment.withTask(service.activities, noInputs, (task) => task.result());
    expect(result.status).toBe('Success');
    expect(service.calls.creates).toHaveLength(8);
    const [first = 0, second = 0] = service.calls.createdAtMs;
    expect(second - first).toBeGreaterThanOrEqual(400);
  });

  it('is not sent after the task’s deadline, however long the service asks to wait', async () => {
    const service = new FakeService();
    service.createOutcomes = [{ ...busy, retryAfterMs: 3_600_000 }];
    const input = { ...noInputs, deadlines: { total: 5_000 } };
    const failure = await environment.withTask(service.activities, input, failureOf);
    expect(failure.type).toBe('DeadlineExceeded');
    expect(failure.message).toMatch(/deadlines\.total.*Nothing was created\..*queue full/);
    expect(service.calls.creates).toHaveLength(1);
  });

  it('fails the task as TaskRejected in the service’s own words', async () => {
    const service = new FakeService();
    const message = 'The app 7 does not exist.';
    service.createOutcomes = [{ outcome: 'rejected', retryable: false, httpStatus: 404, code: 20224, message }];
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

  it('fails by the activity’s own type when it could never be sent', async () => {
    const service = new FakeService();
    service.createOutcomes = [finalFailure('AccountUnknown', 'no account "team-b"')];
    const failure = await environment.withTask(service.activities, noInputs, failureOf);
    expect(failure).toMatchObject({ type: 'AccountUnknown', message: 'no account "team-b"' });
    expect(service.calls.creates).toHaveLength(1);
  });

  it('is accepted when its worker was lost after it had told the request id', async () => {
    const service = new FakeService();
    service.createOutcomes = [
      () => {
        heartbeat({ requestId: 'request-told' });
        return untilCancelled();
      },
    ];
    const tuning = { ...fastTuning, createTimeoutMs: 2_000 };
    const result = await environment.withTask(service.activities, { ...noInputs, tuning }, (task) => task.result());
    expect(result).toMatchObject({ status: 'Success', requestId: 'request-told' });
    expect(service.calls.creates).toHaveLength(1);
  });

  it.each<[string, () => Promise<CreateOutcome>]>([
    ['its worker was lost before it told a request id', untilCancelled],
    [
      'its worker was lost after it told something else',
      () => {
        heartbeat({ requestId: 'two words' });
        return untilCancelled();
      },
    ],
    ['it threw what nobody expected', () => Promise.reject(new TypeError('a bug'))],
    ['it threw a failure that is not final', () => Promise.reject(new Error('socket hang up'))],
  ])('is uncertain, and not sent again, when %s', async (_what, create) => {
    const service = new FakeService();
    service.createOutcomes = [create];
    const tuning = { ...fastTuning, createTimeoutMs: 2_000 };
    await environment.withTask(service.activities, { ...noInputs, tuning }, async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      expect(service.calls.creates).toHaveLength(1);
    });
    expect(service.calls.creates).toHaveLength(1);
  });

  it('hands a task that is accepted to the watch with a stop that came meanwhile', async () => {
    const service = new FakeService();
    service.script = [seen('Queuing')];
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
