import { Context } from '@temporalio/activity';
import type { SweepActivities, SweepPlan, SweepResult } from '../contract/sweep';
import { asApplicationFailure } from './to-application-failure';
import { handOver, isWorkerStopping, withHeartbeat } from './heartbeat';

export type RunSweep = (
  plan: SweepPlan,
  options: {
    readonly signal: AbortSignal;
    /** Epoch milliseconds, by Temporal's clock. */
    readonly nowMs: number;
    readonly onProgress: (words: string) => void;
  },
) => Promise<SweepResult>;

export function createSweepActivities(run: RunSweep): SweepActivities {
  return { sweep: (plan) => asApplicationFailure(null, () => sweepWithHeartbeat(run, plan)) };
}

async function sweepWithHeartbeat(run: RunSweep, plan: SweepPlan): Promise<SweepResult> {
  const { cancellationSignal: signal, info } = Context.current();
  const nowMs = info.currentAttemptScheduledTimestampMs;
  let progress = '';
  const onProgress = (words: string): void => {
    progress = words;
  };
  try {
    return await withHeartbeat(
      () => ({ progress }),
      () => run(plan, { signal, nowMs, onProgress }),
    );
  } catch (error) {
    if (!signal.aborted) throw error;
    const { reason } = signal as { readonly reason: unknown };
    throw isWorkerStopping(reason) ? handOver('The worker stops; another one sweeps from the start.') : reason;
  }
}
