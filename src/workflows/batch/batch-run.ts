import { CancellationScope, setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type {
  AwaitRowEndsResult,
  ReportBatchResult,
  RowEndCursor,
  StartMode,
  StartRowsResult,
} from '../../contract/batch/batch-activities';
import { type BatchInput, type BatchPlan, parseBatchInput } from '../../contract/batch/batch-input';
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
import { searchAttributes } from '../../contract/search-attributes';
import { batchPlaceProblems } from '../../contract/task-place';
import { pickPlace } from '../../domain/batch/row-place';
import { BatchPace, expectedEnd } from '../../domain/batch/batch-pace';
import { BatchBudget } from './batch-budget';
import { type BatchContinueAsNewState, firstRow, newState } from './continue-as-new-state';
import { batchDetails } from './details';
import { taskFailure } from '../failures';
import { readStartArgument, refusedFields } from '../start-argument';

/** So many of the last failures are shown. */
const shownFailures = 5;
/** So many ends of rows that are being started are kept; a row that is not among them is found by the next poll of all rows. */
const maxEarlyEnds = 1_000;
const maxProblemLength = 1_000;

/** Where a batch is in its story. */
export type BatchPhase = Exclude<
  BatchState,
  'Paused' | 'BudgetReached' | 'DailyBudgetReached' | 'Draining' | 'Stopping'
>;

/** Input of one run: the batch's input, and what a previous run handed over. */
export type BatchRunInput = BatchInput & { readonly continueAsNewState?: BatchContinueAsNewState };

/** A batch as its workflow knows it: the plan, the state, and how both are shown. */
export class BatchRun {
  readonly input: BatchInput;
  readonly plan: BatchPlan;
  readonly state: BatchContinueAsNewState;
  readonly stop = new BatchStop();
  readonly budget: BatchBudget;
  /** Ended, and not recorded yet. */
  ended: RowRecord[] = [];
  /** The window, by key; `state.running` is made of it. */
  readonly #window: Map<string, RunningRow>;
  readonly #pace: BatchPace;
  #phase: BatchPhase = 'Opening';
  #shown: BatchState | null = null;
  /** Of rows that are being started: a task may be over before the call that started it has returned. */
  readonly #earlyEnds = new Map<string, RowEnd>();
  /** When the call that starts rows was made; null while there is none. */
  #startingSinceMs: number | null = null;
  /** When the call that started each running row was made, and when it had returned. A run of an earlier version recorded none. */
  readonly #starts = new Map<string, { readonly calledMs: number; readonly returnedMs: number }>();
  #problem: string | null = null;
  #report: ReportBatchResult | null = null;

  /** Reads the input; a malformed one fails the workflow with every problem listed. */
  static open(argument: unknown): BatchRun {
    const start = readStartArgument(argument);
    const { input, continueAsNewState } = start;
    const { plan, problems: inputProblems = [], unknownFields = [] } = parseBatchInput(input);
    const problems = [
      ...start.problems,
      ...refusedFields(start, unknownFields),
      ...inputProblems,
      ...(plan === undefined ? [] : placeProblems(plan)),
    ];
    if (plan === undefined || problems.length > 0) {
      throw taskFailure('InputInvalid', problems.join('\n'), { problems });
    }
    return new BatchRun(input as BatchInput, plan, { ...newState(plan), ...continueAsNewState });
  }

  private constructor(input: BatchInput, plan: BatchPlan, state: BatchContinueAsNewState) {
    this.input = input;
    this.plan = plan;
    this.state = state;
    this.budget = new BatchBudget(state);
    this.#window = new Map(state.running.map((row) => [row.key, row]));
    this.#pace = new BatchPace(state.startedAtMs, state.pace);
    if (state.isStopAsked === true) this.stop.ask();
  }

  get runningRows(): readonly RunningRow[] {
    return [...this.#window.values()];
  }

  /** Or is being started. */
  get isAnyRowRunning(): boolean {
    return this.#window.size > 0 || this.#startingSinceMs !== null;
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

  /** Which pass over the failed rows follows: one that is asked for, or another attempt. Null: none. */
  get nextPass(): Exclude<StartMode, 'new'> | null {
    const { isRetryAsked, isDraining, cursor, attempt = 1, retryable = 0 } = this.state;
    if (cursor !== null || isDraining || this.stop.isAsked) return null;
    if (isRetryAsked) return 'failed';
    return retryable > 0 && attempt < this.plan.attempts ? 'retryable' : null;
  }

  /** A call of `startRows` is on its way. */
  beginStart(): void {
    this.#startingSinceMs = Date.now();
  }

  /** Takes in what it led to. */
  takeStarted({ running, ended, left = 0, onRecord, next, dailyBudget }: StartRowsResult): void {
    const { state } = this;
    const start = { calledMs: this.#startingSinceMs ?? Date.now(), returnedMs: Date.now() };
    for (const row of running) {
      this.#window.set(row.key, row);
      this.#starts.set(row.key, start);
    }
    for (const record of ended) this.#count(record, record);
    for (const record of ended.slice(left)) this.budget.add(record);
    this.#takeEarlyEnds();
    // They were counted when they failed, and will be when they end.
    if (state.mode === 'retryable') state.failed = Math.max(0, state.failed - running.length - ended.length);
    if (running.length > 0) state.lastMovedMs = Date.now();
    // In a pass over the failed rows, those on record were counted when they failed.
    if (state.mode === 'new') {
      state.success += onRecord.success;
      state.failed += onRecord.failed;
      state.canceled += onRecord.canceled;
    }
    state.cursor = next;
    if (dailyBudget === undefined) return;
    const { account, words, waitMs } = dailyBudget;
    state.dailyWait = { account, words, untilMs: Date.now() + waitMs };
    this.refresh();
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
  }

  /** Takes in how a row ended; one that neither runs nor is being started was counted before. */
  takeEnd(end: RowEnd, askedMs: number): void {
    const row = this.#window.get(end.key);
    if (row !== undefined) {
      if (this.#isOfFormerTask(end, askedMs)) return;
      this.#window.delete(end.key);
      this.#starts.delete(end.key);
      this.#count(end, row);
      this.budget.add(end);
      // It may have cost less than was reserved for it.
      this.endDailyWait();
    } else if (this.#startingSinceMs !== null && this.#earlyEnds.size < maxEarlyEnds) {
      this.#earlyEnds.set(end.key, end);
    }
  }

  /**
   * Whether it was read before the row was started again. Who is asked later reads the latest task; its clock may differ
   * from that of the batch, so its answer stands whatever time it tells.
   */
  #isOfFormerTask({ key, endedAt }: RowEnd, askedMs: number): boolean {
    const start = this.#starts.get(key);
    return start !== undefined && askedMs < start.returnedMs && Date.parse(endedAt) < start.calledMs;
  }

  #takeEarlyEnds(): void {
    const sinceMs = this.#startingSinceMs ?? Number.POSITIVE_INFINITY;
    this.#startingSinceMs = null;
    // An older end is that of the row's previous task.
    for (const end of this.#earlyEnds.values()) if (Date.parse(end.endedAt) >= sinceMs) this.takeEnd(end, sinceMs);
    this.#earlyEnds.clear();
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

  #countFailure(end: RowEnd, { key, ...place }: RunningRow): void {
    const { state } = this;
    const { failure } = end;
    if (isRetryable(end) && Date.parse(end.endedAt) >= state.startedAtMs) state.retryable = (state.retryable ?? 0) + 1;
    const { type, message } = failure ?? { type: 'Failed', message: 'no failure message' };
    state.failed += 1;
    const counted = new Map(Object.entries(state.failures));
    const name = counted.has(type) || counted.size < maxFailureTypes ? type : 'Other';
    state.failures = Object.fromEntries(counted.set(name, (counted.get(name) ?? 0) + 1));
    state.lastFailures = [{ key, ...pickPlace(place), message }, ...state.lastFailures].slice(0, shownFailures);
  }

  /** Begins another pass, over rows that did not succeed. */
  beginPass(mode: Exclude<StartMode, 'new'>): void {
    const { state } = this;
    Object.assign(state, { mode, cursor: firstRow, retryable: 0 });
    if (mode === 'failed') Object.assign(state, { isRetryAsked: false, failed: 0, canceled: 0 });
    else state.attempt = (state.attempt ?? 1) + 1;
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
    const { plan, state, current } = this;
    const { success, failed, canceled } = state;
    const running = this.#window.size;
    const waiting = Math.max(0, plan.rows.rows - success - failed - canceled - running);
    const perMinute = this.#pace.perMinute(Date.now());
    const budget = this.budget.view(running);
    const { lastMovedMs, rowStates, dailyWait } = state;
    const mayStart = !state.isPaused && dailyWait === undefined && budget?.places !== 0;
    const open = { running, waiting, mayStart, heldUp: rowStates?.heldUp?.rows ?? 0 };
    return {
      batchId: plan.id,
      state: current,
      source: plan.source,
      startedAt: new Date(state.startedAtMs).toISOString(),
      rows: plan.rows.rows,
      badRows: plan.badRows,
      success,
      failed,
      canceled,
      running,
      waiting,
      concurrency: state.concurrency,
      // One that is drained or stopped is paused no more.
      ...(state.pausedAtMs !== undefined &&
        current === 'Paused' && { pausedAt: new Date(state.pausedAtMs).toISOString() }),
      ...(state.isRetryAsked && !state.isDraining && !this.stop.isAsked && { toRetry: failed + canceled }),
      ...(rowStates !== undefined && { rowStates }),
      perMinute,
      expectedEnd: expectedEnd(open, perMinute, Date.now()),
      lastMovedAt: lastMovedMs === undefined ? null : new Date(lastMovedMs).toISOString(),
      failures: state.failures,
      attempt: { number: state.attempt ?? 1, of: plan.attempts },
      costs: this.budget.costs,
      budget,
      ...(dailyWait !== undefined && { dailyBudget: dailyWait }),
      uploads: state.uploads,
      lastFailures: state.lastFailures,
      problem: this.#problem,
      report: this.#report,
    };
  }
}

/** Its record is kept by the workflow of its id alone. */
function placeProblems(plan: BatchPlan): readonly string[] {
  return batchPlaceProblems(plan, workflowInfo().workflowId);
}

/** The stop of a batch, asked for by Temporal's cancellation. */
class BatchStop {
  isAsked = false;
  /** Whether this run was canceled, and so can end as canceled. */
  isCanceled = false;
  #breakable: CancellationScope | undefined;

  /** Temporal cancels this run. */
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
