import { allHandlersFinished, condition, makeContinueAsNewFunc, sleep } from '@temporalio/workflow';
import {
  addHeldUp,
  type HeldUpRows,
  type StartRowsInput,
  type StartRowsResult,
} from '../../contract/batch/batch-activities';
import type { RowStates } from '../../contract/batch/batch-messages';
import type { RowRecord } from '../../contract/batch/batch-rows';
import { pickKeys } from '../../core/batch/row-place';
import { formatCountOf, utf8Bytes } from '../../core/text';
import { workflowTaskTimeout } from '../../core/workflow-tasks';
import { awaitRowEndsOptions, batchActivities, batchOptions } from '../activity-proxies';
import { isHistoryLong } from '../run-info';
import type { BatchRun } from './batch-run';
import { beginPass, nextPass } from './batch-state';
import { rowsThatWait } from './details';

/** As soon as this part of the window has ended it is filled up. */
const partToRefill = 10;
const maxRecords = 200;
/** Polls of rows whose state does not change become so many times rarer. */
const maxPollPauses = 15;
/** While rows cannot go on: a person waits to see that they can again. */
const maxPollPausesHeldUp = 4;

/** Step 2: runs the rows in a sliding window, at a handful of history events a row, however many there are. */
export async function runRows(run: BatchRun): Promise<void> {
  const window = new Window(run);
  run.show('Running');
  await Promise.race([
    runToTheEnd(run, window),
    window.stopWhenAsked(),
    window.takeEnds(),
    window.pollRegularly(),
    window.endDailyWaits(),
  ]);
}

async function runToTheEnd(run: BatchRun, window: Window): Promise<void> {
  // Read anew each time: it may change with each await.
  const isOver = (): boolean => run.isOver;
  for (;;) {
    if (run.stop.isAsked) await window.stop();
    else await window.fill();
    run.refresh();
    await window.record(run.plan.tuning.recordRows);
    if (isOver()) {
      await window.record(1);
      const pass = run.stop.isAsked ? null : nextPass(run.state, run.plan.attempts);
      if (pass !== null) beginPass(run.state, pass);
      // One that was drained may have been resumed while its last rows were recorded.
      else if (isOver()) break;
    } else {
      await continueWhenLong(run, () => window.record(1));
      await window.waitForWork();
    }
  }
}

function canContinue({ plan }: BatchRun): boolean {
  return isHistoryLong(plan.tuning.continueAsNewAfterEvents);
}

/** Hands over to a fresh run when the history is long, whatever the batch waits for; before, the ends of its rows are recorded. */
async function continueWhenLong(run: BatchRun, recordEnded: () => Promise<void>): Promise<void> {
  if (!canContinue(run)) return;
  do {
    await recordEnded();
    await condition(allHandlersFinished);
  } while (run.ended.length > 0);
  // A new run can begin on a new version, as that of a task.
  const goOn = makeContinueAsNewFunc({ workflowTaskTimeout, initialVersioningBehavior: 'AUTO_UPGRADE' });
  await goOn({ ...run.input, continueAsNewState: run.handOver() });
}

/** Rows of many outputs make large records: beyond a size, fewer go into one call than their number allows. */
function recordsOfOneCall({ ended, plan }: BatchRun): readonly RowRecord[] {
  const records = ended.slice(0, maxRecords);
  let bytes = 0;
  const beyond = records.findIndex((record) => (bytes += utf8Bytes(JSON.stringify(record))) > plan.tuning.recordBytes);
  return beyond < 0 ? records : records.slice(0, Math.max(1, beyond));
}

/** What the first page of the Web UI shows of rows that wait or cannot go on: the beginning of a timer's summary. */
function waitingRows({ state: { rowStates } }: BatchRun): string {
  const wait = rowsThatWait(rowStates?.counts);
  const heldUp = rowStates?.heldUp?.rows ?? 0;
  const parts = [
    ...(wait === 0 ? [] : [`${wait} ${wait === 1 ? 'row waits' : 'rows wait'} for you`]),
    ...(heldUp === 0 ? [] : [`${formatCountOf(heldUp, 'row')} held up`]),
  ];
  return parts.length === 0 ? '' : `${parts.join(', ')}, User Metadata tells more; `;
}

class Window {
  readonly #run: BatchRun;
  readonly #asked = new Set<string>();

  constructor(run: BatchRun) {
    this.#run = run;
  }

  async fill(): Promise<void> {
    const run = this.#run;
    const { id, rows, choice, defaults } = run.plan;
    for (let limit = run.startLimit; limit !== null; limit = run.startLimit) {
      const { cursor, mode, budget } = run.state;
      if (cursor === null) return;
      const options = batchOptions(run.plan.tuning, `Start rows of page ${cursor.page + 1} of ${rows.pages}`);
      const since = mode === 'retryable' ? new Date(run.state.startedAtMs).toISOString() : undefined;
      const input = { id, rows, cursor, limit, mode, choice, since, defaults, budget: budget ?? undefined };
      run.beginStart();
      const started = await run.stop.unlessAsked(() => batchActivities.startRows.executeWithOptions(options, [input]));
      run.takeStarted(started ?? (await this.#findStarted(input)));
      if (limit === 0) run.endScan(cursor);
      // Pages of which every row is on record already follow one another without a pause.
      await continueWhenLong(run, () => this.record(1));
    }
  }

  /** A start was broken off: what it had started must not be left to itself. */
  async #findStarted(input: StartRowsInput): Promise<StartRowsResult> {
    const options = batchOptions(this.#run.plan.tuning, 'Find the rows that were started before the stop');
    return await batchActivities.startRows.executeWithOptions(options, [{ ...input, onlyFound: true }]);
  }

  /** Stops rows as soon as that is asked, and those that turn up later, whatever else the batch is waiting for. */
  async stopWhenAsked(): Promise<never> {
    const run = this.#run;
    await condition(() => run.stop.isAsked);
    run.refresh();
    for (;;) {
      await condition(() => this.#unasked.length > 0);
      await this.stop();
    }
  }

  /** Asks the task of every row to stop, once; their ends come as ever, confirmed by the service. */
  async stop(): Promise<void> {
    const unasked = this.#unasked;
    for (const key of unasked) this.#asked.add(key);
    await this.#onRows(unasked, 'Stop the rows that run', (options, input) => {
      return batchActivities.stopRows.executeWithOptions(options, [input]);
    });
  }

  get #unasked(): readonly string[] {
    return this.#runningKeys.filter((key) => !this.#asked.has(key));
  }

