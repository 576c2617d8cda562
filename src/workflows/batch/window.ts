import { allHandlersFinished, CancellationScope, condition, makeContinueAsNewFunc, sleep } from '@temporalio/workflow';
import { addRowProblem, type RowProblem } from '../../contract/batch/batch-activities';
import { rowsThatWait } from '../../contract/batch/batch-facts';
import type { RowStates } from '../../contract/batch/batch-messages';
import type { RowRecord } from '../../contract/batch/batch-rows';
import { pickKeys } from '../../core/batch/row-place';
import { formatCountOf, utf8Bytes } from '../../core/text';
import { workflowTaskTimeout } from '../../core/workflow-tasks';
import { awaitRowEndsOptions, batchActivities, batchOptions } from '../activity-proxies';
import { isHistoryLong } from '../run-info';
import { beginNextPass, type BatchRun, handOver, isOver, startLimit } from './batch-state';
import { redraw, refresh, show } from './details';
import { takeEnd, takeStarted } from './row-ends';

const partToRefill = 10;
const maxRecords = 200;
/** The longest pause between polls of unchanged rows, in normal pauses. */
const maxPollPauses = 15;
/** The same for rows that cannot go on, as a person may wait for them. */
const maxPollPausesInTrouble = 4;

/** Step 2: runs the rows in a sliding window, at a handful of history events a row. */
export async function runRows(run: BatchRun): Promise<void> {
  show(run, 'Running');
  await Promise.race([runToTheEnd(run), stopRows(run), takeEnds(run), pollRegularly(run), endDailyWaits(run)]);
}

async function runToTheEnd(run: BatchRun): Promise<void> {
  for (;;) {
    if (run.state.isStopAsked) await stopRunning(run);
    else await fill(run);
    refresh(run);
    await recordEnded(run, run.plan.tuning.recordRows);
    if (isOver(run)) {
      await recordEnded(run);
      // A drained batch may have been resumed while its last rows were recorded.
      if (!beginNextPass(run) && isOver(run)) return;
    } else {
      await continueWhenLong(run);
      await waitForWork(run);
    }
  }
}

async function waitForWork(run: BatchRun): Promise<void> {
  await condition(
    () =>
      isOver(run) ||
      (run.state.isStopAsked && unaskedKeys(run).length > 0) ||
      run.ended.length >= run.plan.tuning.recordRows ||
      startLimit(run) !== null ||
      canContinue(run),
  );
}

function canContinue({ plan }: BatchRun): boolean {
  return isHistoryLong(plan.tuning.continueAsNewAfterEvents);
}

/** Continues as new when the history is long, after recording the ends of rows. */
async function continueWhenLong(run: BatchRun): Promise<void> {
  if (!canContinue(run)) return;
  do {
    await recordEnded(run);
    await condition(allHandlersFinished);
  } while (run.ended.length > 0);
  // Lets the new run begin on a new version.
  const goOn = makeContinueAsNewFunc({ workflowTaskTimeout, initialVersioningBehavior: 'AUTO_UPGRADE' });
  await goOn({ ...run.input, continueAsNewState: handOver(run) });
}

async function fill(run: BatchRun): Promise<void> {
  const { id, rows, choice, defaults, tuning } = run.plan;
  for (let limit = startLimit(run); limit !== null; limit = startLimit(run)) {
    const { cursor, mode, budget, startedAtMs } = run.state;
    if (cursor === null) return;
    const options = batchOptions(tuning, `Start rows of page ${cursor.page + 1} of ${rows.pages}`);
    const since = mode === 'retryable' ? new Date(startedAtMs).toISOString() : undefined;
    const input = { id, rows, cursor, limit, mode, choice, since, defaults, budget: budget ?? undefined };
    run.starting = { calledMs: Date.now(), ends: new Map() };
    const started = await unlessStopped(run, () => batchActivities.startRows.executeWithOptions(options, [input]));
    const find = batchOptions(tuning, 'Find the rows that were started before the stop');
    takeStarted(
      run,
      started ?? (await batchActivities.startRows.executeWithOptions(find, [{ ...input, onlyFound: true }])),
    );
    if (run.state.dailyWait !== undefined) refresh(run);
    if (limit === 0) run.scannedFrom = cursor;
    await continueWhenLong(run);
  }
}

/** Runs a step that only leads to more rows; undefined when a stop broke it off or came before. */
export async function unlessStopped<Result>(run: BatchRun, step: () => Promise<Result>): Promise<Result | undefined> {
  if (run.state.isStopAsked) return undefined;
  const scope = new CancellationScope({ cancellable: true });
  run.breakable = scope;
  try {
    return await scope.run(step);
  } catch (error) {
    if (scope.consideredCancelled) return undefined;
    throw error;
  }
}

async function stopRows(run: BatchRun): Promise<never> {
  await condition(() => run.state.isStopAsked);
  refresh(run);
  for (;;) {
    await condition(() => unaskedKeys(run).length > 0);
    await stopRunning(run);
  }
}

