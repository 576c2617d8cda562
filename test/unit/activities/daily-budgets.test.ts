import { join } from 'node:path';
import { type AccountDays, DailyBudgets } from '../../../src/activities/daily-budgets';
import { holdRows } from '../../../src/activities/batch/held-rows';
import { recordEnd } from '../../../src/activities/poll-task';
import {
  type AccountDayInput,
  type DayAnswer,
  type DayRequest,
  dayRequestProblem,
} from '../../../src/contract/account-day';
import type { CreateTaskInput } from '../../../src/contract/activities';
import { DailyBudget } from '../../../src/money/daily-budget';
import { type DayView, endOfDayMs, utcDay } from '../../../src/money/day-operations';
import type { Price } from '../../../src/money/money';
import { ServiceClient } from '../../../src/service';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { type AttemptInfo, CreateAttempts, type ObservedAttempt } from '../../support/create-attempts';
import { eventually } from '../../support/eventually';
import { preparedRows } from '../../support/prepared-rows-under-test';
import { replyJson, startHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';
import { ActivityEnvironment } from '../../support/activity-environment';

const eur = (micros: number) => ({ currency: 'EUR', micros });
const price: Price = { currency: 'EUR', taskMicros: 20_000, time: null };
const input: CreateTaskInput = { account: 'default', createNumber: 1, webAppId: 7, inputs: { '2:A.b': 3 } };

const folder = temporaryFolder();
let archive: FolderArchive;
let days: Days;
let number = 0;
beforeEach(() => {
  number += 1;
  archive = new FolderArchive(join(folder.path, String(number)));
  days = new Days();
});
afterAll(() => {
  folder.remove();
});

/** The days of accounts as their workflows keep them, in memory; every request is one that a workflow takes. */
class Days implements AccountDays {
  readonly requests: DayRequest[] = [];
  readonly #days = new Map<string, DailyBudget>();
  isAway = false;

  spend({ account, day }: AccountDayInput, request: DayRequest): Promise<DayAnswer> {
    const problem = dayRequestProblem(JSON.parse(JSON.stringify(request)));
    if (problem !== undefined) return Promise.reject(new Error(problem));
    if (this.isAway) return Promise.reject(new Error('Temporal is away'));
    this.requests.push(request);
    const budget = this.#days.get(account) ?? new DailyBudget();
    this.#days.set(account, budget);
    const outcomes = budget.apply(request, Date.now(), endOfDayMs(day));
    return Promise.resolve({ outcomes, view: budget.view() });
  }

  view(account = 'default'): DayView | undefined {
    return this.#days.get(account)?.view();
  }
}

function budgetsOf(limitMicros = 50_000, more: Readonly<Record<string, number>> = {}): DailyBudgets {
  const limits = Object.entries({ default: limitMicros, ...more }).map(
    ([account, micros]) => [account, eur(micros)] as const,
  );
  return new DailyBudgets({
    limits: new Map(limits),
    prices: { find: (_, webAppId) => (webAppId === 7 ? price : null) },
    days,
  });
}

/** One attempt of a create, at a service that answers with these statuses in turn, the last one again and again. */
async function create(
  statuses: readonly number[],
  { dailyBudgets = budgetsOf(), ...more }: Partial<CreateTaskInput> & { dailyBudgets?: DailyBudgets } = {},
  info: Partial<AttemptInfo> = {},
): Promise<ObservedAttempt & { readonly sent: number }> {
  const server = await startHttpServer((_request, response) => {
    const status = statuses[Math.min(server.requests.length, statuses.length) - 1] ?? 202;
    replyJson(response, status, status === 202 ? { requestId: `r-${number}` } : { code: 'NO', message: 'not now' });
  });
  const service = new ServiceClient({ baseUrl: server.url, apiKey: 'key', timeouts: { createMs: 500 } });
  const worker = new CreateAttempts({ service, archive, spoolFolder: folder.path, dailyBudgets });
  try {
    const observed = await worker.observe({ ...input, ...more }, { workflowId: 'task:a', ...info });
    return { ...observed, sent: server.requests.length };
  } finally {
    await service.close();
    await server.close();
  }
}

describe('a create of an account with a daily budget', () => {
  it('is sent only once it is reserved, which counts on after it', async () => {
    expect((await create([202])).outcome).toMatchObject({ outcome: 'accepted' });
    expect(days.view()).toMatchObject({ reservedMicros: 20_000, running: 1 });
  });

  it('waits while there is no room, and says why, without a request to the service', async () => {
    const { failure, sent, limiter } = await create([202], { dailyBudgets: budgetsOf(19_999) });
    expect(failure).toMatchObject({ type: 'DailyBudgetReached', category: 'BENIGN' });
    expect(failure?.message).toMatch(
      /The daily budget of the account "default" is reached: 0\.00 EUR of 0\.019999 EUR/,
    );
    expect(Number(failure?.nextRetryDelay)).toBeLessThanOrEqual(300_000);
    expect([sent, limiter.waiting]).toEqual([0, 0]);
    expect(days.view()).toMatchObject({ running: 0 });
  });

  it('that was sent on another day is found on a budget that is used up, and what is paid goes on', async () => {
    await create([202], { dailyBudgets: new DailyBudgets({ limits: new Map(), prices: undefined, days }) });
    const { outcome, sent } = await create([202], { dailyBudgets: budgetsOf(19_999) });
    expect(outcome).toMatchObject({ outcome: 'accepted', requestId: `r-${number}` });
    expect(sent).toBe(0);
  });

  it('that was sent before its app lost its price is found without one, and what is paid goes on', async () => {
    const withoutBudget = new DailyBudgets({ limits: new Map(), prices: undefined, days });
    await create([202], { webAppId: 8, dailyBudgets: withoutBudget });
    const { outcome, sent, limiter } = await create([202], { webAppId: 8 });
    expect(outcome).toMatchObject({ outcome: 'accepted', requestId: `r-${number}` });
    expect([sent, limiter.unanswered]).toEqual([0, 0]);
  });

  it('counts on the day that Temporal’s clock tells, whatever that of its worker', async () => {
    const tomorrowMs = Date.now() + 24 * 3_600_000;
    const { failure, sent } = await create(
      [202],
      {},
      { scheduledTimestampMs: tomorrowMs, currentAttemptScheduledTimestampMs: tomorrowMs },
    );
    expect(failure?.message).toContain(`${utcDay(tomorrowMs)} (UTC) is not today by Temporal’s clock`);
    expect([sent, Number(failure?.nextRetryDelay)]).toEqual([0, 1_000]);
  });

  it('counts no longer when it was refused, although an attempt before had reserved it', async () => {
    const dailyBudgets = budgetsOf();
    await dailyBudgets.reserve({ account: 'default', webAppId: 7, workflowId: 'task:a', createNumber: 1 }, Date.now());
    expect(days.view()).toMatchObject({ running: 1 });
    await create([400], { dailyBudgets });
    expect(days.view()).toMatchObject({ running: 0 });
  });

  it('is tried again while the day cannot be asked', async () => {
    days.isAway = true;
    const { failure, sent } = await create([202]);
    expect(failure?.message).toContain('could not be asked (Temporal is away)');
    expect(sent).toBe(0);
  });

  it('ends for good without a price in the currency of the budget', async () => {
    await expect(create([202], { webAppId: 8 })).rejects.toMatchObject({
      ...{
        type: 'BudgetUnusable',
        nonRetryable: true,
        message: expect.stringContaining('app 8 has no known price') as string,
      },
    });
    expect(days.requests).toEqual([]);
  });

  it.each([
    ['refused for now', 429],
    ['rejected for good', 400],
  ])('counts no longer when it was %s', async (_, status) => {
    const { sent } = await create([status]);
    expect(sent).toBe(1);
    expect(days.requests).toHaveLength(2);
    expect(days.view()).toMatchObject({ running: 0, reservedMicros: 0 });
  });

  it('counts no longer when an earlier run had sent it, unless that run is of this day', async () => {
    await create([202], { dailyBudgets: new DailyBudgets({ limits: new Map(), prices: undefined, days }) });
    expect((await create([202])).outcome).toMatchObject({ outcome: 'accepted' });
    expect(days.view()).toMatchObject({ running: 0 });

    await create([202], { createNumber: 2 });
    const again = await create([202], { createNumber: 2 });
    expect([again.outcome?.outcome, again.sent]).toEqual(['accepted', 0]);
    expect(days.view()).toMatchObject({ running: 1 });
  });

  it('is settled by the poll that sees its end, at once or as soon as the day can be told', async () => {
    const dailyBudgets = budgetsOf();
    await create([202], { dailyBudgets });
    const seen = { seen: 'task', status: 'Success', costTimes: {}, cost: eur(20_000) } as const;
    const acceptedAtMs = Date.now();
    const end = async (): Promise<void> => {
      const activity = () =>
        recordEnd({ dailyBudgets }, { account: 'default', createNumber: 1, requestId: 'r', acceptedAtMs }, seen, 100);
      await new ActivityEnvironment({ workflowExecution: { workflowId: 'task:a', runId: 'r' } }).run(activity);
    };
    days.isAway = true;
    await end();
    expect(days.view()).toMatchObject({ settled: 0, running: 1 });
    days.isAway = false;
    await eventually(() => days.view()?.settled === 1);
    await end();
    expect(days.view()).toMatchObject({ settled: 1, settledMicros: 20_000, running: 0, reservedMicros: 0 });
  });
});

describe('rows that are about to be started', () => {
  const rows = preparedRows(['a', 'b', 'c', 'd'].map((key) => ({ key }))).map((row, index) => {
    const account = index === 2 ? 'studio' : 'default';
    return { row: { ...row, input: { ...row.input, webAppId: 7, account } }, previous: null };
  });

  it('may be started in their order up to the first one whose account has no room, and hold nothing beyond', async () => {
    const held = await holdRows(budgetsOf(1_000_000, { studio: 10_000 }), 'batch', rows, Date.now());
    expect([held.count, held.refusal?.account]).toEqual([2, 'studio']);
    expect(days.view()).toMatchObject({ held: 3 });
    held.free(new Set(['b']));
    await eventually(() => days.view()?.held === 1);
    expect(days.requests).toHaveLength(3);
  });

  it('are all started, without a request, where no account has a daily budget', async () => {
    const held = await holdRows(
      new DailyBudgets({ limits: new Map(), prices: undefined, days }),
      'batch',
      rows,
      Date.now(),
    );
    held.free(new Set(['a']));
    expect([held.count, held.refusal]).toEqual([4, undefined]);
    expect(days.requests).toEqual([]);
  });
});
