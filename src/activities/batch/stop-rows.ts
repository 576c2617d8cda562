import { Readable } from 'node:stream';
import { cancellationSignal } from '@temporalio/activity';
import type { CancelBatchInput, StopRowsInput } from '../../contract/batch-activities';
import type { BatchDependencies } from '../dependencies';
import { withHeartbeat } from '../heartbeat';
import { rowsAtOnce } from './at-once';

/** Asks the tasks of these rows to stop. A task that is over, or was asked before, is none the worse for it. */
export async function stopRows({ rowTasks }: BatchDependencies, { id, keys }: StopRowsInput): Promise<void> {
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

/** Has Temporal cancel the batch itself; once more makes no difference. */
export async function cancelBatch({ rowTasks }: BatchDependencies, { id }: CancelBatchInput): Promise<void> {
  await rowTasks.cancelBatch(id);
}
