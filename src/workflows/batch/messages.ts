import { CancellationScope } from '@temporalio/workflow';
import {
  drainUpdate,
  pauseUpdate,
  progressQuery,
  resumeUpdate,
  retryFailedUpdate,
  setBudgetUpdate,
  setConcurrencyUpdate,
} from '../../contract/batch/batch-messages';
import { budgetRemedy, isConcurrency, maxConcurrency, parseBudget } from '../../contract/batch/batch-input';
import { budgetProblem, formatBudget } from '../../money/batch-budget';
import { formatMoney } from '../../money/money';
import { showValue } from '../../core/text';
import { messageRefused } from '../failures';
import { onQuery, onUpdate } from '../handlers';
import { batchState, type BatchRun, readBudget } from './batch-state';
import { redraw, refresh, viewBatch } from './details';

/** Called before the first await, to miss no message. No default handler: the SDK fails workflow tasks with one. */
export function listenToBatch(run: BatchRun): void {
  const { state } = run;
  CancellationScope.current().cancelRequested.catch(() => {
    run.isCanceled = true;
    state.isStopAsked = true;
    run.breakable?.cancel();
  });
  onQuery(progressQuery, 'How far the batch is, what failed, and its pace.', () => viewBatch(run));
  onUpdate(pauseUpdate, 'Start no more rows until resume. Those that run go on.', () => {
    if (!state.isPaused) Object.assign(state, { isPaused: true, pausedAtMs: Date.now() });
    refresh(run);
    return { words: 'No more rows are started until resume; those that run go on.' };
  });
  onUpdate(
    resumeUpdate,
    'Start rows again, after pause or drain.',
    () => {
      Object.assign(state, { isPaused: false, pausedAtMs: undefined, isDraining: false, dailyWait: undefined });
      refresh(run);
      if (batchState(run) !== 'BudgetReached') return { words: 'Rows are started again.' };
      return { words: 'Rows are started again once the budget, which is reached, is raised: set-budget.' };
    },
    () => {
      refuseWhenOver(run, 'run the file again');
    },
  );
  const drain = 'Start no more rows, and end when those that run have ended. The rest can be run later.';
  onUpdate(drainUpdate, drain, () => {
    state.isDraining = true;
    refresh(run);
    return { words: 'No more rows are started; the batch ends when those that run have ended.' };
  });
  onUpdate(
    retryFailedUpdate,
    'Start rows again that did not succeed, once every row had its turn. May be paid anew.',
    () => {
      state.isRetryAsked = true;
      redraw(run);
      return {
        words: 'Rows that did not succeed are started again once every row had its turn. They may be paid anew.',
      };
    },
    () => {
      refuseWhenOver(run, 'run the file again with --retry-failed, which may pay failed rows anew');
      if (!state.isDraining) return;
      throw messageRefused(
        'The batch is being drained and starts no more rows: resume it first. Rows that did not succeed may then be paid anew.',
      );
    },
  );
  listenToLimits(run);
}

function listenToLimits(run: BatchRun): void {
  const { state } = run;
  onUpdate(
    setConcurrencyUpdate,
    `How many rows run at the same time: { "rows": 1 to ${maxConcurrency} }.`,
    ({ rows }) => {
      state.concurrency = rows;
      refresh(run);
      return { words: `At most ${rows} rows run at the same time from now on; those that run already go on.` };
    },
    (argument?: { rows?: unknown } | null) => {
      if (isConcurrency(argument?.rows)) return;
      throw messageRefused(`Give { "rows": N }, N a whole number from 1 to ${maxConcurrency}.`);
    },
  );
  onUpdate(
    setBudgetUpdate,
    'What the batch may cost: { "budget": "30EUR" }, or null for no limit.',
    ({ budget }) => {
      state.budget = parseBudget(budget) ?? null;
      refresh(run);
      if (state.budget === null) return { words: 'The batch has no budget from now on.' };
      const view = readBudget(run);
      const spent = view === null ? '' : `: ${formatBudget(view, run.running.size)}`;
      return { words: `The budget is ${formatMoney(state.budget)} from now on${spent}.` };
    },
    (argument?: { budget?: unknown } | null) => {
      const given = argument?.budget;
      if (given === null) return;
      const budget = parseBudget(given);
      if (budget === undefined) {
        throw messageRefused(`budget is ${showValue(given)}; give ${budgetRemedy(given)}, or null for no limit.`);
      }
      const problem = state.prices && budgetProblem(budget, state.prices, state.spending);
      if (problem !== undefined) throw messageRefused(problem);
      refuseWhenOver(run, 'run the file again with --budget');
    },
  );
}

function refuseWhenOver(run: BatchRun, remedy: string): void {
  const state = batchState(run);
  if (state === 'Stopping') throw messageRefused(`The batch is being stopped: once it is over, ${remedy}.`);
  if (state === 'Reporting' || state === 'Ended') throw messageRefused(`The batch is over: ${remedy}.`);
}
