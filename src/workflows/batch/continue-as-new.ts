import { allHandlersFinished, condition, makeContinueAsNewFunc } from '@temporalio/workflow';
import { workflowTaskTimeout } from '../../domain/workflow-tasks';
import { isHistoryLong } from '../history-length';
import type { BatchRun } from './batch-run';

/** Whether the history of this run is long enough for a fresh run. */
export function canContinue({ plan }: BatchRun): boolean {
  return isHistoryLong(plan.tuning.continueAsNewAfterEvents);
}

/** Hands over to a fresh run when the history is long, whatever the batch waits for; before, the ends of its rows are recorded. */
export async function continueWhenLong(run: BatchRun, recordEnded: () => Promise<void>): Promise<void> {
  if (!canContinue(run)) return;
  do {
    await recordEnded();
    await condition(allHandlersFinished);
  } while (run.ended.length > 0);
  // A new run can begin on a new version, as that of a task.
  const goOn = makeContinueAsNewFunc({ workflowTaskTimeout, initialVersioningBehavior: 'AUTO_UPGRADE' });
  await goOn({ ...run.input, continueAsNewState: run.handOver() });
}
