import { CancellationScope, setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { ReportBatchResult, StartRowsResult } from '../../contract/batch-activities';
import { type BatchInput, type BatchPlan, parseBatchInput } from '../../contract/batch-input';
import type { BatchProgress, BatchState } from '../../contract/batch-messages';
import {
  addUploads,
  maxFailureTypes,
  noUploads,
  type RowEnd,
  type RowRecord,
  type RunningRow,
} from '../../contract/batch-rows';
import { searchAttributes } from '../../contract/search-attributes';
import { batchPlaceProblems } from '../../contract/task-place';
import { BatchPace } from '../../domain/batch-pace';
import { type BatchContinueAsNewState, firstRow, newState } from './continue-as-new-state';
import { taskFailure } from '../failures';
import { batchDetails } from '../live-details';
import { readStartArgument } from '../start-argument';

/** So many of the last failures are shown. */
const shownFailures = 5;
/** So many reports of rows that are being started are kept; a row that is not among them is found by the next poll of all rows. */
const maxEarlyReports = 1_000;
const maxProblemLength = 1_000;

/** Where a batch is in its story. */
export type BatchPhase = Exclude<BatchState, 'Paused' | 'Draining' | 'Stopping'>;

/** Input of one run: the batch's input, and what a previous run handed over. */
export type BatchRunInput = BatchInput & { readonly continueAsNewState?: BatchContinueAsNewState };

/** A batch as its workflow knows it: the plan, the state, and how both are shown. */
export class BatchRun {
  readonly input: BatchInput;
  readonly plan: BatchPlan;
  readonly state: BatchContinueAsNewState;
  readonly stop = new BatchStop();
  readonly reported: ReportedRows;
  /** When a row was last reported as over; the same as now in the step of the workflow that it came with. */
  lastMessageMs: number | null = null;
  /** Ended, and not recorded yet. */
  ended: RowRecord[] = [];
  /** The window, by key; `state.running` is made of it. */
  readonly #window: Map<string, RunningRow>;
  readonly #pace: BatchPace;
  #phase: BatchPhase = 'Opening';
  #shown: BatchState | null = null;
  /** Reported rows that are being started: a task may be over before the call that started it has returned. */
  readonly #earlyReports = new Set<string>();
  #isStarting = false;
  #problem: string | null = null;
  #report: ReportBatchResult | null = null;

  /** Reads the input; a malformed one fails the workflow with every problem listed. */
  static open(argument: unknown): BatchRun {
    const { input, continueAsNewState, problems: startProblems } = readStartArgument(argument);
    const { plan, problems: inputProblems = [] } = parseBatchInput(input);
    const problems = [...startProblems, ...inputProblems, ...(plan === undefined ? [] : placeProblems(plan))];
    if (plan === undefined || problems.length > 0) {
      throw taskFailure('InputInvalid', problems.join('\n'), { problems });
    }
    return new BatchRun(input as BatchInput, plan, { ...newState(plan), ...continueAsNewState });
  }

  private constructor(input: BatchInput, plan: BatchPlan, state: BatchContinueAsNewState) {
    this.input = input;
    this.plan = plan;
    this.state = state;
    this.#window = new Map(state.running.map((row) => [row.key, row]));
    this.#pace = new BatchPace(state.startedAtMs, state.pace);
    this.reported = new ReportedRows(plan.tuning.refillMs, state.reported ?? [], Date.now());
    if (state.isStopAsked === true) this.stop.ask();
  }

  get runningRows(): readonly RunningRow[] {
    return [...this.#window.values()];
  }

  get freePlaces(): number {
    return Math.max(0, this.state.concurrency - this.#window.size);
  }

  get mayStart(): boolean {
    const { cursor, isPaused, isDraining } = this.state;
    return cursor !== null && !isPaused && !isDraining && !this.stop.isAsked;
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

  /** Whether another pass over the failed rows is asked for and not overtaken by an end. */
  get mayRetry(): boolean {
    const { isRetryAsked, isDraining, cursor } = this.state;
    return isRetryAsked && cursor === null && !isDraining && !this.stop.isAsked;
  }

  /** A call of `startRows` is on its way. */
  beginStart(): void {
    this.#isStarting = true;
  }

  /** Takes in what it led to. */
  takeStarted({ running, ended, onRecord, next }: StartRowsResult): void {
    const { state } = this;
    for (const row of running) this.#window.set(row.key, row);
    for (const record of ended) this.#count(record, record);
    this.#isStarting = false;
    for (const key of this.#earlyReports) this.reportEnd(key);
    this.#earlyReports.clear();
    if (running.length > 0) state.lastMovedMs = Date.now();
    // In a pass over the failed rows, those on record were counted when they failed.
    if (state.mode === 'new') {
      state.success += onRecord.success;
      state.failed += onRecord.failed;
      state.canceled += onRecord.canceled;
    }
    state.cursor = next;
  }

  /** Takes in how a row ended; one that is not in the window was counted before. */
  takeEnd(end: RowEnd): void {
    const row = this.#window.get(end.key);
    if (row === undefined) return;
    this.#window.delete(end.key);
    this.#count(end, row);
  }

  /** A row was reported as over: it is polled, if it runs or is being started. */
  reportEnd(key: string): void {
    if (this.#window.has(key)) this.reported.add(key, Date.now());
    else if (this.#isStarting && this.#earlyReports.size < maxEarlyReports) this.#earlyReports.add(key);
  }

  /** The reported rows were polled. */
  endReports(): void {
    this.reported.markPolled((key) => this.#window.has(key), Date.now());
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

  #countFailure({ failure }: RowEnd, { key, line }: RunningRow): void {
    const { state } = this;
    const { type, message } = failure ?? { type: 'Failed', message: 'no failure message' };
    state.failed += 1;
    const counted = new Map(Object.entries(state.failures));
    const name = counted.has(type) || counted.size < maxFailureTypes ? type : 'Other';
    state.failures = Object.fromEntries(counted.set(name, (counted.get(name) ?? 0) + 1));
    state.lastFailures = [{ key, line, message }, ...state.lastFailures].slice(0, shownFailures);
  }

  /** Begins another pass, over the rows that did not succeed. */
  retryFailed(): void {
    const { state } = this;
    Object.assign(state, { mode: 'failed', cursor: firstRow, isRetryAsked: false, failed: 0, canceled: 0 });
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
    return state.isPaused ? 'Paused' : 'Running';
  }

  /** What the next run begins with. */
  handOver(): BatchContinueAsNewState {
    const { keys: reported } = this.reported;
    return {
      ...this.state,
      running: this.runningRows,
      pace: this.#pace.samples,
      reported,
      isStopAsked: this.stop.isAsked,
    };
  }

  /** Answer of the `progress` query. */
  view(): BatchProgress {
    const { plan, state } = this;
    const { success, failed, canceled } = state;
    const running = this.#window.size;
    const waiting = Math.max(0, plan.rows.rows - success - failed - canceled - running);
    const perMinute = this.#pace.perMinute(Date.now());
    const { lastMovedMs } = state;
    return {
      batchId: plan.id,
      state: this.current,
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
      ...(state.rowStates !== undefined && { rowStates: state.rowStates }),
      perMinute,
      expectedEnd: state.isPaused ? null : expectedEnd(running + waiting, perMinute),
      lastMovedAt: lastMovedMs === undefined ? null : new Date(lastMovedMs).toISOString(),
      failures: state.failures,
      uploads: state.uploads,
      lastFailures: state.lastFailures,
      problem: this.#problem,
      report: this.#report,
    };
  }
}

/** The latest moment that a `Date` can hold. */
const latestMs = 8.64e15;

function expectedEnd(open: number, perMinute: number | null): string | null {
  if (perMinute === null || perMinute === 0 || open === 0) return null;
  const endMs = Date.now() + (open / perMinute) * 60_000;
  return endMs > latestMs ? null : new Date(endMs).toISOString();
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

/** A row that is found running so often, although it was reported as over, is left to the poll of all rows. */
const maxPolls = 6;

/**
 * Rows that a signal reported as over. Anybody may send it, so a row is over only once Temporal says that its workflow
 * is; that is asked for all reported rows at once, a moment after the first report, since the signal is the last act
 * of a task that still runs. The pauses grow while reports turn out to be early or false.
 */
export class ReportedRows {
  readonly #firstPauseMs: number;
  /** Keys, and how often each was found running since. */
  readonly #polls = new Map<string, number>();
  #dueMs = Number.POSITIVE_INFINITY;

  constructor(firstPauseMs: number, keys: readonly string[], nowMs: number) {
    this.#firstPauseMs = firstPauseMs;
    for (const key of keys) this.add(key, nowMs);
  }

  get keys(): readonly string[] {
    return [...this.#polls.keys()];
  }

  /** When they should be polled; infinity while there are none. */
  get dueAtMs(): number {
    return this.#dueMs;
  }

  add(key: string, nowMs: number): void {
    if (this.#polls.has(key)) return;
    this.#polls.set(key, 0);
    this.#dueMs = Math.min(this.#dueMs, nowMs + this.#firstPauseMs);
  }

  /** They were polled; those that still run are polled again later. */
  markPolled(isRunning: (key: string) => boolean, nowMs: number): void {
    for (const [key, polls] of this.#polls) {
      if (isRunning(key) && polls + 1 < maxPolls) this.#polls.set(key, polls + 1);
      else this.#polls.delete(key);
    }
    const fewest = Math.min(...this.#polls.values());
    this.#dueMs = this.#polls.size === 0 ? Number.POSITIVE_INFINITY : nowMs + this.#firstPauseMs * 2 ** fewest;
  }
}
