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
  it('are never lost: every true callback is adopted', async () => {
    await inEachQuestion(
      (task) => task.signal(callbackSignal, { requestId: 'true-id', createNumber: 1, status: 'Success' }),
      async (task, service) => {
        await eventually(() => service.calls.polls > 0, { withinMs: 60_000 });
        service.script = [seen('Success')];
        expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'true-id' });
        expect(service.calls.creates).toHaveLength(1);
      },
    );
  });

  it('are never lost: every adopt is carried out', async () => {
    await inEachQuestion(
      (task) => update(() => task.executeUpdate(adoptUpdate, { args: [{ requestId: 'true-id' }] })),
      async (task, service) => {
        await eventually(() => service.calls.polls > 0, { withinMs: 60_000 });
        service.script = [seen('Success')];
        expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'true-id' });
        expect(service.calls.creates).toHaveLength(1);
      },
    );
  });

  it('are never lost, and never carried out twice: every recreate makes one more create', async () => {
    await inEachQuestion(
      (task) => update(() => task.executeUpdate(recreateUpdate)),
      async (task, service) => {
        await eventually(() => service.calls.polls > 0, { withinMs: 60_000 });
        service.script = [seen('Success')];
        expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'request-1' });
        expect(service.calls.creates.map(({ createNumber }) => createNumber)).toEqual([1, 2]);
      },
    );
  });

  it('are never lost: every abandon ends the task', async () => {
    await inEachQuestion(
      (task) => update(() => task.executeUpdate(abandonUpdate)),
      async (task, service) => {
        expect((await failureOf(task)).type).toBe('CreateUncertain');
        expect(service.calls.creates).toHaveLength(1);
      },
    );
  });

  it('are never lost: every stop ends it as StopUnconfirmed', async () => {
    await inEachQuestion(
      (task) => task.cancel(),
      async (task, service) => {
        expect((await failureOf(task)).type).toBe('StopUnconfirmed');
        expect(service.calls.creates).toHaveLength(1);
      },
    );
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
