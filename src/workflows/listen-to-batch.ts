import { CancellationScope, setHandler } from '@temporalio/workflow';
import {
  drainUpdate,
  pauseUpdate,
  progressQuery,
  resumeUpdate,
  retryFailedUpdate,
  rowEndedSignal,
  setConcurrencyUpdate,
} from '../contract/batch-messages';
import type { RowEnd } from '../contract/batch-rows';
import { isConcurrency, maxConcurrency } from '../contract/parse-batch-input';
import type { BatchRun } from './batch-run';

/** Registers every handler of the `batch` workflow; before the first await, so that no message is missed. */
export function listenToBatch(run: BatchRun): void {
  CancellationScope.current().cancelRequested.catch(() => {
    run.isCancellationRequested = true;
  });
  setHandler(progressQuery, () => run.view(), { description: 'How far the batch is, what failed, and its pace.' });
  setHandler(
    rowEndedSignal,
    // Anybody may send anything: a signal that throws here would wedge the batch.
    (end?: Partial<RowEnd>) => {
      if (isRowEnd(end)) run.takeEnd(end);
    },
    { description: 'A row’s task is over; sent by the task itself.' },
  );
  listenToOperator(run);
}

/** What a person may ask of a batch that runs. */
function listenToOperator(run: BatchRun): void {
  const { state } = run;
  setHandler(
    pauseUpdate,
    () => {
      state.isPaused = true;
      run.refresh();
      return { words: 'No more rows are started until resume; those that run go on.' };
    },
    { description: 'Start no more rows until resume. Those that run go on.' },
  );
  setHandler(
    resumeUpdate,
    () => {
      Object.assign(state, { isPaused: false, isDraining: false });
      run.refresh();
      return { words: 'Rows are started again.' };
    },
    { description: 'Start rows again, after pause or drain.' },
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
      validator: (argument?: { rows?: unknown }) => {
        if (!isConcurrency(argument?.rows))
          throw new Error(`Give { "rows": N }, N a whole number from 1 to ${maxConcurrency}.`);
      },
    },
  );
  setHandler(
    retryFailedUpdate,
    () => {
      state.isRetryAsked = true;
      return {
        words: 'Rows that did not succeed are started again once every row had its turn. They may be paid anew.',
      };
    },
    { description: 'Start rows again that did not succeed, once every row had its turn. May be paid anew.' },
  );
  setHandler(
    drainUpdate,
    () => {
      state.isDraining = true;
      run.refresh();
      return { words: 'No more rows are started; the batch ends when those that run have ended.' };
    },
    { description: 'Start no more rows, and end when those that run have ended. The rest can be run later.' },
  );
}

function isRowEnd(end: Partial<RowEnd> | null | undefined): end is RowEnd {
  return typeof end?.key === 'string' && typeof end.status === 'string' && Array.isArray(end.outputs);
}
