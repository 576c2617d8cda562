import { statusQuery } from '../../src/contract/messages';
import type { TaskStatus } from '../../src/contract/task-status';
import type { GateAnswer } from '../../src/domain/gate-answer';
import { eventually } from '../support/eventually';
import { FakeService, finalFailure } from '../support/fake-activities';
import { executionOf, failureOf, type RunningTask, TaskEnvironment } from '../support/task-environment';

const noInputs = { inputs: {} };
const trouble = 'the service refused the last create (HTTP 429: queue full); 3 tasks are before this one';

let environment: TaskEnvironment;
beforeAll(async () => {
  environment = await TaskEnvironment.open();
});
afterAll(() => environment.close());

function wait(waitMs: number): GateAnswer {
  return { pass: false, waitMs, reason: trouble };
}

/** How the task stands as soon as it waits at the gate. */
function whenWaiting(task: RunningTask): Promise<TaskStatus | undefined> {
  return eventually(async () => {
    const status = await task.query(statusQuery);
    return status.waitingFor.startsWith('the gate') ? status : undefined;
  });
}

describe('a task at the gate of its account', () => {
  it('asks before its create, and asks again when it was told to, until it passes', async () => {
    const service = new FakeService();
    service.gateAnswers = [wait(300), wait(20)];
    const result = await environment.withTask(service.activities, noInputs, (task) => task.result());
    expect(result.status).toBe('Success');
    expect(service.calls.creates).toHaveLength(1);
    expect(service.calls.gate).toHaveLength(3);
  });

  it('asks before each create, with the moment of its first question, so that it keeps its place', async () => {
    const service = new FakeService();
    service.createOutcomes = [
      { outcome: 'notSent', reason: 'ECONNREFUSED' },
      { outcome: 'rejected', retryable: true, httpStatus: 503, message: 'queue full' },
    ];
    service.gateAnswers = [wait(30)];
    await environment.withTask(service.activities, noInputs, (task) => task.result());
    expect(service.calls.creates).toHaveLength(3);
    expect(service.calls.gate).toHaveLength(4);
    expect(new Set(service.calls.gate.map(({ sinceMs }) => sinceMs)).size).toBe(1);
    expect(service.calls.gate[0]?.account).toBe('default');
  });

  it('shows what it waits for, and for how long', async () => {
    const service = new FakeService();
    service.gateAnswers = [wait(3_600_000)];
    await environment.withTask(service.activities, noInputs, async (task) => {
      expect(await whenWaiting(task)).toMatchObject({
        status: 'Creating',
        waitingFor: `the gate of the account "default": ${trouble}`,
        nextStep: 'ask it again in 1 h; nothing is paid so far',
        createRequests: 0,
      });
    });
    expect(service.calls.creates).toHaveLength(0);
  });

  it.each([
    ['Temporal’s cancellation', (task: RunningTask): Promise<unknown> => task.cancel(), 'CANCELLED'],
    ['the verb cancel', (task: RunningTask): Promise<unknown> => task.signal('cancel'), 'COMPLETED'],
  ])('waits no longer when it is stopped by %s, and nothing is created', async (_what, stop, execution) => {
    const service = new FakeService();
    service.gateAnswers = [wait(3_600_000)];
    await environment.withTask(service.activities, noInputs, async (task) => {
      await whenWaiting(task);
      await stop(task);
      expect(await executionOf(task)).toBe(execution);
    });
    expect(service.calls.creates).toHaveLength(0);
  });

  it('is not created after its deadline, however long the gate is closed', async () => {
    const service = new FakeService();
    service.gateAnswers = [wait(3_600_000)];
    const input = { ...noInputs, deadlines: { total: 2_000 } };
    const failure = await environment.withTask(service.activities, input, failureOf);
    expect(failure.type).toBe('DeadlineExceeded');
    expect(failure.message).toMatch(/deadlines\.total.*Nothing was created\./);
    expect(service.calls.creates).toHaveLength(0);
  });

  it('passes a gate that cannot be asked: no task depends on it', async () => {
    const service = new FakeService();
    service.gateAnswers = [finalFailure('AccountUnknown', 'no account "team-b"')];
    const result = await environment.withTask(service.activities, noInputs, (task) => task.result());
    expect(result.status).toBe('Success');
  });

  it('spends 6 events on each further question', async () => {
    const lengthAfter = async (questions: number): Promise<number> => {
      const service = new FakeService();
      service.gateAnswers = Array.from({ length: questions }, () => wait(10));
      return environment.withTask(service.activities, noInputs, async (task) => {
        await task.result();
        return (await task.describe()).historyLength;
      });
    };
    const [few, many] = await Promise.all([lengthAfter(1), lengthAfter(21)]);
    expect((many - few) / 20).toBeLessThanOrEqual(6);
  });
});
