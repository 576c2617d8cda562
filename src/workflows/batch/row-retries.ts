import type { StartMode } from '../../contract/batch/batch-activities';
import { isRetryable, type RowEnd } from '../../contract/batch/batch-rows';
import { type BatchContinueAsNewState, firstRow } from './continue-as-new-state';

/**
 * The passes of a batch over rows that failed: another attempt, which follows by itself, and one that is asked for by the
 * update `retryFailed`. The figures are in the batch's state.
 */
export class RowRetries {
  readonly #state: BatchContinueAsNewState;
  /** How often a row is run at most. */
  readonly #attempts: number;

  constructor(state: BatchContinueAsNewState, attempts: number) {
    this.#state = state;
    this.#attempts = attempts;
  }

  /** Which pass follows. Null: none. */
  nextPass(isStopAsked: boolean): Exclude<StartMode, 'new'> | null {
    const { isRetryAsked, isDraining, cursor, attempt = 1, retryable = 0 } = this.#state;
    if (cursor !== null || isDraining || isStopAsked) return null;
    if (isRetryAsked) return 'failed';
    return retryable > 0 && attempt < this.#attempts ? 'retryable' : null;
  }

  /** Begins another pass, over rows that did not succeed. */
  beginPass(mode: Exclude<StartMode, 'new'>): void {
    const state = this.#state;
    Object.assign(state, { mode, cursor: firstRow, retryable: 0 });
    if (mode === 'failed') {
      Object.assign(state, { isRetryAsked: false, failed: 0, canceled: 0 });
      // They are run again after all.
      if (state.onRecord !== undefined) state.onRecord = { ...state.onRecord, failed: 0, canceled: 0 };
    } else state.attempt = (state.attempt ?? 1) + 1;
  }

  /** So many rows of this pass were started. */
  takeStarted(rows: number): void {
    const state = this.#state;
    // They were counted when they failed, and will be when they end.
    if (state.mode === 'retryable') state.failed = Math.max(0, state.failed - rows);
  }

  /** Counts a row that failed, if another attempt may end better. */
  add(end: RowEnd): void {
    const state = this.#state;
    if (isRetryable(end) && Date.parse(end.endedAt) >= state.startedAtMs) state.retryable = (state.retryable ?? 0) + 1;
  }
}
