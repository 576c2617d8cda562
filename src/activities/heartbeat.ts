import { Context } from '@temporalio/activity';
import type { TransferProgress } from '../contract/activities';

const everyMs = 1_000;

/** Runs a transfer that tells Temporal how far it is, so that a dead worker is noticed within seconds. */
export async function withHeartbeat<T>(progress: () => TransferProgress, transfer: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const beat = (): void => {
    context.heartbeat(progress());
  };
  beat();
  const timer = setInterval(beat, everyMs);
  try {
    return await transfer();
  } finally {
    clearInterval(timer);
  }
}
