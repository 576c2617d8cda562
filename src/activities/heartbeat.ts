import { Context } from '@temporalio/activity';

const everyMs = 1_000;

/** Runs something long that tells Temporal how far it is, so that a dead worker is noticed within seconds. */
export async function withHeartbeat<T>(progress: () => object, work: () => Promise<T>): Promise<T> {
  const context = Context.current();
  const beat = (): void => {
    context.heartbeat(progress());
  };
  beat();
  const timer = setInterval(beat, everyMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
