import { setTimeout as delay } from 'node:timers/promises';
import { activityInfo } from '@temporalio/activity';
import type { PolledTask, PollResult } from '../contract/activities';
import type { Timestamps } from '../contract/task-result';
import { isTerminal, parseServiceStatus } from '../core/task-state';
import { withoutUrls } from '../core/uri';
import { type Money, type Prices, taskCost } from '../money/money';
import type { TaskDetail } from '../service';
import { PollHeldBackError } from '../service/account-gate';
import { stateByOutputs, toFailedObservation } from '../service/task-wait';
import type { Archive } from '../storage/archive/archive';
import { type AccountDependencies, accountKey, getLimits, getService } from './accounts';
import { CreateRecordFile } from './create-record';
import type { DailyBudgets } from './daily-budgets';
import type { ActivityDependencies } from './dependencies';
import { requestProblem } from './to-application-failure';

/** Below the local activity's timeout of 4 s, so that a slow service and a slow worker give different errors. */
const timeoutMs = 3_500;
/** How long a query may wait for its turn; otherwise its task comes again then. */
const patienceMs = 1_000;
/** After this time the end is reported, recorded or not. */
const endMs = 3_900;

export interface EndRecords {
  readonly archive?: Archive;
  readonly dailyBudgets?: Pick<DailyBudgets, 'settle'>;
  readonly prices?: Prices;
}

/** One `detail` query. A failure is data, and must never end the watch. */
export async function pollTask(dependencies: ActivityDependencies, task: PolledTask): Promise<PollResult> {
  const begunMs = performance.now();
  const leftMs = (): number => Math.max(0, endMs - (performance.now() - begunMs));
  try {
    const detail = await getDetail(dependencies, task);
    const seen = await toPricedResult(dependencies, detail, task, leftMs());
    const { callbacks } = getLimits(dependencies, task.account);
    if (isEnd(seen) && task.callback !== undefined) callbacks.ended(task.callback === 'came');
    const result = withCallbacks(seen, task, callbacks);
    await recordEnd(dependencies, task, result, leftMs());
    return result;
  } catch (error) {
    return toFailedPoll(dependencies, task.account, error);
  }
}

export function isEnd(result: PollResult): boolean {
  return result.seen === 'task' && isTerminal(parseServiceStatus(result.status));
}

/** Says of a task that goes on whether its end will be told by a callback. */
export function withCallbacks(
  result: PollResult,
  { callback }: Pick<PolledTask, 'callback'>,
  { come }: { readonly come: boolean },
): PollResult {
  const isRelied = result.seen === 'task' && callback === 'awaited' && come && !isEnd(result);
  return isRelied ? { ...result, callbacksCome: true } : result;
}

export async function getDetail(
  dependencies: ActivityDependencies,
  { account, requestId, asksOutputs }: PolledTask,
): Promise<TaskDetail> {
  const begunMs = performance.now();
  const service = getService(dependencies, account);
  const query = async (waitedMs: number): Promise<TaskDetail> => {
    const detail = await service.getTask(requestId, { timeoutMs: timeoutMs - waitedMs });
    if (asksOutputs !== true) return detail;
    const leftMs = Math.max(1, timeoutMs - (performance.now() - begunMs));
    return await stateByOutputs(service, requestId, detail, { timeoutMs: leftMs });
  };
  return await getLimits(dependencies, account).polls.run(query, patienceMs, { task: requestId });
}

export function toFailedPoll(
  dependencies: Pick<AccountDependencies, 'keySettings'>,
  account: string,
  error: unknown,
): PollResult {
  const seen = toFailedObservation(error);
  if (seen.seen === 'notFound') return seen;
  if (error instanceof PollHeldBackError && !error.isUnanswered) {
    return { seen: 'nothing', problem: error.message, turnInMs: error.retryInMs };
  }
  return { ...seen, problem: requestProblem(error, accountKey(dependencies, account), seen.problem) };
}

/**
 * Adds end and cost to the create record and settles the daily budget within `withinMs`; failures are ignored. Returns
 * whether the record is known to have the request id.
 */
