import { randomUUID } from 'node:crypto';
import { DailyBudgets } from '../../src/activities/daily-budgets';
import { TemporalAccountDays } from '../../src/client/account-days';
import { drainUpdate, progressQuery, resumeUpdate } from '../../src/contract/batch/batch-messages';
import { accountDayWorkflowId } from '../../src/contract/account-day';
import { searchAttributes } from '../../src/contract/search-attributes';
import { utcDay } from '../../src/money/day-operations';
import type { Price } from '../../src/money/money';
import { eventually } from '../support/eventually';
import { FakeService } from '../support/fake-activities';
import { fakeBatchOf, rowEnd } from '../support/fake-batch';
import { runChainOf } from '../support/run-chain';
import { failureOf, type RunningBatch, TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

const eur = (micros: number) => ({ currency: 'EUR', micros });
const price: Price = { currency: 'EUR', taskMicros: 20_000, time: null };

/** A worker's view of the daily budgets, with a limit for one account of its own. */
function budgetsOf(taskQueue: string, account: string, limitMicros: number): DailyBudgets {
  const access = { client: environment.client, address: 'here', taskQueue, webUiUrl: null };
  return new DailyBudgets({
    limits: new Map([[account, eur(limitMicros)]]),
    prices: { find: (_, webAppId) => (webAppId === 5 ? price : null) },
    days: new TemporalAccountDays(access),
  });
}

/** Runs workers while `during` asks for the money of an account that nobody else has. */
async function withAccount(during: (account: string, taskQueue: string) => Promise<void>): Promise<void> {
  const account = `studio-${randomUUID()}`;
  const workflowId = accountDayWorkflowId({ account, day: utcDay(Date.now()) });
  await environment.withWorkers(new FakeService().activities, async (_, taskQueue) => {
    try {
      await during(account, taskQueue);
    } finally {
      await environment.client.workflow
        .getHandle(workflowId)
        .terminate()
        .catch(() => undefined);
    }
  });
}

function expense(account: string, number: number) {
  return { account, webAppId: 5, workflowId: `task:${account}-${number}`, createNumber: 1 };
}

describe('the day of an account', () => {
  it.concurrent('is kept by one workflow that workers of different limits ask, each create once', async () => {
    await withAccount(async (account, taskQueue) => {
      const small = budgetsOf(taskQueue, account, 50_000);
      const large = budgetsOf(taskQueue, account, 100_000);
      const asked = [1, 2, 3].map((number) => small.reserve(expense(account, number), Date.now()));
      const outcomes = (await Promise.all(asked)).map((granted) => granted?.outcome);
      expect(outcomes).toEqual(['granted', 'granted', 'noRoom']);

      const refused = await small.reserve(expense(account, 3), Date.now());
      expect(refused?.refusal?.words).toContain(
        `The daily budget of the account "${account}" is reached: 0.00 EUR of 0.05 EUR`,
      );
      expect(refused?.refusal?.waitMs).toBeLessThanOrEqual(300_000);
      expect((await small.reserve(expense(account, 1), Date.now()))?.outcome).toBe('known');
      expect((await large.reserve(expense(account, 3), Date.now()))?.outcome).toBe('granted');
      await small.settle(expense(account, 1), eur(20_000), Date.now());
      await small.settle(expense(account, 1), eur(20_000), Date.now());

      const days = new TemporalAccountDays({ client: environment.client, address: 'here', taskQueue, webUiUrl: null });
      const view = await days.view({ account, day: utcDay(Date.now()) });
      expect(view).toMatchObject({ settledMicros: 20_000, reservedMicros: 40_000, settled: 1, running: 2 });
      expect(await days.view({ account, day: '2020-01-01' })).toBeUndefined();
    });
  });

  it.concurrent('costs an account without a daily budget no request, and one without a price is told', async () => {
    const budgets = budgetsOf('no worker', 'studio', 50_000);

    expect(await budgets.reserve({ ...expense('other', 1) }, Date.now())).toBeUndefined();
    expect(await budgets.hold([expense('other', 1)], Date.now())).toEqual([undefined]);
    await budgets.settle(expense('other', 1), eur(1), Date.now());
    expect(budgets.problem({ account: 'other', webAppId: 6 })).toBeUndefined();
    expect(budgets.problem({ account: 'studio', webAppId: 5 })).toBeUndefined();
    expect(budgets.problem({ account: 'studio', webAppId: 6 })).toMatch(/0\.05 EUR.+app 6 has no known price: give it/);
  });

  it.concurrent(
    'takes part in one request with many others, and goes on in a run of its own before it is long',
    async () => {
      await withAccount(async (account, taskQueue) => {
        const workers = Array.from({ length: 8 }, () => budgetsOf(taskQueue, account, 1e12));
        const workflowId = accountDayWorkflowId({ account, day: utcDay(Date.now()) });
        await workers[0]?.hold(
          Array.from({ length: 2_000 }, (_, number) => expense(account, number)),
          Date.now(),
        );
        const handle = environment.client.workflow.getHandle(workflowId);
        const { runId } = await handle.describe();
        let number = 0;
        await eventually(
          async () => {
            await Promise.all(workers.map((worker) => worker.reserve(expense(account, (number += 1)), Date.now())));
            return (await handle.describe()).runId !== runId;
          },
          { withinMs: 200_000, everyMs: 0, what: 'a second run' },
        );
        expect((await workers[0]?.reserve(expense(account, 1), Date.now()))?.outcome).toBe('known');
        expect(await handle.query('day')).toMatchObject({ running: number, held: 2_000 - number });
        const [first] = await runChainOf(environment.client, workflowId, runId);
        expect(first?.events.length).toBeLessThan(2_500);
      });
    },
  );

  it.concurrent(
    'is refused unless it is started under its own id, without a state, and ends at once when it is over',
    async () => {
      const day = '2026-03-01';
      await environment.withWorkers(new FakeService().activities, async (_, taskQueue) => {
        const start = (argument: unknown) => {
          const workflowId = `budget:studio-${randomUUID()}:${day}`;
          const [, account] = workflowId.split(':');
          const given = typeof argument === 'object' && argument !== null ? { account, ...argument } : argument;
          return environment.client.workflow.start('accountDay', { taskQueue, workflowId, args: [given] });
        };
        const refused = [
          null,
          { day: 'today' },
          { day: '2026-03-02' },
          { account: 'a', day },
          { day, continueAsNewState: {} },
        ];
        for (const argument of refused) expect((await failureOf(await start(argument))).type).toBe('InputInvalid');
        expect(await (await start({ day })).result()).toMatchObject({ settledMicros: 0, limit: null });
      });
    },
  );
});

function statusOf(run: RunningBatch): Promise<unknown> {
  return run.describe().then(({ typedSearchAttributes }) => typedSearchAttributes.get(searchAttributes.status));
}

describe('a batch whose account has no more left today', () => {
  it.concurrent('starts no more rows, says so everywhere, and goes on by itself when the time has come', async () => {
    const batch = fakeBatchOf(environment.client, 12, { concurrency: 4 });
    Object.assign(batch, { roomToday: 5, dailyWaitMs: 2_000 });
    batch.endsAtOnce = ({ key }) => rowEnd(key);
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(async () => (await statusOf(run)) === 'DailyBudgetReached');
      const progress = await run.query(progressQuery);
      expect(progress).toMatchObject({ running: 0, success: 5, waiting: 7, expectedEnd: null });
      expect(progress.dailyBudget).toMatchObject({ account: 'studio' });
      const asked = batch.starts.length;
      await eventually(() => batch.starts.length > asked);
      expect(batch.started).toHaveLength(5);
      batch.roomToday = Infinity;
      await run.result();
      expect(await statusOf(run)).toBe('Ended');
    });
    expect(batch.started).toHaveLength(12);
  });

  it.concurrent('asks again as soon as a row has ended, or somebody resumes it', async () => {
    const batch = fakeBatchOf(environment.client, 6, { concurrency: 3 });
    batch.roomToday = 2;
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(async () => (await run.query(progressQuery)).dailyBudget !== undefined);
      expect(await run.query(progressQuery)).toMatchObject({ state: 'Running', running: 2 });
      batch.roomToday = 3;
      batch.end(rowEnd('row-0'));
      await eventually(() => batch.started.length === 3);
      batch.end(rowEnd('row-1'));
      batch.end(rowEnd('row-2'));
      await eventually(async () => (await run.query(progressQuery)).state === 'DailyBudgetReached');
      batch.endsAtOnce = ({ key }) => rowEnd(key);
      batch.roomToday = 6;
      await run.executeUpdate(resumeUpdate);
      await run.result();
    });
  });

  it.concurrent('can be drained while it waits, and waits on in the next run', async () => {
    const tuning = { refillMs: 20, pollEveryMs: 60_000, recordRows: 1, retryMaxMs: 50, continueAsNewAfterEvents: 30 };
    const batch = fakeBatchOf(environment.client, 20, { concurrency: 1, tuning });
    batch.roomToday = 6;
    batch.endsAtOnce = ({ key }) => rowEnd(key);
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(async () => (await statusOf(run)) === 'DailyBudgetReached');
      const progress = await run.query(progressQuery);
      expect(progress).toMatchObject({ success: 6, dailyBudget: { account: 'studio' } });
      expect((await run.describe()).runId).not.toBe(run.firstExecutionRunId);
      await run.executeUpdate(drainUpdate);
      expect((await run.result()).ending).toBe('drained');
    });
  });

  it.concurrent('is refused before anything is paid where a row has no price', async () => {
    const batch = fakeBatchOf(environment.client, 3);
    batch.opened = { dailyProblem: 'Line 2: app 6 has no known price' };
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      expect(await failureOf(run)).toMatchObject({
        type: 'BudgetUnusable',
        message: 'Line 2: app 6 has no known price',
      });
    });
    expect(batch.starts).toEqual([]);
  });
});
