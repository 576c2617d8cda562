import { type ReplayWorkerOptions, Worker } from '@temporalio/worker';
import { type RecordedHistory, toHistory } from './recorded-history';

/** A bundle of workflow code. */
export type ReplayBundle = NonNullable<ReplayWorkerOptions['workflowBundle']>;

/** What the bundled code says to a history, under the id that it was recorded with; `undefined`: it would do the same again. */
export async function replayHistory(
  workflowBundle: ReplayBundle,
  recorded: RecordedHistory,
): Promise<Error | undefined> {
  const history = toHistory(recorded);
  const workflowId = history.events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId;
  if (workflowId == null) throw new Error('The history does not begin with the start of a workflow.');
  const histories = [{ workflowId, history }];
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, histories)) return error;
  throw new Error('Nothing was replayed.');
}
