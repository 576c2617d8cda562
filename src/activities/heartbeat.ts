import { CancelledFailure, Context } from '@temporalio/activity';
import { ApplicationFailure, ApplicationFailureCategory } from '@temporalio/common';
import type { CreateHeartbeat } from '../contract/activities';
import { failureTypes, workerStopping } from '../contract/failure-types';
import { isRequestId } from '../core/create-outcome';
import { isRecord } from '../core/json';
import { workerClock } from './clock';

interface AttemptRecord {
  /** Attempts in a row that ended without a report: their worker died, or lost its connection. */
  readonly lost: number;
  readonly isOpen: boolean;
}

/** Each heartbeat is charged, and the shortest heartbeat timeout is 10 s. */
const everyMs = 3_000;
const confirmWithinMs = 1_000;
/** Lost attempts in a row before the activity fails for good: it may be what ends the workers. */
const maxLostAttempts = 5;
const suspectFrom = 2;
const suspectRetryMs = 5_000;
const handOverMs = 100;

const state = { isProcessFailing: false, isSuspectRunning: false };

/** From now on a cut-off attempt counts as lost: one that runs now may have broken the process. */
export function markProcessFailing(): void {
  state.isProcessFailing = true;
}

/**
 * Runs `work` with heartbeats, so that a dead worker is noticed within seconds. A first attempt that succeeds within
 * three seconds sends none.
 *
 * Attempts that never reported their end are counted in the heartbeat; a first one that left none counts as well, since
 * one that fails leaves one. A worker runs one suspect at a time, so that what ran beside the culprit is cleared.
 *
 * @throws ApplicationFailure `WorkerLost` after {@link maxLostAttempts}, or what `work` throws.
 */
export async function withHeartbeat<T>(progress: () => object, work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const lost = lostAttempts(context.info);
  if (lost >= maxLostAttempts) {
    throw ApplicationFailure.nonRetryable(
      `${lost} attempts in a row ended without a report: their workers died or lost the connection to Temporal. ` +
        'It may be this work that ends them, so it is not tried again by itself: read the logs of the workers first',
      failureTypes.WorkerLost,
    );
  }
  if (lost < suspectFrom) return await counted(context, lost, progress, work);
  if (state.isSuspectRunning) {
    context.heartbeat({ ...progress(), attempts: { lost, isOpen: false } });
    throw ApplicationFailure.create({
      type: failureTypes.WorkerLost,
      message: 'Earlier attempts were lost with their workers; this one waits until another such attempt has ended.',
      category: ApplicationFailureCategory.BENIGN,
      nextRetryDelay: suspectRetryMs,
    });
  }
  state.isSuspectRunning = true;
  try {
    return await counted(context, lost, progress, work);
  } finally {
    state.isSuspectRunning = false;
  }
}

async function counted<T>(context: Context, lost: number, progress: () => object, work: () => Promise<T>): Promise<T> {
  const record = (attempts: AttemptRecord): object => ({ ...progress(), attempts });
  const open = { lost, isOpen: true };
  if (context.info.attempt > 1) {
    // Confirmed, so that an attempt that ends its worker at once is counted.
    await confirmHeartbeat(context, record(open), confirmWithinMs).catch(() => undefined);
  }
  const timer = setInterval(() => {
    context.heartbeat(record(open));
  }, everyMs);
  try {
    return await work();
  } catch (error) {
    // Sent before the failure. An attempt that a failing process cuts off stays open.
    if (!(state.isProcessFailing && context.cancellationSignal.aborted)) {
      context.heartbeat(record({ lost: 0, isOpen: false }));
    }
    throw error;
  } finally {
    clearInterval(timer);
  }
}

/** Rejects when Temporal does not confirm the heartbeat in time, or refuses it. */
export async function confirmHeartbeat({ client, info }: Context, details: object, withinMs: number): Promise<void> {
  await client.withDeadline(workerClock() + withinMs, () => client.activity.heartbeat(info.taskToken, details));
}

function lostAttempts({ attempt, heartbeatDetails }: { attempt: number; heartbeatDetails: unknown }): number {
  if (heartbeatDetails == null) return attempt > 1 ? 1 : 0;
  if (!isRecord(heartbeatDetails) || !isRecord(heartbeatDetails['attempts'])) return 0;
  const { lost, isOpen } = heartbeatDetails['attempts'];
  return (typeof lost === 'number' ? lost : 0) + (isOpen === true ? 1 : 0);
}

export function isWorkerStopping(error: unknown): boolean {
  return error instanceof CancelledFailure && error.message === 'WORKER_SHUTDOWN';
}

/** Ends the attempt so that another worker goes on at once, from the last heartbeat. */
export function handOver(message: string): ApplicationFailure {
  return ApplicationFailure.create({
    type: workerStopping,
    message,
    category: ApplicationFailureCategory.BENIGN,
    nextRetryDelay: handOverMs,
  });
}

export function readCreateHeartbeat(details: unknown): CreateHeartbeat | undefined {
  if (!isRecord(details) || typeof details['archiveId'] !== 'string') return undefined;
  const { archiveId, requestId, isReleased, maker, refused } = details;
  return {
    archiveId,
    requestId: isRequestId(requestId) ? requestId : undefined,
    isReleased: isReleased === true ? true : undefined,
    maker: typeof maker === 'string' ? maker : undefined,
    refused: typeof refused === 'number' ? refused : undefined,
  };
}
