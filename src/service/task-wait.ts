import { setTimeout as delay } from 'node:timers/promises';
import { longestTimerMs } from '../core/option-rules';
import { nextPollDelayMs, recommendedPollBounds, toPollSituation } from '../core/poll-cadence';
import {
  afterPoll,
  asksOutputs,
  isLost,
  isTerminal,
  type Observation,
  parseServiceStatus,
  unseenTask,
  type WatchedTask,
} from '../core/task-state';
import { errorMessage } from '../core/text';
import { withoutUrls } from '../core/uri';
import {
  InsufficientBalanceError,
  InvalidRequestError,
  NotFoundError,
  OutputGoneError,
  ServiceApiError,
  ServiceArgumentError,
  ServiceClosedError,
  ServiceError,
  ServiceTimeoutError,
  UnauthorizedError,
} from './errors';
import type { CallOptions, WaitForTaskOptions } from './client-options';
import type { TaskDetail, TaskOutputs } from './tasks';

export interface TaskReader {
  getTask(requestId: string, options: CallOptions): Promise<TaskDetail>;
  getOutputs(requestId: string, options: CallOptions): Promise<TaskOutputs>;
}

/** A task with an unknown status word is over if its complete outputs have a known word for that. */
export async function stateByOutputs(
  service: Pick<TaskReader, 'getOutputs'>,
  requestId: string,
  detail: TaskDetail,
  options: CallOptions,
): Promise<TaskDetail> {
  if (parseServiceStatus(detail.status) !== undefined) return detail;
  try {
    const listed = await service.getOutputs(requestId, options);
    const isComplete =
      listed.outputs.length > 0 &&
      listed.outputs.every((item) => item.objectUrl !== undefined || item.errorType !== 'UNKNOWN');
    const isOver = listed.status === 'Success' ? isComplete : isTerminal(listed.status);
    return isOver && (listed.requestId ?? requestId) === requestId ? { ...detail, status: listed.status } : detail;
  } catch {
    return detail;
  }
}

export async function waitForTask(
  service: TaskReader,
  requestId: string,
  options: WaitForTaskOptions = {},
): Promise<TaskDetail> {
  const { signal, timeoutMs, poll = recommendedPollBounds } = options;
  signal?.throwIfAborted();
  const timeout = new AbortController();
  const either = signal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, signal]);
  const timer = timeoutMs && setTimeout(timeout.abort.bind(timeout), timeoutMs);
  const seen: Seen = { known: unseenTask(Date.now()), answeredMs: Date.now() };
  try {
    for (;;) {
      const { ended, askedToWaitMs } = await pollOnce(service, requestId, { ...options, signal: either }, seen);
      if (ended !== undefined) return ended;
      const pauseMs = nextPollDelayMs(toPollSituation(seen.known, Date.now(), Math.random()), poll);
      await delay(Math.min(Math.max(pauseMs, askedToWaitMs), longestTimerMs), undefined, { signal: either });
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (timeoutMs === undefined || !timeout.signal.aborted) throw error;
    const state = seen.known.serviceStatus;
    const known =
      state === null
        ? 'the service has not shown a task of this id: check the id, and that the service answers'
        : `it is ${state}, and goes on`;
    const words = `wait for task: ${requestId} has not ended within ${timeoutMs} ms; ${known}`;
    throw new ServiceTimeoutError(words, { timeoutMs });
  } finally {
    clearTimeout(timer);
  }
}

interface Seen {
  known: WatchedTask;
  answeredMs: number;
}

async function pollOnce(
  service: TaskReader,
  requestId: string,
  options: WaitForTaskOptions & { readonly signal: AbortSignal },
  seen: Seen,
): Promise<{ readonly ended?: TaskDetail; readonly askedToWaitMs: number }> {
  const { signal, onPoll, patienceMs = 300_000, notVisibleGraceMs = 60_000 } = options;
  try {
    let detail = await service.getTask(requestId, { signal });
    if (asksOutputs(seen.known)) detail = await stateByOutputs(service, requestId, detail, { signal });
    onPoll?.(detail);
    if (isTerminal(detail.status)) return { ended: detail, askedToWaitMs: 0 };
    seen.known = afterPoll(seen.known, { seen: 'task', ...detail }, Date.now());
    seen.answeredMs = Date.now();
    return { askedToWaitMs: 0 };
  } catch (error) {
    signal.throwIfAborted();
    const nowMs = Date.now();
    const observation = toFailedObservation(error);
    seen.known = afterPoll(seen.known, observation, nowMs);
    if (isFinal(error) || isLost(seen.known, observation, notVisibleGraceMs, nowMs)) throw error;
    if (observation.seen === 'notFound') seen.answeredMs = nowMs;
    else if (nowMs - seen.answeredMs >= patienceMs) throw error;
    return { askedToWaitMs: error instanceof ServiceApiError ? (error.retryAfterMs ?? 0) : 0 };
  }
}

function isFinal(error: unknown): boolean {
  return (
    !(error instanceof ServiceError) ||
    error instanceof ServiceArgumentError ||
    error instanceof ServiceClosedError ||
    error instanceof UnauthorizedError ||
    error instanceof InvalidRequestError ||
    error instanceof InsufficientBalanceError
  );
}

export function toFailedObservation(error: unknown): Exclude<Observation, { readonly seen: 'task' }> {
  if (error instanceof NotFoundError && error.code === 'TASK_NOT_FOUND') return { seen: 'notFound' };
  const problem = withoutUrls(errorMessage(error));
  return { seen: error instanceof OutputGoneError ? 'gone' : 'nothing', problem };
}
