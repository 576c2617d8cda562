import { allHandlersFinished, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { TaskResult } from '../../contract/task-result';
import { longHistoryEvents, workflowTaskTimeout } from '../../core/workflow-tasks';
import { isHistoryLong } from '../run-info';
import type { TaskRun, TaskRunInput } from './task-run';

/** Not with a decision in hand, nor after a cancellation unless the task is over: the next run cannot end as canceled. */
function canContinue({ plan, state, decision }: TaskRun): boolean {
  const endsSoon = state.isCancellationRequested && state.incomplete === undefined;
  if (endsSoon || decision !== undefined) return false;
  return isHistoryLong(Math.min(longHistoryEvents, plan.tuning.continueAsNewAfterEvents));
}

/** Between two steps of a wait: hands over to a fresh run when the history is long. */
export async function continueWhenLong(run: TaskRun): Promise<void> {
  if (!canContinue(run)) return;
  await condition(allHandlersFinished);
  // What came in meanwhile may be a decision or a cancellation.
  if (!canContinue(run)) return;
  const goOn = makeContinueAsNewFunc<(input: TaskRunInput) => Promise<TaskResult>>({
    // By itself a new run gets the memo of the start, without what was put in since: the number of the last create.
    memo: workflowInfo().memo ?? {},
    workflowTaskTimeout,
    // A new run can begin on a new version: its state crosses over as one object, whose form only grows.
    initialVersioningBehavior: 'AUTO_UPGRADE',
  });
  await goOn({ ...run.input, continueAsNewState: run.state });
}

/** `false`: the time is over. Also ends when the history is long: the caller then calls {@link continueWhenLong}. */
export async function waitBounded(
  run: TaskRun,
  until: () => boolean,
  within?: { readonly ms: number; readonly summary: string },
): Promise<boolean> {
  const isOver = (): boolean => until() || canContinue(run);
  if (within !== undefined) return await condition(isOver, within.ms, { summary: within.summary });
  await condition(isOver);
  return true;
}
