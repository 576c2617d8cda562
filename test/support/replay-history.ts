import { type ReplayWorkerOptions, Worker } from '@temporalio/worker';
import { type RecordedHistory, toHistory } from './recorded-history';

/** A bundle of workflow code. */
export type ReplayBundle = NonNullable<ReplayWorkerOptions['workflowBundle']>;

/** What the bundled code says to a history; `undefined`: it would do the same again. */
export async function replayHistory(
  workflowBundle: ReplayBundle,
  workflowId: string,
  history: RecordedHistory,
): Promise<Error | undefined> {
  const histories = [{ workflowId, history: toHistory(history) }];
  for await (const { error } of Worker.runReplayHistories({ workflowBundle }, histories)) return error;
  throw new Error('Nothing was replayed.');
}
