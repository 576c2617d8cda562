import { randomUUID } from 'node:crypto';
import {
  abandonUpdate,
  adoptUpdate,
  callbackSignal,
  cancelSignal,
  interruptSignal,
  recreateUpdate,
} from '../../src/contract/task-messages';
import { eventually } from '../support/eventually';
import { activitiesOf, FakeService, noObjection, seen } from '../support/fake-activities';
import { runChainOf } from '../support/run-chain';
import {
  executionOf,
  failureOf,
  fastTuning,
  type RunningTask,
  type StartedTask,
  TaskEnvironment,
} from '../support/task-environment';
import { uncertain } from '../support/uncertain-create';

/** A run ends after a handful of questions to the service. */
const tuning = { ...fastTuning, continueAsNewAfterEvents: 40 };
const questions = Array.from({ length: 12 }, (_one, index) => index + 1);

const environment = TaskEnvironment.forSuite();

/** A service that sends this as its n-th question is answered: it arrives beside the answer, in the workflow task that may continue as new. */
function uncertainService(question: number, send: () => Promise<unknown>): FakeService {
  const service = new FakeService({
    createOutcomes: [uncertain],
    knownAs: ['true-id', 'request-1'],
    script: [seen('Running')],
  });
  let asked = 0;
  const { onCheckAdoption } = service;
  service.onCheckAdoption = (requestId) => {
    if (requestId !== 'unanswered') return onCheckAdoption(requestId);
    asked += 1;
    if (asked === question) sending.push(send());
    return Promise.resolve({ ...noObjection, poll: { seen: 'nothing', problem: 'HTTP 500' } });
  };
  return service;
}

/** Runs a task for each question, sends this inside it, and checks how the task ends. */
async function inEachQuestion(
  send: (task: RunningTask, service: FakeService) => Promise<unknown>,
  check: (task: StartedTask, service: FakeService) => Promise<void>,
): Promise<void> {
  const services = new Map<string, FakeService>();
  for (const question of questions) {
    const id = `task:${randomUUID()}-${question}`;
    const service: FakeService = uncertainService(question, () =>
      send(environment.client.workflow.getHandle(id), service),
    );
    services.set(id, service);
  }
  let runs = 0;
  sending = [];
  areTasksOver = false;
  await environment.withWorkers(activitiesOf(services), async (start) => {
    const tasks = await Promise.all([...services.keys()].map((id) => start({ tuning, inputs: {} }, id)));
    await Promise.all(
      tasks.map((task) => task.signal(callbackSignal, { requestId: 'unanswered', createNumber: 1, status: 'x' })),
    );
    await Promise.all(
      tasks.map(async (task) => {
        await check(task, services.get(task.workflowId)!);
        const chain = await runChainOf(environment.client, task.workflowId, task.firstExecutionRunId);
        runs += chain.length;
      }),
    );
    areTasksOver = true;
    await Promise.all(sending);
  });
  expect(runs).toBeGreaterThan(questions.length);
}

/** Messages on their way, and whether the tasks that they are for are over. */
let sending: Promise<unknown>[] = [];
let areTasksOver = false;

/** Sends an update, again when a continuation came between. */
async function update(send: () => Promise<unknown>): Promise<void> {
  const sent = async (): Promise<boolean> => areTasksOver || (await send(), true);
  await eventually(sent, { withinMs: 60_000 }).catch(() => undefined);
}

describe('messages that arrive in the moment in which an uncertain create continues as new', () => {
  it.each<[string, (task: RunningTask) => Promise<unknown>, string, readonly number[]]>([
    [
      'every true callback is adopted',
      (task) => task.signal(callbackSignal, { requestId: 'true-id', createNumber: 1, status: 'Success' }),
      ...(['true-id', [1]] as const),
    ],
    [
      'every adopt is carried out',
      (task) => update(() => task.executeUpdate(adoptUpdate, { args: [{ requestId: 'true-id' }] })),
      ...(['true-id', [1]] as const),
    ],
    [
      'every recreate makes one more create, and is never carried out twice',
      (task) => update(() => task.executeUpdate(recreateUpdate)),
      ...(['request-1', [1, 2]] as const),
    ],
  ])('are never lost: %s', async (_, send, requestId, creates) => {
    await inEachQuestion(send, async (task, service) => {
      await eventually(() => service.calls.polls > 0, { withinMs: 60_000 });
      service.script = [seen('Success')];
      expect(await task.result()).toMatchObject({ status: 'Success', requestId });
      expect(service.calls.creates.map(({ createNumber }) => createNumber)).toEqual(creates);
    });
  });

  it.each<[string, (task: RunningTask) => Promise<unknown>, string]>([
    ['every abandon ends the task', (task) => update(() => task.executeUpdate(abandonUpdate)), 'CreateUncertain'],
    ['every stop ends it as StopUnconfirmed', (task) => task.cancel(), 'StopUnconfirmed'],
  ])('are never lost: %s', async (_, send, failureType) => {
    await inEachQuestion(send, async (task, service) => {
      expect((await failureOf(task)).type).toBe(failureType);
      expect(service.calls.creates).toHaveLength(1);
    });
  });

  it('are never lost, all of them in one moment: what was decided is carried out, and the task is stopped', async () => {
    await inEachQuestion(
      async (task) => {
        await Promise.all([
          task.signal(cancelSignal),
          task.signal(interruptSignal),
          task.signal(callbackSignal, { requestId: 'true-id', createNumber: 1, status: 'Success' }),
          update(() => task.executeUpdate(adoptUpdate, { args: [{ requestId: 'true-id' }] })),
          task.cancel(),
        ]);
      },
      async (task, service) => {
        const execution = await executionOf(task);
        // The callback, or the update, was there before the stop was looked at: then the stop ends the task itself.
        const ending = execution === 'CANCELLED' ? service.calls.verbs.join() : (await failureOf(task)).type;
        expect(['interrupt', 'StopUnconfirmed']).toContain(ending);
        expect(service.calls.creates).toHaveLength(1);
      },
    );
  });
});