async function stopRunning(run: BatchRun): Promise<void> {
  const keys = unaskedKeys(run);
  if (keys.length === 0) return;
  for (const key of keys) run.askedToStop.add(key);
  const options = batchOptions(run.plan.tuning, 'Stop the rows that run');
  await batchActivities.stopRows.executeWithOptions(options, [{ id: run.plan.id, keys }]);
}

function unaskedKeys({ running, askedToStop }: BatchRun): readonly string[] {
  return [...running.keys()].filter((key) => !askedToStop.has(key));
}

async function recordEnded(run: BatchRun, atLeast = 1): Promise<void> {
  const { id, rows, tuning } = run.plan;
  while (run.ended.length >= atLeast) {
    const records = recordsOfOneCall(run);
    const options = batchOptions(tuning, `Record ${records.length} rows`);
    await batchActivities.recordRows.executeWithOptions(options, [{ id, digest: rows.digest, records }]);
    run.ended = run.ended.slice(records.length);
  }
}

/** Rows with many outputs have large records, so fewer go into one call. */
function recordsOfOneCall({ ended, plan }: BatchRun): readonly RowRecord[] {
  const records = ended.slice(0, maxRecords);
  let bytes = 0;
  const beyond = records.findIndex((record) => (bytes += utf8Bytes(JSON.stringify(record))) > plan.tuning.recordBytes);
  return beyond < 0 ? records : records.slice(0, Math.max(1, beyond));
}

async function takeEnds(run: BatchRun): Promise<never> {
  const { id, tuning } = run.plan;
  for (;;) {
    await condition(() => run.running.size > 0 || run.starting !== null);
    const enough = Math.max(1, Math.min(run.running.size, Math.ceil(run.state.concurrency / partToRefill)));
    const input = { id, from: run.state.endsFrom, enough, collectMs: tuning.refillMs };
    const askedMs = Date.now();
    const { ended, next } = await batchActivities.awaitRowEnds.executeWithOptions(awaitRowEndsOptions(tuning), [input]);
    for (const end of ended) takeEnd(run, end, askedMs);
    run.state.endsFrom = next;
    // Once every row was started, nothing else would show them for minutes.
    if (ended.length > 0) redraw(run);
  }
}

async function endDailyWaits({ state }: BatchRun): Promise<never> {
  for (;;) {
    await condition(() => state.dailyWait !== undefined);
    const { dailyWait } = state;
    const ms = Math.max(1, (dailyWait?.untilMs ?? 0) - Date.now());
    const summary = 'before the daily budget is asked again';
    if (!(await condition(() => state.dailyWait !== dailyWait, ms, { summary }))) state.dailyWait = undefined;
  }
}

/** Finds ends that visibility missed. While nothing moves, the pauses grow. */
async function pollRegularly(run: BatchRun): Promise<never> {
  const { state, plan } = run;
  let pauses = 1;
  let movedMs = state.lastMovedMs;
  for (;;) {
    await condition(() => run.running.size > 0 || run.starting !== null);
    await sleep(pauses * plan.tuning.pollEveryMs, {
      summary: `${waitingRows(run)}before the running rows are polled`,
    });
    const polled = await pollAll(run);
    state.rowStates = { asOf: new Date().toISOString(), ...polled };
    refresh(run);
    const mostPauses = polled.problem === undefined ? maxPollPauses : maxPollPausesInTrouble;
    pauses = state.lastMovedMs === movedMs ? Math.min(2 * pauses, mostPauses) : 1;
    movedMs = state.lastMovedMs;
  }
}

async function pollAll(run: BatchRun): Promise<Omit<RowStates, 'asOf'>> {
  const { id, tuning } = run.plan;
  const counts: Record<string, number> = {};
  let problem: RowProblem | undefined;
  let keys: readonly string[] = [...run.running.keys()];
  while (keys.length > 0) {
    const askedMs = Date.now();
    const options = batchOptions(tuning, 'Poll the rows that run');
    const result = await batchActivities.pollRows.executeWithOptions(options, [{ id, keys }]);
    const { ended, polled = keys.length, states = {} } = result;
    for (const end of ended) takeEnd(run, end, askedMs);
    for (const [state, rows] of Object.entries(states)) counts[state] = (counts[state] ?? 0) + rows;
    if (result.problem !== undefined) {
      const started = run.running.get(result.problem.key);
      problem = addRowProblem(problem, { ...result.problem, ...(started && pickKeys(started.row)) });
    }
    keys = keys.slice(Math.max(1, polled));
  }
  return { counts, problem };
}

function waitingRows({ running, state: { rowStates } }: BatchRun): string {
  const wait = rowsThatWait({ running: running.size, rowStates });
  const held = rowStates?.problem?.rows ?? 0;
  const parts = [
    ...(wait === 0 ? [] : [`${wait} ${wait === 1 ? 'row waits' : 'rows wait'} for you`]),
    ...(held === 0 ? [] : [`${formatCountOf(held, 'row')} with a problem`]),
  ];
  return parts.length === 0 ? '' : `${parts.join(', ')}, User Metadata tells more; `;
}
