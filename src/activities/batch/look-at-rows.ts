import { Readable } from 'node:stream';
import { cancellationSignal } from '@temporalio/activity';
import type { LookAtRowsInput, LookAtRowsResult } from '../../contract/batch-activities';
import type { RowEnd } from '../../contract/batch-rows';
import type { RowTasks } from '../dependencies';
import { withHeartbeat } from '../heartbeat';
import { maxEndBytes, rowsAtOnce } from './at-once';

/**
 * Asks Temporal about the tasks of these rows: who was terminated by hand tells nobody, and what a signal says anybody
 * may have sent. It changes nothing. It stops at the row beyond which the ends would not fit into one result.
 */
export async function lookAtRows(
  { rowTasks }: { readonly rowTasks: Pick<RowTasks, 'look'> },
  { id, keys }: LookAtRowsInput,
): Promise<LookAtRowsResult> {
  const signal = cancellationSignal();
  const progress = { batch: id, looked: 0 };
  const ended: RowEnd[] = [];
  let bytes = 0;
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
        const end = await rowTasks.look(id, key);
        bytes += end === undefined ? 0 : Buffer.byteLength(JSON.stringify(end));
        return [end];
      }, rowsAtOnce);
      for await (const [end] of ends as AsyncIterable<[RowEnd | undefined]>) {
        progress.looked += 1;
        if (end !== undefined) ended.push(end);
      }
      return { ended, looked: progress.looked };
    },
  );
}
