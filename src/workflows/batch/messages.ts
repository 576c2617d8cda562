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
import type { BatchRun } from './batch-run';
import { readBudget } from './batch-state';

/** Before the first await, so that no message is missed. No default handler: the SDK fails workflow tasks with one. */
export function listenToBatch(run: BatchRun): void {
  CancellationScope.current().cancelRequested.catch(() => {
    run.stop.cancel();
  });
  setHandler(
    progressQuery,
    (...args: readonly unknown[]) => {
      requireDecodable(args);
      return run.view();
    },
    { description: 'How far the batch is, what failed, and its pace.' },
  );
  listenToPace(run);
  listenToBudget(run);
  listenToEnd(run);
}

/** A person says how many rows run at the same time, if any. */
function listenToPace(run: BatchRun): void {
  const { state } = run;
  setHandler(
    pauseUpdate,
    () => {
      if (!state.isPaused) Object.assign(state, { isPaused: true, pausedAtMs: Date.now() });
      run.refresh();
      return { words: 'No more rows are started until resume; those that run go on.' };
    },
    { description: 'Start no more rows until resume. Those that run go on.', validator: requireDecodableArgs },
  );
  setHandler(
    resumeUpdate,
    () => {
      Object.assign(state, { isPaused: false, pausedAtMs: undefined, isDraining: false });
      run.endDailyWait();
      run.refresh();
      if (run.current !== 'BudgetReached') return { words: 'Rows are started again.' };
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
    setConcurrencyUpdate,
    ({ rows }) => {
      state.concurrency = rows;
      run.refresh();
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
}

/** A person says what the batch may cost. */
function listenToBudget(run: BatchRun): void {
  setHandler(
    setBudgetUpdate,
    ({ budget }) => {
      const amount = parseBudget(budget) ?? null;
      run.state.budget = amount;
      run.refresh();
      if (amount === null) return { words: 'The batch has no budget from now on.' };
      const running = run.runningRows.length;
      const view = readBudget(run.state, running);
      const spent = view === null ? '' : `: ${formatBudget(view, running)}`;
      return { words: `The budget is ${formatMoney(amount)} from now on${spent}.` };
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
        const { prices, spending } = run.state;
        const problem = prices === undefined ? undefined : budgetProblem(budget, prices, spending);
        if (problem !== undefined) throw messageRefused(problem);
        refuseWhenOver(run, 'run the file again with --budget');
      },
    },
  );
}

/** A person says when the batch is over. */
function listenToEnd(run: BatchRun): void {
  const { state } = run;
  setHandler(
    retryFailedUpdate,
    () => {
      state.isRetryAsked = true;
      run.redraw();
      return {
        words: 'Rows that did not succeed are started again once every row had its turn. They may be paid anew.',
      };
    },
    {
      description: 'Start rows again that did not succeed, once every row had its turn. May be paid anew.',
      validator: (...args: readonly unknown[]) => {
        requireDecodable(args);
        refuseWhenOver(run, 'run the file again with --retry-failed, which may pay failed rows anew');
        if (!state.isDraining) return;
        throw messageRefused(
          'The batch is being drained and starts no more rows: resume it first. Rows that did not succeed may then be paid anew.',
        );
      },
    },
  );
  setHandler(
    drainUpdate,
    () => {
      state.isDraining = true;
      run.refresh();
      return { words: 'No more rows are started; the batch ends when those that run have ended.' };
    },
    {
      description: 'Start no more rows, and end when those that run have ended. The rest can be run later.',
      validator: requireDecodableArgs,
    },
  );
}

function requireDecodableArgs(...args: readonly unknown[]): void {
  requireDecodable(args);
}

/** The batch would not act on the request any more. */
function refuseWhenOver({ current }: BatchRun, remedy: string): void {
  if (current === 'Stopping') throw messageRefused(`The batch is being stopped: once it is over, ${remedy}.`);
  if (current === 'Reporting' || current === 'Ended') throw messageRefused(`The batch is over: ${remedy}.`);
}