  get #runningKeys(): readonly string[] {
    return this.#run.runningRows.map(({ key }) => key);
  }

  async record(atLeast: number): Promise<void> {
    const run = this.#run;
    const { id, rows } = run.plan;
    while (run.ended.length >= Math.max(1, atLeast)) {
      const records = recordsOfOneCall(run);
      const options = batchOptions(run.plan.tuning, `Record ${records.length} rows`);
      await batchActivities.recordRows.executeWithOptions(options, [{ id, digest: rows.digest, records }]);
      run.ended = run.ended.slice(records.length);
    }
  }

  async waitForWork(): Promise<void> {
    const run = this.#run;
    await condition(() => this.#hasWork() || canContinue(run));
  }

  #hasWork(): boolean {
    const run = this.#run;
    if (run.isOver || (run.stop.isAsked && this.#unasked.length > 0)) return true;
    if (run.ended.length >= run.plan.tuning.recordRows) return true;
    return run.startLimit !== null;
  }

  async takeEnds(): Promise<never> {
    const run = this.#run;
    const { id, tuning } = run.plan;
    for (;;) {
      await condition(() => run.isAnyRowRunning);
      const enough = Math.min(run.runningRows.length, Math.ceil(run.state.concurrency / partToRefill));
      const input = { id, from: run.endsFrom, enough: Math.max(1, enough), collectMs: tuning.refillMs };
      const askedMs = Date.now();
      const ends = await batchActivities.awaitRowEnds.executeWithOptions(awaitRowEndsOptions(tuning), [input]);
      run.takeEnds(ends, askedMs);
    }
  }

  /** Ends each wait for a daily budget at its time, unless something else has ended it. */
  async endDailyWaits(): Promise<never> {
    const { state } = this.#run;
    for (;;) {
      await condition(() => state.dailyWait !== undefined);
      const { dailyWait } = state;
      const ms = Math.max(1, (dailyWait?.untilMs ?? 0) - Date.now());
      const summary = 'before the daily budget is asked again';
      if (await condition(() => state.dailyWait !== dailyWait, ms, { summary })) continue;
      this.#run.endDailyWait();
    }
  }

  /** Polls the rows that run, for ends that visibility missed. While nothing moves, the pauses grow. */
  async pollRegularly(): Promise<never> {
    const run = this.#run;
    let pauses = 1;
    let movedMs = run.state.lastMovedMs;
    for (;;) {
      await condition(() => run.isAnyRowRunning);
      await sleep(pauses * run.plan.tuning.pollEveryMs, {
        summary: `${waitingRows(run)}before the running rows are polled`,
      });
      const seen = await this.#pollKeys(this.#runningKeys, 'Poll the rows that run');
      run.state.rowStates = { asOf: new Date().toISOString(), ...seen };
      run.refresh();
      const { lastMovedMs } = run.state;
      const mostPauses = seen.heldUp === undefined ? maxPollPauses : maxPollPausesHeldUp;
      pauses = lastMovedMs === movedMs ? Math.min(2 * pauses, mostPauses) : 1;
      movedMs = lastMovedMs;
    }
  }

  /** Asks how rows ended; as many at a time as fit one answer. */
  async #pollKeys(keys: readonly string[], summary: string): Promise<Omit<RowStates, 'asOf'>> {
    const run = this.#run;
    const counts: Record<string, number> = {};
    let heldUp: HeldUpRows | undefined;
    let rest = keys;
    while (rest.length > 0) {
      await this.#onRows(rest, summary, async (options, input) => {
        const askedMs = Date.now();
        const result = await batchActivities.pollRows.executeWithOptions(options, [input]);
        const { ended, polled = input.keys.length, states = {} } = result;
        for (const end of ended) run.takeEnd(end, askedMs);
        for (const [state, rows] of Object.entries(states)) counts[state] = (counts[state] ?? 0) + rows;
        heldUp = addHeldUp(heldUp, result.heldUp && this.#named(result.heldUp));
        rest = rest.slice(Math.max(1, polled));
      });
    }
    return { counts, heldUp };
  }

  /** With the key that the row gave. */
  #named(heldUp: HeldUpRows): HeldUpRows {
    const row = this.#run.runningRows.find(({ key }) => key === heldUp.key);
    return row === undefined ? heldUp : { ...heldUp, ...pickKeys(row) };
  }

  async #onRows(
    keys: readonly string[],
    summary: string,
    act: (
      options: ReturnType<typeof batchOptions>,
      input: { readonly id: string; readonly keys: readonly string[] },
    ) => Promise<void>,
  ): Promise<void> {
    const run = this.#run;
    if (keys.length > 0) await act(batchOptions(run.plan.tuning, summary), { id: run.plan.id, keys });
  }
}
