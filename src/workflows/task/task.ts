import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { TaskResult } from '../../contract/task-result';
import { sendRefusalWebhook, sendTaskWebhook } from '../end-webhook';
import { setDetails } from '../run-info';
import { archiveTask } from './archive';
import { createOnce } from './create';
import { taskDetails } from './display';
import { archiveFailure, countEnd, endingFailure, finishTask, finishUncreated } from './finish';
import { listen } from './message-handlers';
import { type PreparedInputs, prepareInputs } from './prepare-inputs';
import { openRun, type TaskRun, type TaskRunInput } from './task-run';
import { watchTask } from './watch';

/**
 * One task of the service, from its input files to its archived outputs:
 *
 * 1. prepare its input files: upload and commit each;
 * 2. create it, once;
 * 3. watch it until `Success`, `Failed` or `Canceled`, stopping it when asked to;
 * 4. archive its outputs before their links expire;
 * 5. finish with the result, or with a failure that says what happened, and have a webhook tell of it.
 *
 * Temporal's cancellation is a request to stop the *task*: the steps run in a scope that cannot be cancelled, and check
 * it. A long wait continues as new.
 */
export async function task(input: TaskRunInput): Promise<TaskResult> {
  let run: TaskRun;
  try {
    run = openRun(input);
  } catch (error) {
    await sendRefusalWebhook('task', input, error);
    throw error;
  }
  setDetails(() => taskDetails(run));
  listen(run);
  return await CancellationScope.nonCancellable(async () => {
    try {
      const result = await story(run);
      countEnd(run, result);
      await sendTaskWebhook(run, { result });
      await condition(allHandlersFinished);
      return result;
    } catch (error) {
      const failure = endingFailure(run, error);
      countEnd(run, null, failure);
      await sendTaskWebhook(run, { error: failure });
      await condition(allHandlersFinished);
      throw failure;
    }
  });
}

async function story(run: TaskRun): Promise<TaskResult> {
  const { state } = run;
  if (state.requestId === null) await createOnce(run, await resolveInputs(run));
  if (state.requestId === null) return finishUncreated(run);
  const end = state.incomplete?.end ?? (await watchTask(run));
  state.cost = end.cost;
  const archived = await archiveTask(run, end).catch((error: unknown) => {
    throw archiveFailure(run, end, error);
  });
  return finishTask(run, end, archived);
}

async function resolveInputs(run: TaskRun): Promise<PreparedInputs> {
  const { values } = run.plan;
  const { resources } = run.state;
  if (resources !== undefined) return { ...values, ...resources };
  const inputs = await prepareInputs(run);
  run.state.resources = Object.fromEntries(Object.entries(inputs).filter(([key]) => !Object.hasOwn(values, key)));
  return inputs;
}
