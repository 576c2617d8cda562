import { CancellationScope, setHandler } from '@temporalio/workflow';
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
import { requireDecodable } from '../../contract/input-bounds';
import { budgetProblem, formatBudget } from '../../money/batch-budget';
import { formatMoney } from '../../money/money';
import { showValue } from '../../core/text';
import { messageRefused } from '../failures';
import { batchState, type BatchRun, readBudget } from './batch-state';
import { redraw, refresh, viewBatch } from './details';

/** Before the first await, so that no message is missed. No default handler: the SDK fails workflow tasks with one. */
export function listenToBatch(run: BatchRun): void {
  const { state } = run;
  CancellationScope.current().cancelRequested.catch(() => {
    run.isCanceled = true;
    state.isStopAsked = true;
    run.breakable?.cancel();
  });
  setHandler(
    progressQuery,
    (...args: readonly unknown[]) => {
      requireDecodable(args);
      return viewBatch(run);
    },
    { description: 'How far the batch is, what failed, and its pace.' },
  );
  setHandler(
    pauseUpdate,
    () => {
      if (!state.isPaused) Object.assign(state, { isPaused: true, pausedAtMs: Date.now() });
      refresh(run);
      return { words: 'No more rows are started until resume; those that run go on.' };
    },
    { description: 'Start no more rows until resume. Those that run go on.', validator: requireDecodableArgs },
  );
  setHandler(
    resumeUpdate,
    () => {
      Object.assign(state, { isPaused: false, pausedAtMs: undefined, isDraining: false, dailyWait: undefined });
      refresh(run);
      if (batchState(run) !== 'BudgetReached') return { words: 'Rows are started again.' };
      return { words: 'Rows are started again once the budget, which is reached, is raised: set-budget.' };
    },
    {
      description: 'Start rows again, after pause or drain.',
      validator: (...args: readonly unknown[]) => {
        requireDecodable(args);
        refuseWhenOver(run, 'run the file again');
      },
    },
  );
  setHandler(
    drainUpdate,
    () => {
      state.isDraining = true;
      refresh(run);
      return { words: 'No more rows are started; the batch ends when those that run have ended.' };
    },
    {
      description: 'Start no more rows, and end when those that run have ended. The rest can be run later.',
      validator: requireDecodableArgs,
    },
  );
  listenToRetry(run);
  listenToLimits(run);
}

function listenToRetry(run: BatchRun): void {
  setHandler(
    retryFailedUpdate,
    () => {
      run.state.isRetryAsked = true;
      redraw(run);
      return {
        words: 'Rows that did not succeed are started again once every row had its turn. They may be paid anew.',
      };
    },
    {
      description: 'Start rows again that did not succeed, once every row had its turn. May be paid anew.',
      validator: (...args: readonly unknown[]) => {
        requireDecodable(args);
        refuseWhenOver(run, 'run the file again with --retry-failed, which may pay failed rows anew');
        if (!run.state.isDraining) return;
        throw messageRefused(
          'The batch is being drained and starts no more rows: resume it first. Rows that did not succeed may then be paid anew.',
        );
      },
    },
  );
}

/** How many rows may run at the same time, and what the batch may cost. */
function listenToLimits(run: BatchRun): void {
  const { state } = run;
  setHandler(
    setConcurrencyUpdate,
    ({ rows }) => {
      state.concurrency = rows;
      refresh(run);
      return { words: `At most ${rows} rows run at the same time from now on; those that run already go on.` };
    },
    {
      description: `How many rows run at the same time: { "rows": 1 to ${maxConcurrency} }.`,
      validator: (argument?: { rows?: unknown } | null) => {
        requireDecodable([argument]);
        if (!isConcurrency(argument?.rows))
          throw messageRefused(`Give { "rows": N }, N a whole number from 1 to ${maxConcurrency}.`);
      },
    },
  );
  setHandler(
    setBudgetUpdate,
    ({ budget }) => {
      state.budget = parseBudget(budget) ?? null;
      refresh(run);
      if (state.budget === null) return { words: 'The batch has no budget from now on.' };
      const view = readBudget(run);
      const spent = view === null ? '' : `: ${formatBudget(view, run.running.size)}`;
      return { words: `The budget is ${formatMoney(state.budget)} from now on${spent}.` };
    },
    {
      description: 'What the batch may cost: { "budget": "30EUR" }, or null for no limit.',
      validator: (argument?: { budget?: unknown } | null) => {
        requireDecodable([argument]);
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
    },
  );
}

function requireDecodableArgs(...args: readonly unknown[]): void {
  requireDecodable(args);
}

/** The batch would not act on the request any more. */
function refuseWhenOver(run: BatchRun, remedy: string): void {
  const state = batchState(run);
  if (state === 'Stopping') throw messageRefused(`The batch is being stopped: once it is over, ${remedy}.`);
  if (state === 'Reporting' || state === 'Ended') throw messageRefused(`The batch is over: ${remedy}.`);
}
