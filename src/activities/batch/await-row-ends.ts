import { Readable } from 'node:stream';
import { Context } from '@temporalio/activity';
import type { AwaitRowEndsInput, AwaitRowEndsResult, RowEndCursor } from '../../contract/batch/batch-activities';
import type { ClosedRow, RowEnd } from '../../contract/batch/batch-rows';
import { maxEndBytes } from '../../rows';
import type { RowTasks } from '../dependencies';
import { handOver, isWorkerStopping } from '../heartbeat';
import type { ClosedRows } from './closed-rows';
import { rowsAtOnce } from './running-rows';

/** Visibility may show a closed run this much later than one that closed after it. */
const lateMs = 5_000;
const maxPauseMs = 1_000;
const heartbeatShare = 1 / 3;
/** Last characters of a run id, kept in histories; the first ones are a time. */
const runIdLength = 8;

/** Visibility lags, and others may claim to be rows, so each task is described. */
export async function awaitRowEnds(
  { rowTasks, closedRows }: { readonly rowTasks: Pick<RowTasks, 'poll'>; readonly closedRows: ClosedRows },
  { id, from, enough, collectMs }: AwaitRowEndsInput,
): Promise<AwaitRowEndsResult> {
  const context = Context.current();
  const { cancellationSignal: signal } = context;
  const ends = new RowEnds(from);
  const heartbeat = (): void => {
    context.heartbeat({ batch: id, ended: ends.list.length });
  };
  const timer = setInterval(heartbeat, (context.info.heartbeatTimeoutMs ?? 30_000) * heartbeatShare);
  const untilEnough = async (): Promise<AwaitRowEndsResult> => {
    let collectUntilMs = Number.POSITIVE_INFINITY;
    for (let withinMs = 0; ; withinMs = Math.min(maxPauseMs, collectMs)) {
      const asked = { batchId: id, after: ends.cursor.closedAfter, withinMs, signal };
      await ends.read(await closedRows.ask(asked), (key) => rowTasks.poll(id, key));
      signal.throwIfAborted();
      const nowMs = performance.now();
      if (ends.list.length > 0) collectUntilMs = Math.min(collectUntilMs, nowMs + collectMs);
      if (ends.list.length >= enough || ends.isFull || nowMs >= collectUntilMs) {
        return { ended: ends.list, next: ends.cursor };
      }
    }
  };
  try {
    return await Promise.race([untilEnough(), context.cancelled]);
  } catch (error) {
    if (!isWorkerStopping(error)) throw error;
    throw handOver('The worker shuts down; another one awaits the ends of the rows.');
  } finally {
    clearInterval(timer);
  }
}

class RowEnds {
  readonly list: RowEnd[] = [];
  #bytes = 0;
  #closedAfterMs: number;
  /** When each read run closed, by the end of its id; for runs of an earlier call, known from the next answer. */
  readonly #seen: Map<string, number>;

  constructor({ closedAfter, seenRuns }: RowEndCursor) {
    this.#closedAfterMs = Date.parse(closedAfter);
    this.#seen = new Map(seenRuns.map((runId) => [runId, this.#closedAfterMs]));
  }

  get cursor(): RowEndCursor {
    return { closedAfter: new Date(this.#closedAfterMs).toISOString(), seenRuns: [...this.#seen.keys()] };
  }

  get isFull(): boolean {
    return this.#bytes > maxEndBytes;
  }

  async read(closed: readonly ClosedRow[], poll: (key: string) => Promise<RowEnd | undefined>): Promise<void> {
    const unread: ClosedRow[] = [];
    for (const row of closed) {
      const runId = row.runId.slice(-runIdLength);
      if (this.#seen.has(runId)) this.#seen.set(runId, Date.parse(row.closedAt));
      else unread.push(row);
    }
    const polled = Readable.from(this.#whileNotFull(unread)).map(
      async (row: ClosedRow) => ({ row, end: await poll(row.key) }),
      rowsAtOnce,
    );
    let latestMs = this.#closedAfterMs;
    for await (const { row, end } of polled as AsyncIterable<{ row: ClosedRow; end: RowEnd | undefined }>) {
      const closedMs = Date.parse(row.closedAt);
      latestMs = Math.max(latestMs, closedMs);
      this.#seen.set(row.runId.slice(-runIdLength), closedMs);
      if (end === undefined) continue;
      this.list.push(end);
      this.#bytes += Buffer.byteLength(JSON.stringify(end));
    }
    const forgetBeforeMs = latestMs - lateMs;
    if (forgetBeforeMs <= this.#closedAfterMs) return;
    this.#closedAfterMs = forgetBeforeMs;
    // Temporal's clock is finer: what closed in this very millisecond may be in the next answer, too.
    for (const [runId, closedMs] of this.#seen) if (closedMs < forgetBeforeMs) this.#seen.delete(runId);
  }

  *#whileNotFull(rows: readonly ClosedRow[]): Generator<ClosedRow> {
    for (const row of rows) {
      if (this.isFull) return;
      yield row;
    }
  }
}
