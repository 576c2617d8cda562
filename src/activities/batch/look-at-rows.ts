import { Readable } from 'node:stream';
import { cancellationSignal } from '@temporalio/activity';
import type { LookAtRowsInput, LookAtRowsResult } from '../../contract/batch-activities';
import type { RowEnd } from '../../contract/batch-rows';
import type { BatchDependencies } from '../dependencies';
import { withHeartbeat } from '../heartbeat';
import { rowsAtOnce } from './at-once';

/** Asks Temporal about the tasks of these rows: who was terminated by hand tells nobody. It changes nothing. */
export async function lookAtRows(
  { rowTasks }: BatchDependencies,
  { id, keys }: LookAtRowsInput,
): Promise<LookAtRowsResult> {
  const signal = cancellationSignal();
  const progress = { batch: id, looked: 0 };
  return await withHeartbeat(
    () => progress,
    async () => {
      const ends = await Readable.from(keys)
        .map(async (key: string) => {
          signal.throwIfAborted();
          const end = await rowTasks.look(id, key);
          progress.looked += 1;
          return [end];
        }, rowsAtOnce)
        .toArray();
      return { ended: ends.flatMap(([end]: [RowEnd | undefined]) => (end === undefined ? [] : [end])) };
    },
  );
}
