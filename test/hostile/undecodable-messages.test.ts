import { randomUUID } from 'node:crypto';
import type { ApplicationFailure } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { accountDayWorkflowId } from '../../src/contract/account-day';
import { progressQuery } from '../../src/contract/batch/batch-messages';
import { statusQuery } from '../../src/contract/task-messages';
import { utcDay } from '../../src/money/day-operations';
import { fakeBatchOf, rowEnd } from '../support/fake-batch';
import { FakeService, seen } from '../support/fake-activities';
import { jsonPayload, RawMessages, type RawPayload, rawPayload, undecodablePayloads } from '../support/raw-messages';
import { executionOf, failureOf, fastTuning, TaskEnvironment, whenStatusIs } from '../support/task-environment';
import { eventually } from '../support/eventually';

const environment = TaskEnvironment.forSuite();

/** Arguments that no handler expects. */
/** As many short fields as that, each of them unknown. */
function manyFields(count: number): RawPayload {
  return jsonPayload(Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index.toString(36)}`, 1])));
}

const rubbish: Readonly<Record<string, RawPayload[]>> = {
  ...Object.fromEntries(Object.entries(undecodablePayloads).map(([name, payload]) => [name, [payload]])),
  'no argument': [],
  'a hundred arguments': Array.from({ length: 100 }, (_, index) => jsonPayload(index)),
  null: [jsonPayload(null)],
  undefined: [rawPayload('binary/null', '')],
  'a list': [jsonPayload([{ requestId: 7 }])],
  'wrong types': [jsonPayload({ requestId: { length: 3 }, key: 7, rows: 'many', status: [] })],
  binary: [
    rawPayload(
      'binary/plain',
      Uint8Array.from({ length: 1_000 }, () => 7),
    ),
  ],
  'names of prototypes': [rawPayload('json/plain', '{"__proto__":{"requestId":"r"},"constructor":1,"toString":2}')],
  // Below the limit of an input.
  'many fields': [manyFields(24_000)],
  'JSON that is nested too deeply': [rawPayload('json/plain', '['.repeat(200_000) + ']'.repeat(200_000))],
};
const cases = Object.entries(rubbish);
const undecodable = Object.entries(undecodablePayloads);

/** The failures of workflows that are started with rubbish, by what the rubbish is. */
async function failuresOfStarts(
  type: 'task' | 'batch' | 'accountDay' | 'sweep',
  taskQueue: string,
  starts = cases,
): Promise<[string, ApplicationFailure][]> {
  const raw = new RawMessages(environment.client, taskQueue);
  return await Promise.all(
    starts.map(async ([what, payloads]): Promise<[string, ApplicationFailure]> => {
      const workflowId = `${type}:${randomUUID()}`;
      await raw.start(type, workflowId, payloads);
      return [what, await failureOf(environment.client.workflow.getHandle(workflowId))];
    }),
  );
}

function expectInputInvalid(failures: readonly [string, ApplicationFailure][], starts = cases): void {
  expect(failures.map(([what, { type }]) => [what, type])).toEqual(starts.map(([what]) => [what, 'InputInvalid']));
  for (const [what, { message }] of failures) {
    expect(message.length).toBeLessThan(20_000);
    if (what in undecodablePayloads) expect(message).toMatch(/cannot be decoded: .+ Send plain JSON/);
  }
}

/** The last event of a run, once it is over. */
async function endOfRun(workflowId: string, runId: string): Promise<temporal.api.history.v1.IHistoryEvent> {
  const { workflowService, options } = environment.client;
  const end = await eventually(async () => {
    const { history } = await workflowService.getWorkflowExecutionHistory({
      namespace: options.namespace,
      execution: { workflowId, runId },
    });
    return history?.events?.find(({ workflowExecutionFailedEventAttributes: failed }) => failed != null);
  });
  if (end === undefined) throw new Error('The run is not over.');
  return end;
}

describe('a task', () => {
  it.concurrent.each(['cancel', 'callback', 'unknown'])(
    'goes on after rubbish in the signal "%s", and can be stopped',
    async (name) => {
      const service = new FakeService({ script: [seen('Queuing')] });
      await environment.withTask(service.activities, {}, async (task) => {
        await whenStatusIs(task, 'Queuing');
        const raw = new RawMessages(environment.client, 'unused');
        if (name !== 'cancel') for (const [, payloads] of cases) await raw.signal(task.workflowId, name, payloads);
        else await raw.signal(task.workflowId, name, [undecodablePayloads['a codec'] ?? {}]);
        if (name !== 'cancel') await task.cancel();
        expect(await executionOf(task)).toBe(name === 'cancel' ? 'COMPLETED' : 'CANCELLED');
        expect(service.calls.creates).toHaveLength(1);
      });
    },
  );

  it.concurrent('refuses updates and queries with arguments that cannot be decoded, and says why', async () => {
    const service = new FakeService({ script: [seen('Queuing')] });
    await environment.withTask(service.activities, {}, async (task) => {
      await whenStatusIs(task, 'Queuing');
      const raw = new RawMessages(environment.client, 'unused');
      for (const [, payload] of undecodable) {
        expect(await raw.update(task.workflowId, 'adopt', [payload])).toMatch(/cannot be decoded.*Send plain JSON/);
        expect(await raw.update(task.workflowId, 'abandon', [payload])).toMatch(/cannot be decoded/);
        await expect(raw.query(task.workflowId, 'status', [payload])).rejects.toThrow(/cannot be decoded/);
      }
      for (const [, payloads] of cases) {
        expect(await raw.update(task.workflowId, 'adopt', payloads)).toEqual(expect.any(String));
      }
      expect(await task.query(statusQuery)).toMatchObject({ status: 'Queuing' });
      await task.cancel();
      expect(await executionOf(task)).toBe('CANCELLED');
    });
  });

  it.concurrent(
    'that is started with rubbish ends as InputInvalid, and says so when its input cannot be decoded',
    async () => {
      const service = new FakeService();
      await environment.withWorkers(service.activities, async (_start, taskQueue) => {
        expectInputInvalid(await failuresOfStarts('task', taskQueue));
        expect(service.calls.creates).toHaveLength(0);
      });
    },
  );

  it.concurrent('runs whatever stands in its memo, its headers and the last result that it is given', async () => {
    const service = new FakeService();
    await environment.withWorkers(service.activities, async (_start, taskQueue) => {
      const fields = { ...undecodablePayloads, inputDigest: jsonPayload({ not: 'a digest' }) };
      const workflowId = `task:${randomUUID()}`;
      const input = jsonPayload({ webAppId: 7, inputs: {}, tuning: fastTuning });
      await new RawMessages(environment.client, taskQueue).start('task', workflowId, [input], {
        memo: { fields },
        header: { fields },
        lastCompletionResult: { payloads: Object.values(undecodablePayloads) },
        continuedFailure: {
          message: 'x',
          applicationFailureInfo: { type: 'x', details: { payloads: Object.values(undecodablePayloads) } },
        },
      });
      const handle = environment.client.workflow.getHandle<() => Promise<{ status: string }>>(workflowId);
      expect(await handle.result()).toMatchObject({ status: 'Success' });
      expect(service.calls.creates).toHaveLength(1);
    });
  });

  it.concurrent.each([
    ['a whole state', { status: 'Running', requestId: 'r-of-another', createNumber: 1, stopRequests: [], inputs: [] }],
    ['rubbish', 7],
    ['an empty state', {}],
    ['null', null],
  ])('does not believe a continue-as-new state that its start brings: %s', async (_what, continueAsNewState) => {
    const service = new FakeService();
    await environment.withWorkers(service.activities, async (start) => {
      const failure = await failureOf(await start({ continueAsNewState }));
      expect(failure.type).toBe('InputInvalid');
      expect(failure.message).toMatch(/continueAsNewState is .*only a run that continues a previous one/);
      expect(service.calls).toMatchObject({ polls: 0, archives: [] });
    });
  });

  it.concurrent('is not run by a cron schedule, whose second run would look as if it continued the first', async () => {
    const service = new FakeService();
    await environment.withWorkers(service.activities, async (_start, taskQueue) => {
      const workflowId = `task:${randomUUID()}`;
      const input = jsonPayload({ webAppId: 7, inputs: {}, continueAsNewState: { requestId: 'r-of-another' } });
      const raw = new RawMessages(environment.client, taskQueue);
      const runId = await raw.start('task', workflowId, [input], { cronSchedule: '@every 1s' });
      const failures: (string | null | undefined)[] = [];
      for (let next: string | null | undefined = runId; failures.length < 2;) {
        const end: temporal.api.history.v1.IHistoryEvent = await endOfRun(workflowId, next);
        failures.push(end.workflowExecutionFailedEventAttributes?.failure?.message);
        next = end.workflowExecutionFailedEventAttributes?.newExecutionRunId ?? '';
      }
      await environment.client.workflow.getHandle(workflowId).terminate();
      expect(failures).toEqual([expect.stringMatching(/cron schedule/), expect.stringMatching(/cron schedule/)]);
      expect(service.calls.polls).toBe(0);
    });
  });
});

describe('the day of an account', () => {
  const limit = { currency: 'EUR', micros: 50_000 };
  const reserve = {
    kind: 'reserve',
    by: 'ab',
    task: '0'.repeat(10),
    create: 1,
    app: 5,
    taskMicros: 20_000,
    isFixed: true,
  };
  const requests: Readonly<Record<string, unknown>> = {
    'a limit that is none': { limit: { currency: 'EUR', micros: -1 }, operations: [reserve] },
    'no list': { limit, operations: { length: 1 } },
    'a long list': { limit, operations: Array.from({ length: 501 }, () => reserve) },
    'an unknown kind': { limit, operations: [{ ...reserve, kind: '__proto__' }] },
    'a long id': { limit, operations: [{ ...reserve, task: '0'.repeat(1_000) }] },
    'a long attempt': { limit, operations: [{ ...reserve, by: '0'.repeat(1_000) }] },
    'a fraction': { limit, operations: [{ ...reserve, taskMicros: 0.5 }] },
    'no price': { limit, operations: [{ ...reserve, isFixed: undefined }] },
    'a cost that is none': {
      limit,
      operations: [{ ...reserve, kind: 'settle', cost: { currency: 'EUR', micros: -7 } }],
    },
  };

  it.concurrent('refuses rubbish in its update and query, without an event, and goes on', async () => {
    const account = `a-${randomUUID()}`;
    const input = { account, day: utcDay(Date.now()) };
    await environment.withWorkers(new FakeService().activities, async (_, taskQueue) => {
      const raw = new RawMessages(environment.client, taskQueue);
      const workflowId = accountDayWorkflowId(input);
      await raw.start('accountDay', workflowId, [jsonPayload(input)]);
      const day = environment.client.workflow.getHandle(workflowId);
      expect(await day.query('day')).toMatchObject({ limit: null });
      const { historyLength } = await day.describe();
      for (const [, payloads] of cases) expect(await raw.update(workflowId, 'spend', payloads)).toMatch(/./);
      for (const request of Object.values(requests)) {
        expect(await raw.update(workflowId, 'spend', [jsonPayload(request)])).toMatch(
          /^(limit|operations)\S* is .+; give /,
        );
      }
      for (const [, payload] of undecodable) {
        await expect(raw.query(workflowId, 'day', [payload])).rejects.toThrow(/cannot be decoded/);
      }
      expect((await day.describe()).historyLength).toBe(historyLength);
      for (const [, payloads] of cases) await raw.signal(workflowId, 'spend', payloads);
      await day.executeUpdate('spend', { args: [{ limit, operations: [reserve] }] });
      expect(await day.query('day')).toMatchObject({ limit, running: 1, reservedMicros: 20_000 });
      await day.terminate();
    });
  });

  it.concurrent('that is started with rubbish ends as InputInvalid', async () => {
    await environment.withWorkers(new FakeService().activities, async (_, taskQueue) => {
      expectInputInvalid(await failuresOfStarts('accountDay', taskQueue));
    });
  });
});

describe('a sweep', () => {
  it.concurrent('that is started with rubbish ends as InputInvalid', async () => {
    // Without an argument it sweeps as usual.
    const starts = cases.filter(([what]) => what !== 'no argument' && what !== 'undefined');
    await environment.withWorkers(new FakeService().activities, async (_, taskQueue) => {
      expectInputInvalid(await failuresOfStarts('sweep', taskQueue, starts), starts);
    });
  });
});

describe('a batch', () => {
  it.concurrent(
    'goes on after rubbish in every signal, refuses it in updates and queries, and can be stopped',
    async () => {
      const batch = fakeBatchOf(environment.client, 3);
      await environment.withBatch(batch.activities, batch.input, async (run) => {
        await eventually(() => batch.running.size === 3);
        const raw = new RawMessages(environment.client, 'unused');
        for (const [, payloads] of cases) await raw.signal(run.workflowId, 'rowEnded', payloads);
        for (const [, payload] of undecodable) {
          for (const update of ['pause', 'resume', 'drain', 'retryFailed', 'setConcurrency', 'setBudget']) {
            expect(await raw.update(run.workflowId, update, [payload])).toMatch(/cannot be decoded/);
          }
          await expect(raw.query(run.workflowId, 'progress', [payload])).rejects.toThrow(/cannot be decoded/);
        }
        batch.end(rowEnd('row-0'));
        await eventually(async () => (await run.query(progressQuery)).success === 1);
        await run.cancel();
        expect(await executionOf(run)).toBe('CANCELLED');
        expect(batch.started).toEqual(['row-0', 'row-1', 'row-2']);
      });
    },
  );

  it.concurrent(
    'that is started with rubbish ends as InputInvalid, and says so when its input cannot be decoded',
    async () => {
      const batch = fakeBatchOf(environment.client, 1);
      await environment.withBatch(batch.activities, batch.input, async (_run, taskQueue) => {
        expectInputInvalid(await failuresOfStarts('batch', taskQueue));
      });
    },
  );

  it.concurrent('that is started with more than an input may hold is refused for that alone', async () => {
    const starts: [string, RawPayload[]][] = [
      ['fields', [manyFields(150_000)]],
      ['bytes', [rawPayload('binary/plain', new Uint8Array(1_900_000))]],
      ['a codec', rubbish['a codec'] ?? []],
    ];
    const batch = fakeBatchOf(environment.client, 1);
    await environment.withBatch(batch.activities, batch.input, async (_run, taskQueue) => {
      const failures = await failuresOfStarts('batch', taskQueue, starts);
      expectInputInvalid(failures, starts);
      for (const [, { message }] of failures) expect(message).not.toContain('Unknown field');
    });
  });

  it.concurrent('does not believe a continue-as-new state that its start brings', async () => {
    const batch = fakeBatchOf(environment.client, 1);
    const forged = { ...batch.input, continueAsNewState: { opened: true, cursor: null, success: 1, running: 'none' } };
    await environment.withBatch(batch.activities, forged, async (run) => {
      expect((await failureOf(run)).message).toMatch(/continueAsNewState is/);
      expect(batch.started).toEqual([]);
    });
  });
});
