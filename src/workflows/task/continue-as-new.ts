import { allHandlersFinished, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { TaskResult } from '../../contract/task-result';
import { longHistoryEvents, workflowTaskTimeout } from '../../core/workflow-tasks';
import { isHistoryLong } from '../run-info';
import type { TaskRun, TaskRunInput } from './task-run';

/** Not with a pending decision, nor after a cancellation unless the task is over: the next run cannot be canceled. */
function canContinue({ plan, state, decision }: TaskRun): boolean {
  const endsSoon = state.isCancellationRequested && state.incomplete === undefined;
  if (endsSoon || decision !== undefined) return false;
  return isHistoryLong(Math.min(longHistoryEvents, plan.tuning.continueAsNewAfterEvents));
}

/** Continues as new between two steps of a wait, when the history is long. */
export async function continueWhenLong(run: TaskRun): Promise<void> {
  if (!canContinue(run)) return;
  await condition(allHandlersFinished);
  if (!canContinue(run)) return;
  const goOn = makeContinueAsNewFunc<(input: TaskRunInput) => Promise<TaskResult>>({
    // A new run gets the memo of the start, without the number of the last create.
    memo: workflowInfo().memo ?? {},
    workflowTaskTimeout,
    // A new run can begin on a new version, so the form of its state only grows.
    initialVersioningBehavior: 'AUTO_UPGRADE',
  });
  await goOn({ ...run.input, continueAsNewState: run.state });
}

/** `false`: the time is over. Also ends when the history is long: then call {@link continueWhenLong}. */
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
