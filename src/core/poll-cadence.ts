import { getServiceStatus, type ServiceStatus, type WatchedTask } from './task-state';

export interface PollSituation {
  readonly status: ServiceStatus | undefined;
  /** Tasks ahead in the service's queue, when it says so (specification, section 2.3, `queue_count`). */
  readonly queuePosition: number | undefined;
  readonly inStateMs: number;
  /** How many queries in a row brought no answer. @default 0 */
  readonly failedInARow?: number;
  /** A callback is to tell the end of the task, and callbacks come. */
  readonly callbacksCome?: boolean | undefined;
  /** The last one was not sent, for others came first: its turn is then. */
  readonly turnInMs?: number | undefined;
  /** A number in [0, 1): the caller's (deterministic) random number. */
  readonly random: number;
}

export function toPollSituation(known: WatchedTask, nowMs: number, random: number): PollSituation {
  return {
    status: getServiceStatus(known),
    queuePosition: known.queuePosition ?? undefined,
    inStateMs: nowMs - known.serviceStatusSinceMs,
    failedInARow: known.failedInARow,
    turnInMs: known.turnInMs,
    callbacksCome: known.callbacksCome,
    random,
  };
}

export interface PollBounds {
  readonly minMs: number;
  readonly maxMs: number;
}

/** The service recommends one query every 1 to 3 seconds (specification, sections 4.2 and 8). */
export const recommendedPollBounds: PollBounds = { minMs: 1_000, maxMs: 3_000 };

/** A task this young is polled often: most short tasks end here, and a person may be waiting. */
const youngMs = 20_000;
const farBackInQueue = 5;
/** Share of the delay that is random, so that a batch does not poll in step. */
const jitterShare = 0.25;

/** So many failed queries in a row are bad luck; from then on the delay doubles, up to this many times the longest. */
const toleratedFailures = 3;
const longestPauseFactor = 10;

/** Where callbacks come, a task is polled after each tenth of the time in its state, up to so many times the longest delay. */
const calledBackParts = 10;
const longestCalledBackFactor = 20;

/** A deadline of the task is checked with each query, so also one that waits for its turn comes once a minute. */
const longestTurnMs = 60_000;

/** The delay before the next poll, within the bounds; longer while queries bring no answer or wait for a turn. Pure. */
export function nextPollDelayMs(situation: PollSituation, bounds: PollBounds = recommendedPollBounds): number {
  const { failedInARow = 0, random, turnInMs, callbacksCome = false, inStateMs } = situation;
  if (turnInMs !== undefined) return Math.ceil(Math.min(turnInMs, longestTurnMs) + random * bounds.minMs);
  if (failedInARow > toleratedFailures) {
    const factor = Math.min(longestPauseFactor, 2 ** (failedInARow - toleratedFailures));
    return Math.round(bounds.maxMs * factor * jitter(random));
  }
  const span = bounds.maxMs - bounds.minMs;
  const target = bounds.minMs + span * eagerness(situation);
  const usualMs = Math.min(bounds.maxMs, Math.max(bounds.minMs, target * jitter(random)));
  if (!callbacksCome) return Math.round(usualMs);
  const seldomMs = Math.min(longestCalledBackFactor * bounds.maxMs, inStateMs / calledBackParts);
  return Math.round(Math.max(usualMs, seldomMs * jitter(random)));
}

function jitter(random: number): number {
  return 1 - jitterShare / 2 + jitterShare * random;
}

function eagerness({ status, queuePosition, inStateMs }: PollSituation): number {
  if (status === 'Queuing' && queuePosition !== undefined && queuePosition > farBackInQueue) return 1;
  if (status === undefined) return 0.5;
  return Math.min(1, inStateMs / youngMs) * (status === 'Preparing' ? 0.5 : 1);
}

/** The heartbeat timeout of a watch grows with the age of its task up to so many times the shortest. */
const longestHeartbeatFactor = 10;
/** It is scheduled anew when the age is so many times its timeout. */
const anewFactor = 4;

interface WatchHeartbeats {
  readonly timeoutMs: number;
  /** Undefined: the timeout is the longest. */
  readonly anewFromMs: number | undefined;
}

/** A watch whose worker died is missed after as long as its task is old, within bounds: heartbeats are charged. */
export function watchHeartbeats(shortestMs: number, acceptedAtMs: number, nowMs: number): WatchHeartbeats {
  const longestMs = longestHeartbeatFactor * shortestMs;
  const timeoutMs = Math.max(shortestMs, Math.min(longestMs, nowMs - acceptedAtMs));
  return { timeoutMs, anewFromMs: timeoutMs < longestMs ? acceptedAtMs + anewFactor * timeoutMs : undefined };
}