export async function recordEnd(
  { archive, dailyBudgets }: EndRecords,
  { account, createNumber, requestId, acceptedAtMs }: PolledTask,
  result: PollResult,
  withinMs: number,
): Promise<boolean> {
  const { workflowId } = activityInfo().workflowExecution ?? {};
  if (createNumber === undefined || workflowId === undefined || result.seen !== 'task') return false;
  const status = parseServiceStatus(result.status);
  if (!isTerminal(status)) return false;
  const { costTimes = {}, cost = null, timestamps } = result;
  const createdAt = timestamps?.['createdAt']?.iso ?? null;
  const createdMs = createdAtMs(createdAt, acceptedAtMs);
  const record = archive && new CreateRecordFile(archive, workflowId, createNumber);
  let isRecorded = false;
  const written = record?.addEnd(requestId, { status, createdAt, costTimes, cost }).then((isOfTask) => {
    isRecorded = isOfTask;
  });
  const settled =
    createdMs === undefined ? undefined : dailyBudgets?.settle({ account, workflowId, createNumber }, cost, createdMs);
  await withinTime(Promise.allSettled([written, settled]), withinMs);
  return isRecorded;
}

/** The app of an adopted task, which decides its price, is in the create record. */
export async function toPricedResult(
  { archive, prices }: EndRecords,
  detail: TaskDetail,
  task: PolledTask,
  withinMs: number,
): Promise<PollResult> {
  const { webAppId, createNumber, requestId } = task;
  const { workflowId } = activityInfo().workflowExecution ?? {};
  const isPriced = prices !== undefined && isTerminal(parseServiceStatus(detail.status)) && webAppId == null;
  if (!isPriced || archive === undefined || workflowId === undefined || createNumber === undefined) {
    return toPollResult(detail, task, prices);
  }
  const found = new CreateRecordFile(archive, workflowId, createNumber).findApp(requestId).catch(() => undefined);
  const app = await withinTime(found, withinMs);
  return toPollResult(detail, { ...task, webAppId: app ?? null }, prices);
}

async function withinTime<T>(promise: Promise<T>, withinMs: number): Promise<T | undefined> {
  const late = new AbortController();
  const isLate = delay(withinMs, undefined, { signal: late.signal }).catch(() => undefined);
  const first = await Promise.race([promise, isLate]);
  late.abort();
  return first;
}

const names = ['createdAt', 'executedAt', 'runningAt', 'endedAt', 'updatedAt', 'expiredAt'] as const;

/** For histories; with costs and timestamps only once the task is over. */
export function toPollResult(detail: TaskDetail, task: Omit<PolledTask, 'requestId'>, prices?: Prices): PollResult {
  const { status, queuePosition, errorMessage, costTimes } = detail;
  const seen = {
    seen: 'task',
    status,
    queuePosition,
    errorMessage: errorMessage && withoutUrls(errorMessage),
  } as const;
  if (!isTerminal(parseServiceStatus(status))) return seen;
  const timestamps: Timestamps = Object.fromEntries(
    names.flatMap((name) => {
      const timestamp = detail[name];
      return timestamp === undefined ? [] : [[name, timestamp] as const];
    }),
  );
  return { ...seen, costTimes, cost: toCost(detail, task, prices), timestamps };
}

function toCost(
  { createdAt, costTimes }: TaskDetail,
  { account, webAppId = null, acceptedAtMs }: Omit<PolledTask, 'requestId'>,
  prices: Prices | undefined,
): Money | undefined {
  const createdMs = createdAtMs(createdAt?.iso, acceptedAtMs);
  if (prices === undefined || webAppId === null || createdMs === undefined) return undefined;
  const price = prices.find(account, webAppId, createdMs);
  return price === null ? undefined : taskCost(price, costTimes);
}

function createdAtMs(given: string | null | undefined, acceptedAtMs: number | null | undefined): number | undefined {
  const ms = Date.parse(given ?? '');
  return Number.isNaN(ms) ? (acceptedAtMs ?? undefined) : ms;
}
