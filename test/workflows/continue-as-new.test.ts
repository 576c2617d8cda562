import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import { callbackSignal, cancelSignal, interruptSignal } from '../../src/contract/task-messages';
import { searchAttributes } from '../../src/contract/search-attributes';
import { eventually } from '../support/eventually';
import { activitiesOf, FakeService, seen } from '../support/fake-activities';
import { runChainOf } from '../support/run-chain';
import {
  executionOf,
  failureOf,
  fastTuning,
  type RunningTask,
  type StartedTask,
  type StartTask,
  TaskEnvironment,
} from '../support/task-environment';
import { refusalOf } from '../support/uncertain-create';

/** A run ends after about five polls. */
/** Twenty tasks at a time are stopped on a busy machine, too. */
const shortRuns = { ...fastTuning, continueAsNewAfterEvents: 40, stopGraceMs: 80_000 };
const noInputs = { inputs: {} };

const environment = TaskEnvironment.forSuite();

/** Polls that see the task run, then its end. */
function longRun(polls: number): FakeService {
  const service = new FakeService({
    script: [...Array.from({ length: polls - 1 }, () => seen('Running')), seen('Success')],
  });
  return service;
}

/** Starts one task for each service, all on the same workers. */
async function startAll(start: StartTask, services: Map<string, FakeService>, input = {}): Promise<StartedTask[]> {
  return Promise.all([...services.keys()].map((id) => start({ ...noInputs, tuning: shortRuns, ...input }, id)));
}

describe('a long watch', () => {
  it.concurrent('stays listed, and keeps its memo and its inputs, when nothing changes but the run', async () => {
    const service = new FakeService({
      createOutcomes: [{ outcome: 'uncertain', reason: 'reset' }],
      script: [seen('Running')],
    });
    const input = { tuning: shortRuns, onUncertain: 'recreate', archive: 'campaign-7' };
    await environment.withTask(service.activities, input, async (task) => {
      await eventually(async () => (await task.describe()).runId !== task.firstExecutionRunId);
      const { typedSearchAttributes, memo } = await task.describe();
      expect(typedSearchAttributes.get(searchAttributes.status)).toBe('Running');
      expect(typedSearchAttributes.get(searchAttributes.requestId)).toBe('request-1');
      expect(typedSearchAttributes.get(searchAttributes.app)).toBe('7');
      expect(typedSearchAttributes.get(searchAttributes.account)).toBe('default');
      expect(memo).toEqual({ startedBy: 'a test', createNumber: 2 });
      service.script = [seen('Success')];
      await task.result();
    });
    expect(service.calls.uploads).toHaveLength(1);
    expect(service.calls.archives).toMatchObject([
      { folder: 'campaign-7', inputs: [{ file: 'photo.jpg' }], values: { '2:ImageScale.width': 512 } },
    ]);
  });

  it.concurrent('keeps its deadlines over continuations', async () => {
    const service = longRun(10_000);
    const input = { ...noInputs, tuning: shortRuns, deadlines: { run: 4_000 } };
    await environment.withTask(service.activities, input, async (task) => {
      expect((await failureOf(task)).message).toContain('deadlines.run');
      const chain = await runChainOf(environment.client, task.workflowId, task.firstExecutionRunId);
      expect(chain.length).toBeGreaterThan(1);
    });
    expect(service.calls.verbs).toEqual(['interrupt']);
  });
});

/*
 * A poll is a part of a workflow task: what is sent from inside it reaches the server while the workflow is busy, in
 * the same moment in which it decides to continue as new. One task for each poll, so that some meet it exactly.
 */
