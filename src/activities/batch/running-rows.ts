import { Readable } from 'node:stream';
import { cancellationSignal } from '@temporalio/activity';
import {
  addRowProblem,
  type CancelBatchInput,
  type PollRowsInput,
  type PollRowsResult,
  type RowProblem,
} from '../../contract/batch/batch-activities';
import type { OpenRow, RowEnd } from '../../contract/batch/batch-rows';
import { longhaulStatuses } from '../../core/task-state';
import { safeText } from '../../core/text';
import { maxEndBytes } from '../../rows';
import type { BatchDependencies, RowTasks } from '../dependencies';
import { withHeartbeat } from '../heartbeat';

/** Concurrent questions to Temporal; nearly all of the wait is Temporal's. */
export const rowsAtOnce = { concurrency: 20 } as const;

const maxWordsLength = 300;

/** Polls as many of these rows as fit one result. It changes nothing. */
export async function pollRows(
  { rowTasks }: { readonly rowTasks: Pick<RowTasks, 'poll'> },
  { id, keys }: PollRowsInput,
): Promise<PollRowsResult> {
  const signal = cancellationSignal();
  const progress = { batch: id, polled: 0 };
  const ended: RowEnd[] = [];
  const states: Record<string, number> = {};
  let problem: RowProblem | undefined;
  let bytes = 0;
  const addOpen = (key: string, { status, problem: found }: OpenRow): void => {
    // Any client may set a search attribute; it enters a history and a page.
    const name = longhaulStatuses.some((known) => known === status) ? status : 'Other';
    states[name] = (states[name] ?? 0) + 1;
    if (found === null) return;
    const message = safeText(found.message, [], maxWordsLength);
    problem = addRowProblem(problem, {
      rows: 1,
      key: safeText(key),
      problem: { ...found, message, nextAttemptAt: undefined },
    });
  };
  const wanted = function* (): Generator<string, void, undefined> {
    for (const key of keys) {
      if (bytes > maxEndBytes) return;
      yield key;
    }
  };
  return await withHeartbeat(
    () => progress,
    async () => {
      const ends = Readable.from(wanted()).map(async (key: string) => {
        signal.throwIfAborted();
        const end = await rowTasks.poll(id, key, (row) => {
          addOpen(key, row);
        });
        bytes += end === undefined ? 0 : Buffer.byteLength(JSON.stringify(end));
        return [end];
      }, rowsAtOnce);
      for await (const [end] of ends as AsyncIterable<[RowEnd | undefined]>) {
        progress.polled += 1;
        if (end !== undefined) ended.push(end);
      }
      return { ended, polled: progress.polled, states, problem };
    },
  );
}

export async function stopRows({ rowTasks }: BatchDependencies, { id, keys }: PollRowsInput): Promise<void> {
  const signal = cancellationSignal();
  const progress = { batch: id, stopped: 0 };
  await withHeartbeat(
    () => progress,
    async () => {
      await Readable.from(keys).forEach(async (key: string) => {
        signal.throwIfAborted();
        await rowTasks.stop(id, key);
        progress.stopped += 1;
      }, rowsAtOnce);
    },
  );
}

export async function cancelBatch({ rowTasks }: BatchDependencies, { id }: CancelBatchInput): Promise<void> {
  await rowTasks.cancelBatch(id);
}
