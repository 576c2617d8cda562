import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type {
  AwaitRowEndsResult,
  ReportBatchResult,
  RowEndCursor,
  StartRowsResult,
} from '../../contract/batch/batch-activities';
import type { BatchInput } from '../../contract/batch/batch-input';
import type { BatchProgress, BatchState } from '../../contract/batch/batch-messages';
import {
  addUploads,
  maxFailureTypes,
  noUploads,
  type RowEnd,
  type RowRecord,
  type RunningRow,
} from '../../contract/batch/batch-rows';
import type { BatchPlan } from '../../contract/batch/parse-batch-input';
import { searchAttributes } from '../../contract/search-attributes';
import { pickKeys, pickPlace } from '../../domain/batch/row-place';
import { BatchPace } from '../../domain/batch/batch-pace';
import { BatchBudget } from './batch-budget';
import { BatchStop } from './batch-stop';
import { type BatchContinueAsNewState, readBatchStart } from './continue-as-new-state';
import { batchDetails, viewProgress } from './details';
import { RowRetries } from './row-retries';
import { RowWindow } from './row-window';

/** So many of the last failures are shown. */
const shownFailures = 5;
const maxProblemLength = 1_000;
/** The next row starts within this time of the end of the one before, unless the batch may not start it. */
const holdMs = 30_000;

/** Where a batch is in its story. */
export type BatchPhase = Exclude<
  BatchState,
  'Paused' | 'BudgetReached' | 'DailyBudgetReached' | 'Draining' | 'Stopping'
>;

/** A batch as its workflow knows it: the plan, the state, and how both are shown. */
export class BatchRun {
  readonly input: BatchInput;
  readonly plan: BatchPlan;
  readonly state: BatchContinueAsNewState;
  readonly stop = new BatchStop();
  readonly budget: BatchBudget;
  readonly retries: RowRetries;
  /** Ended, and not recorded yet. */
  ended: RowRecord[] = [];
  /** The window; `state.running` is made of it. */
  readonly #window: RowWindow;
  readonly #pace: BatchPace;
  #phase: BatchPhase = 'Opening';
  #shown: BatchState | null = null;
  #problem: string | null = null;
  #report: ReportBatchResult | null = null;

  /** Reads the input; a malformed one fails the workflow with every problem listed. */
  static open(argument: unknown): BatchRun {
    const { input, plan, state } = readBatchStart(argument);
    return new BatchRun(input, plan, state);
  }

  private constructor(input: BatchInput, plan: BatchPlan, state: BatchContinueAsNewState) {
    this.input = input;
    this.plan = plan;
    this.state = state;
    this.budget = new BatchBudget(state);
    this.retries = new RowRetries(state, plan.attempts);
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

  get freePlaces(): number {
    const running = this.#window.size;
    return this.budget.limit(Math.max(0, this.state.concurrency - running), running);
  }

  get mayStart(): boolean {
    const { cursor, isPaused, isDraining, dailyWait } = this.state;
    return cursor !== null && !isPaused && !isDraining && dailyWait === undefined && !this.stop.isAsked;
  }

  /** Whether rows are to be looked through of which the budget lets none start. */
  get mayLookAhead(): boolean {
    return this.mayStart && this.#window.size === 0 && this.budget.mayLookAhead;
  }

  /** Whether nothing runs and no more rows of this pass will be started. */
  get isOver(): boolean {
    const { cursor, isDraining } = this.state;
    return this.#window.size === 0 && (cursor === null || isDraining || this.stop.isAsked);
  }

  /** Whether a batch that was over is so no more: resumed after it was drained, while its last rows were recorded. */
  get isResumed(): boolean {
    return !this.isOver;
  }

  /** A call of `startRows` is on its way. */
  beginStart(): void {
    this.#window.beginStart();
  }

  /** Takes in what it led to. */
  takeStarted({ running, ended, left = 0, onRecord, next, dailyBudget }: StartRowsResult): void {
    const { state } = this;
    if (running.length > 0) this.#endHold();
    this.#window.add(running);
    for (const record of ended) this.#count(record, record);
    for (const record of ended.slice(left)) this.budget.add(record);
    for (const { end, askedMs } of this.#window.endStart()) this.takeEnd(end, askedMs);
    this.retries.takeStarted(running.length + ended.length);
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

  /** Asks the daily budget again. */
  endDailyWait(): void {
    this.state.dailyWait = undefined;
  }

  /** From where on the ends of rows are awaited. */
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
    this.budget.add(end);
    // It may have cost less than was reserved for it.
    this.endDailyWait();
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
    this.retries.add(end);
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

  /** Shows where the batch is. */
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

  /** Shows what has changed since. */
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

  /** What it is doing. */
  get current(): BatchState {
    const { state } = this;
    const phase = this.#phase;
    if (phase === 'Reporting' || phase === 'Ended') return phase;
    if (this.stop.isAsked) return 'Stopping';
    if (phase === 'Opening') return phase;
    if (state.isDraining) return 'Draining';
    if (state.isPaused) return 'Paused';
    if (this.budget.isReached(this.#window.size)) return 'BudgetReached';
    return state.dailyWait !== undefined && this.#window.size === 0 ? 'DailyBudgetReached' : 'Running';
  }

  /** What the next run begins with. */
  handOver(): BatchContinueAsNewState {
    return {
      ...this.state,
      running: this.runningRows,
      pace: this.#pace.samples,
      isStopAsked: this.stop.isAsked,
    };
  }

  /** Answer of the `progress` query. */
  view(): BatchProgress {
    const { plan, state, current, budget } = this;
    const running = this.#window.size;
    const perMinute = this.#pace.perMinute(running === 0 ? this.#lastMovedMs : Date.now());
    return viewProgress({
      ...{ plan, state, current, budget, running, isStopAsked: this.stop.isAsked },
      ...{ perMinute, problem: this.#problem, report: this.#report },
    });
  }
}
