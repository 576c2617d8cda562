import { CancellationScope, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type {
  AwaitRowEndsResult,
  ReportBatchResult,
  RowCursor,
  RowEndCursor,
  StartRowsResult,
} from '../../contract/batch/batch-activities';
import type { BatchInput } from '../../contract/batch/batch-input';
import type { BatchProgress, BatchState } from '../../contract/batch/batch-messages';
import {
  addUploads,
  isRetryable,
  maxFailureTypes,
  noUploads,
  type RowEnd,
  type RowRecord,
  type RunningRow,
} from '../../contract/batch/batch-rows';
import type { BatchPlan } from '../../contract/batch/parse-batch-input';
import { failureTypes } from '../../contract/failure-types';
import { searchAttributes } from '../../contract/search-attributes';
import { addCost, noSpending } from '../../money/batch-budget';
import { pickKeys, pickPlace } from '../../core/batch/row-place';
import { BatchPace } from '../../core/batch/batch-pace';
import { type BatchContinueAsNewState, readBatchStart, readBudget } from './batch-state';
import { batchDetails, viewProgress } from './details';
import { RowWindow } from './row-window';

const shownFailures = 5;
const maxProblemLength = 1_000;
/** The next row starts within this time of the end of the one before, unless the batch may not start it. */
const holdMs = 30_000;

/** Ends of rows that may have a task at the service although no request id is known. */
const mayHaveTask: readonly string[] = [failureTypes.CreateUncertain, 'Terminated'];

export type BatchPhase = Exclude<
  BatchState,
  'Paused' | 'BudgetReached' | 'DailyBudgetReached' | 'Draining' | 'Stopping'
>;

/** The stop of a batch, asked for by Temporal's cancellation. */
class BatchStop {
  isAsked = false;
  /** Whether this run was canceled, and so can end as canceled. */
  isCanceled = false;
  #breakable: CancellationScope | undefined;

  cancel(): void {
    this.isCanceled = true;
    this.ask();
  }

  ask(): void {
    this.isAsked = true;
    this.#breakable?.cancel();
  }

  /** Takes a step that could only lead to more rows; undefined when the stop broke it off, or came before it. */
  async unlessAsked<Result>(step: () => Promise<Result>): Promise<Result | undefined> {
    if (this.isAsked) return undefined;
    const scope = new CancellationScope({ cancellable: true });
    this.#breakable = scope;
    try {
      return await scope.run(step);
    } catch (error) {
      if (scope.consideredCancelled) return undefined;
      throw error;
    }
  }
}

/** A batch as its workflow knows it: the plan, the state, and how both are shown. */
export class BatchRun {
  readonly input: BatchInput;
  readonly plan: BatchPlan;
  readonly state: BatchContinueAsNewState;
  readonly stop = new BatchStop();
  /** Ended, and not recorded yet. */
  ended: RowRecord[] = [];
  /** The window; `state.running` is made of it. */
  readonly #window: RowWindow;
  readonly #pace: BatchPace;
  #phase: BatchPhase = 'Opening';
  #shown: BatchState | null = null;
  #problem: string | null = null;
  #report: ReportBatchResult | null = null;
  /** The rows were scanned from here on: the next one is to be started, and beyond the budget. */
  #scannedFrom: RowCursor | null = null;

  /** Reads the input; a malformed one fails the workflow with every problem listed. */
  static open(argument: unknown): BatchRun {
    const { input, plan, state } = readBatchStart(argument);
    return new BatchRun(input, plan, state);
  }

  private constructor(input: BatchInput, plan: BatchPlan, state: BatchContinueAsNewState) {
    this.input = input;
    this.plan = plan;
    this.state = state;
    this.#window = new RowWindow(state.running);
    this.#pace = new BatchPace(state.startedAtMs + (state.heldMs ?? 0), state.pace);
    if (state.isStopAsked === true) this.stop.ask();
  }

  get runningRows(): readonly RunningRow[] {
    return this.#window.rows;
  }

  /** Or is being started. */
  get isAnyRowRunning(): boolean {
    return this.#window.size > 0 || this.#window.isStarting;
  }

  /** How many rows may start; 0: none, but they are scanned, for what is on record costs nothing. Null: nothing to do. */
  get startLimit(): number | null {
    const { cursor, isPaused, isDraining, dailyWait, concurrency } = this.state;
    if (cursor === null || isPaused || isDraining || dailyWait !== undefined || this.stop.isAsked) return null;
    const running = this.#window.size;
    const free = Math.max(0, concurrency - running);
    const limit = Math.min(free, readBudget(this.state, running)?.places ?? free);
    if (limit > 0) return limit;
    return running === 0 && !isSamePlace(this.#scannedFrom, cursor) ? 0 : null;
  }

  /** The rows were scanned from here on: where that led nowhere, the next one is to be started. */
  endScan(from: RowCursor): void {
    if (isSamePlace(from, this.state.cursor)) this.#scannedFrom = from;
  }

  /** Whether nothing runs and no more rows of this pass will be started. */
  get isOver(): boolean {
    const { cursor, isDraining } = this.state;
    return this.#window.size === 0 && (cursor === null || isDraining || this.stop.isAsked);
  }

  beginStart(): void {
    this.#window.beginStart();
  }

  takeStarted({ running, ended, left = 0, onRecord, next, dailyBudget }: StartRowsResult): void {
    const { state } = this;
    if (running.length > 0) this.#endHold();
    this.#window.add(running);
    for (const record of ended) this.#count(record, record);
    for (const record of ended.slice(left)) this.#addCost(record);
    for (const { end, askedMs } of this.#window.endStart()) this.takeEnd(end, askedMs);
    // They were counted when they failed, and will be when they end.
    if (state.mode === 'retryable') state.failed = Math.max(0, state.failed - running.length - ended.length);
    if (running.length > 0) state.lastMovedMs = Date.now();
    // In a pass over the failed rows, those on record were counted when they failed.
    if (state.mode === 'new') this.#countOnRecord(onRecord);
    state.cursor = next;
    if (dailyBudget === undefined) return;
    const { account, words, waitMs } = dailyBudget;
    state.dailyWait = { account, words, untilMs: Date.now() + waitMs };
    this.refresh();
  }

  /** A pause, or a wait for a budget, is no part of the pace. */
  #endHold(): void {
    const { state } = this;
    const ms = Date.now() - this.#lastMovedMs;
    if (this.#window.size > 0 || ms < holdMs) return;
    this.#pace.skip(ms);
    state.heldMs = (state.heldMs ?? 0) + ms;
  }

  get #lastMovedMs(): number {
    return this.state.lastMovedMs ?? this.state.startedAtMs;
  }

  #countOnRecord({ success, failed, canceled }: StartRowsResult['onRecord']): void {
    const { state } = this;
    state.success += success;
    state.failed += failed;
    state.canceled += canceled;
    const before = state.onRecord;
    if (before === undefined) return;
    state.onRecord = {
      ...before,
      success: before.success + success,
      failed: before.failed + failed,
      canceled: before.canceled + canceled,
    };
  }

  endDailyWait(): void {
    this.state.dailyWait = undefined;
  }

  get endsFrom(): RowEndCursor {
    const { endsFrom, startedAtMs } = this.state;
    return endsFrom ?? { closedAfter: new Date(startedAtMs).toISOString(), seenRuns: [] };
  }

  /** Takes in which rows ended, as an activity tells that was asked at this moment. */
  takeEnds({ ended, next }: AwaitRowEndsResult, askedMs: number): void {
    for (const end of ended) this.takeEnd(end, askedMs);
    this.state.endsFrom = next;
    // Once every row was started, nothing else would show them for minutes.
    if (ended.length > 0) this.redraw();
  }

  /** Takes in how a row ended; one that neither runs nor is being started was counted before. */
  takeEnd(end: RowEnd, askedMs: number): void {
    const row = this.#window.takeEnd(end, askedMs);
    if (row === undefined) return;
    this.#count(end, row);
    this.#addCost(end);
    // It may have cost less than was reserved for it.
    this.endDailyWait();
  }

  /** Takes in what a row's task cost, whichever attempt it was. */
  #addCost({ cost, requestId, failure }: RowEnd): void {
    const { spending = noSpending } = this.state;
    const isPaid = requestId !== null || mayHaveTask.includes(failure?.type ?? '');
    if (cost !== undefined || isPaid) this.state.spending = addCost(spending, cost);
  }

  #count(end: RowEnd, row: RunningRow): void {
    const { state } = this;
    this.ended.push({ ...end, ...row });
    state.lastMovedMs = Date.now();
    // What was over before the batch began says nothing of how fast it goes.
    if (Date.parse(end.endedAt) >= state.startedAtMs) this.#pace.add(Date.now());
    state.uploads = addUploads(state.uploads, end.uploads ?? noUploads);
    if (end.status === 'Success') state.success += 1;
    else if (end.status === 'Canceled') state.canceled += 1;
    else this.#countFailure(end, row);
  }

  #countFailure(end: RowEnd, row: RunningRow): void {
    const { state } = this;
    const { failure } = end;
    if (isRetryable(end) && Date.parse(end.endedAt) >= state.startedAtMs) state.retryable = (state.retryable ?? 0) + 1;
    const { type, message } = failure ?? { type: 'Failed', message: 'no failure message' };
    state.failed += 1;
    const counted = new Map(Object.entries(state.failures));
    const name = counted.has(type) || counted.size < maxFailureTypes ? type : 'Other';
    state.failures = Object.fromEntries(counted.set(name, (counted.get(name) ?? 0) + 1));
    state.lastFailures = [{ ...pickKeys(row), ...pickPlace(row), message }, ...state.lastFailures].slice(
      0,
      shownFailures,
    );
  }

  show(phase: BatchPhase, problem: string | null = null): void {
    this.#phase = phase;
    this.#problem = problem?.slice(0, maxProblemLength) ?? null;
    this.refresh();
  }

  /** The results are joined: nothing is left to do. */
  end(report: ReportBatchResult): void {
    this.#report = report;
    this.show('Ended');
  }

  refresh(): void {
    const { current } = this;
    if (current !== this.#shown) upsertSearchAttributes([{ key: searchAttributes.status, value: current }]);
    this.#shown = current;
    this.redraw();
  }

  /** The same without its search attribute: what changed is no state, and an upsert would be an event. */
  redraw(): void {
    setCurrentDetails(batchDetails(this.view()));
  }

  get current(): BatchState {
    const { state } = this;
    const phase = this.#phase;
    if (phase === 'Reporting' || phase === 'Ended') return phase;
    if (this.stop.isAsked) return 'Stopping';
    if (phase === 'Opening') return phase;
    if (state.isDraining) return 'Draining';
    if (state.isPaused) return 'Paused';
    const isAtBudget = this.#window.size === 0 && isSamePlace(this.#scannedFrom, state.cursor);
    if (isAtBudget && readBudget(state, 0)?.places === 0) return 'BudgetReached';
    return state.dailyWait !== undefined && this.#window.size === 0 ? 'DailyBudgetReached' : 'Running';
  }

  handOver(): BatchContinueAsNewState {
    return {
      ...this.state,
      running: this.runningRows,
      pace: this.#pace.samples,
      isStopAsked: this.stop.isAsked,
    };
  }

  view(): BatchProgress {
    const { plan, state, current } = this;
    const running = this.#window.size;
    const perMinute = this.#pace.perMinute(running === 0 ? this.#lastMovedMs : Date.now());
    return viewProgress({
      plan,
      state,
      current,
      running,
      isStopAsked: this.stop.isAsked,
      perMinute,
      problem: this.#problem,
      report: this.#report,
    });
  }
}

function isSamePlace(one: RowCursor | null, other: RowCursor | null): boolean {
  return one !== null && one.page === other?.page && one.skip === other.skip;
}
