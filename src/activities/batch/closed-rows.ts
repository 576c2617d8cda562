import type { ClosedRow } from '../../contract/batch/batch-rows';
import type { RowTasks } from '../dependencies';

export interface AskForClosedRows {
  readonly batchId: string;
  /** ISO-8601. */
  readonly after: string;
  /** The answer may come earlier, together with that of another batch. */
  readonly withinMs: number;
  readonly signal: AbortSignal;
}

interface Waiting extends AskForClosedRows {
  readonly dueMs: number;
  readonly resolve: (rows: readonly ClosedRow[]) => void;
  readonly reject: (error: unknown) => void;
}

const betweenMs = 100;

/** Asks Temporal's visibility once for all batches of a worker that wait for ends of rows. */
export class ClosedRows {
  readonly #rowTasks: Pick<RowTasks, 'closedRows'>;
  #waiting: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;
  #lastMs = Number.NEGATIVE_INFINITY;
  #isAsking = false;

  constructor(rowTasks: Pick<RowTasks, 'closedRows'>) {
    this.#rowTasks = rowTasks;
  }

  /** Never settles once its signal is aborted. Throws what `RowTasks.closedRows` does. */
  async ask(asked: AskForClosedRows): Promise<readonly ClosedRow[]> {
    return await new Promise((resolve, reject) => {
      this.#waiting.push({ ...asked, dueMs: performance.now() + asked.withinMs, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    this.#waiting = this.#waiting.filter(({ signal }) => !signal.aborted);
    clearTimeout(this.#timer);
    if (this.#isAsking || this.#waiting.length === 0) return;
    const dueMs = Math.max(Math.min(...this.#waiting.map((one) => one.dueMs)), this.#lastMs + betweenMs);
    this.#timer = setTimeout(() => void this.#askForAll(), Math.max(0, dueMs - performance.now()));
  }

  async #askForAll(): Promise<void> {
    const waiting = this.#waiting.filter(({ signal }) => !signal.aborted);
    this.#waiting = [];
    if (waiting.length === 0) return;
    this.#isAsking = true;
    try {
      const answers = await this.#rowTasks.closedRows(waiting);
      for (const [index, { resolve }] of waiting.entries()) resolve(answers[index] ?? []);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
    this.#lastMs = performance.now();
    this.#isAsking = false;
    this.#schedule();
  }
}
