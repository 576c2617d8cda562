import { countTasks } from './list-tasks';
import type { TemporalAccess } from './temporal-access';

/** What Temporal's visibility alone can tell of a batch's rows; seconds old at most. */
export interface RowCounts {
  /** Rows whose tasks wait for a person's decision. */
  readonly needPerson: number;
  /** Rows whose tasks upload their input files. */
  readonly uploading: number;
}

/** Servers allow few such queries a second, for a whole namespace. */
const countEveryMs = 3_000;

/** Counts a batch's rows by what they do, once every few seconds, however often it is asked. */
export class RowCounter {
  readonly #access: TemporalAccess;
  readonly #batch: string;
  #last: { readonly counts: RowCounts; readonly atMs: number } | undefined;

  constructor(access: TemporalAccess, batch: string) {
    this.#access = access;
    this.#batch = batch;
  }

  async read(): Promise<RowCounts> {
    if (this.#last !== undefined && Date.now() - this.#last.atMs < countEveryMs) return this.#last.counts;
    const batch = this.#batch;
    const counts = {
      needPerson: await countTasks(this.#access, { batch, needsPerson: true }),
      uploading: await countTasks(this.#access, { batch, status: 'PreparingInputs', running: true }),
    };
    this.#last = { counts, atMs: Date.now() };
    return counts;
  }
}