describe('messages that arrive around a continuation', () => {
  const polls = Array.from({ length: 20 }, (_one, index) => index + 1);

  /** Runs a task for each poll number; `send` is called inside that poll. */
  async function sendInEachPoll(
    status: string,
    send: (task: RunningTask, service: FakeService) => Promise<unknown>,
    check: (task: StartedTask, service: FakeService) => Promise<void>,
  ): Promise<void> {
    const services = new Map(polls.map((poll) => [`task:${randomUUID()}-${poll}`, new FakeService()]));
    await environment.withWorkers(activitiesOf(services), async (start) => {
      [...services].forEach(([workflowId, service], index) => {
        service.script = [seen(status)];
        service.onPoll = async (poll) => {
          if (poll === polls[index]) await send(environment.client.workflow.getHandle(workflowId), service);
        };
      });
      for (const task of await startAll(start, services)) await check(task, services.get(task.workflowId)!);
    });
  }

  it('are never lost: every interrupt is sent', async () => {
    let continuedRuns = 0;
    await sendInEachPoll(
      'Running',
      (task) => task.signal(interruptSignal),
      async (task, service) => {
        expect(await task.result()).toMatchObject({ status: 'Canceled' });
        expect(service.calls.verbs).toEqual(['interrupt']);
        const chain = await runChainOf(environment.client, task.workflowId, task.firstExecutionRunId);
        continuedRuns += chain.length - 1;
      },
    );
    expect(continuedRuns).toBeGreaterThan(20);
  });

  it('are never lost: every cancel is sent', async () => {
    await sendInEachPoll(
      'Queuing',
      (task) => task.signal(cancelSignal),
      async (task, service) => {
        expect(await task.result()).toMatchObject({ status: 'Canceled' });
        expect(service.calls.verbs).toEqual(['cancel']);
      },
    );
  });

  it('are never lost: every cancellation stops the task and ends the workflow as canceled, without another run', async () => {
    await sendInEachPoll(
      'Running',
      (task, service) => {
        // The stop takes longer than a run may last.
        service.onVerb = () => {
          service.script = [...Array.from({ length: 12 }, () => seen('Running')), seen('Canceled')];
          return { taken: true };
        };
        return task.cancel();
      },
      async (task, service) => {
        expect(await executionOf(task)).toBe('CANCELLED');
        expect(service.calls.verbs).toEqual(['interrupt']);
        const chain = await runChainOf(environment.client, task.workflowId, task.firstExecutionRunId);
        const asked = chain.map(({ events }) => {
          return events.some(({ workflowExecutionCancelRequestedEventAttributes: event }) => event != null);
        });
        expect(asked.indexOf(true)).toBe(chain.length - 1);
      },
    );
  });

  /** Whether the poll is done again, because the message sent in it sent the workflow's decision back. */
  function repetitionCheck(): () => boolean {
    const done = new Set<string>();
    return () => {
      const { activityId, workflowExecution } = activityInfo();
      const poll = `${workflowExecution?.runId ?? ''}/${activityId}`;
      const isRepeated = done.has(poll);
      done.add(poll);
      return isRepeated;
    };
  }

  it('are never lost: a watch whose every poll waits for a callback comes to its end', async () => {
    const services = new Map(polls.slice(0, 6).map((index) => [`task:${randomUUID()}-${index}`, longRun(30 + index)]));
    const isRepeated = repetitionCheck();
    await environment.withWorkers(activitiesOf(services), async (start) => {
      for (const [workflowId, service] of services) {
        const callBack = async (): Promise<void> => {
          const notice = { requestId: 'request-1', createNumber: 1, status: 'Success' };
          await environment.client.workflow.getHandle(workflowId).signal(callbackSignal, notice);
        };
        service.onPoll = () => (isRepeated() ? Promise.resolve() : callBack());
        // The first poll, too, waits for a callback; this one comes before the create's own answer.
        service.createOutcomes = [() => callBack().then(() => ({ outcome: 'accepted', requestId: 'request-1' }))];
      }
      // One lost callback and the next poll is in ten minutes.
      const tuning = { ...shortRuns, poll: { minMs: 600_000, maxMs: 600_000 } };
      for (const task of await startAll(start, services, { tuning })) {
        expect(await task.result()).toMatchObject({ status: 'Success' });
        const chain = await runChainOf(environment.client, task.workflowId, task.firstExecutionRunId);
        expect(chain.length).toBeGreaterThan(2);
      }
    });
  });

  it('are never left without an answer: every update that does not apply is refused', async () => {
    const refusals: Promise<string>[] = [];
    await sendInEachPoll(
      'Running',
      (task, service) => {
        // Not awaited here: its answer needs the workflow task that waits for this poll.
        const refusal = refusalOf(task.executeUpdate('adopt', { args: [{ requestId: 'other' }] })).finally(() => {
          service.script = [seen('Success')];
        });
        refusals.push(refusal);
        return Promise.resolve();
      },
      async (task) => {
        expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'request-1' });
      },
    );
    expect(refusals.length).toBeGreaterThanOrEqual(polls.length);
    for (const refusal of await Promise.all(refusals)) expect(refusal).toContain('waits for no decision now');
  });
});
