import { metricMeter } from '@temporalio/activity';
import type { Activities, ArchiveOutputsInput, ArchiveOutputsResult, PollResult } from '../contract/activities';
import { count, metrics, record } from '../contract/metrics';
import { parseServiceStatus } from '../core/task-state';
import { temporalClock } from './clock';

interface Unarchived {
  readonly account: string;
  readonly requestId: string;
  /** By `performance.now`: when the service deletes its results, and when the archive failed. */
  readonly expiresMs: number;
  readonly failedMs: number;
}

/** Results that expire sooner than this need a person at once. */
const soonMs = 6 * 3_600_000;
/** A parked archive is tried at least every six hours: what failed longer ago was tried by another worker since. */
const forgottenAfterMs = 7 * 3_600_000;

/** The tasks whose archive failed in this process and has not succeeded here since. */
export class UnarchivedResults {
  readonly #tasks = new Map<string, Unarchived>();

  async during<Result>(input: ArchiveOutputsInput, attempt: () => Promise<Result>): Promise<Result> {
    const { account, requestId } = input;
    const key = `${account} ${requestId}`;
    const now = temporalClock();
    try {
      const result = await attempt();
      this.#tasks.delete(key);
      return result;
    } catch (error) {
      const marginMs = expiryMarginMs(input, now());
      const failedMs = performance.now();
      if (marginMs !== undefined) {
        this.#tasks.set(key, { account, requestId, expiresMs: failedMs + marginMs, failedMs });
      }
      throw error;
    }
  }

  /** The request ids of an account’s results that expire within six hours, or should have. */
  expiring(account: string, nowMs = performance.now()): readonly string[] {
    for (const [key, { failedMs }] of this.#tasks) if (nowMs - failedMs > forgottenAfterMs) this.#tasks.delete(key);
    return [...this.#tasks.values()]
      .filter((task) => task.account === account && task.expiresMs - nowMs <= soonMs)
      .map(({ requestId }) => requestId);
  }
}

/** The activities, counted and timed by Temporal's meter. What they do and throw stays theirs. */
export function withMetrics(
  activities: Activities,
  hasAccount: (name: string) => boolean,
  unarchived: UnarchivedResults,
): Activities {
  // Clients choose the names of accounts; only configured ones become labels.
  const labels = ({ account }: { readonly account: string }): { readonly account: string } => {
    return { account: hasAccount(account) ? account : 'unknown' };
  };
  return {
    ...activities,
    storeInput: async (input) => {
      const startedMs = performance.now();
      const stored = await activities.storeInput(input);
      if (stored.wasShared !== true) {
        count(metricMeter, metrics.uploadBytes, labels(input), stored.bytes);
        record(metricMeter, metrics.uploads, labels(input), secondsSince(startedMs));
      }
      return stored;
    },
    createTask: async (input) => {
      let outcome = 'retried';
      try {
        const result = await activities.createTask(input);
        outcome = result.outcome === 'notSent' ? 'not_sent' : result.outcome;
        return result;
      } finally {
        count(metricMeter, metrics.creates, { ...labels(input), outcome });
      }
    },
    pollTask: async (input) => {
      const poll = await activities.pollTask(input);
      countPoll(labels(input).account, poll);
      return poll;
    },
    archiveOutputs: async (input) => {
      const startedMs = performance.now();
      const now = temporalClock();
      const archived = await unarchived.during(input, () => activities.archiveOutputs(input));
      countArchived(labels(input).account, input, archived, startedMs, now());
      return archived;
    },
  };
}

/** `startedMs`: by `performance.now`. */
export function countArchived(
  account: string,
  input: ArchiveOutputsInput,
  { outputBytes = 0 }: ArchiveOutputsResult,
  startedMs: number,
  nowMs: number,
): void {
  record(metricMeter, metrics.archives, { account }, secondsSince(startedMs));
  count(metricMeter, metrics.archiveBytes, { account }, outputBytes);
  const marginMs = expiryMarginMs(input, nowMs);
  if (marginMs !== undefined) record(metricMeter, metrics.expiryMargin, { account }, marginMs / 1_000);
}

/** Counts a query of an account that the worker has, when it was sent: a watch may last for hours. */
export function countPoll(account: string, poll: PollResult): void {
  if (poll.seen === 'nothing' && poll.turnInMs !== undefined) return;
  const isUnknown = poll.seen === 'task' && parseServiceStatus(poll.status) === undefined;
  const answered = isUnknown ? 'unknown_state' : 'answered';
  count(metricMeter, metrics.polls, { account, outcome: poll.seen === 'nothing' ? 'failed' : answered });
}

function secondsSince(startedMs: number): number {
  return (performance.now() - startedMs) / 1_000;
}

/** Until the service deletes the results, by its own word; undefined when it gave none. */
function expiryMarginMs({ timestamps }: ArchiveOutputsInput, nowMs: number): number | undefined {
  const expiresMs = Date.parse(timestamps['expiredAt']?.iso ?? '');
  return Number.isNaN(expiresMs) ? undefined : expiresMs - nowMs;
}
