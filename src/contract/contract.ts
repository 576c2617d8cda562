import type { BatchInput } from './batch/batch-input';
import type { BatchProgress, BatchResult, BudgetRequest, ConcurrencyRequest } from './batch/batch-messages';
import type { BatchFailure, TaskFailure } from './failure-details';
import type { AdoptDecision, TaskInput } from './task-input';
import type { CallbackNotice, DecisionTaken, TaskStatus } from './task-messages';
import type { CanceledMemo, TaskResult } from './task-result';
import type { WebhookEvent } from './webhook';

interface Update<Argument> {
  /** Null: it takes none. */
  readonly argument: Argument;
  readonly answer: DecisionTaken;
}

/** All that Temporal clients exchange with the workflows; `docs/reference/contract.schema.json` is made from it. */
export interface Contract {
  readonly task: {
    /** The one argument of the workflow `task`. */
    readonly input: TaskInput;
    readonly result: TaskResult;
    readonly failure: TaskFailure;
    /** The memo `canceledResult` of a task that was canceled: Temporal keeps no result of a canceled workflow. */
    readonly canceled: CanceledMemo['canceledResult'];
    /** What each takes; null: nothing. */
    readonly signals: {
      readonly cancel: null;
      readonly interrupt: null;
      /** Of the callback receiver. */
      readonly callback: CallbackNotice;
    };
    /** What each answers; none takes an argument. */
    readonly queries: { readonly status: TaskStatus };
    readonly updates: {
      readonly adopt: Update<AdoptDecision>;
      readonly recreate: Update<null>;
      readonly abandon: Update<null>;
      readonly rearchive: Update<null>;
    };
  };
  readonly batch: {
    /** The one argument of the workflow `batch`. */
    readonly input: BatchInput;
    /** What it completes with; one that was stopped ends as canceled, and `progress` has its figures. */
    readonly result: BatchResult;
    readonly failure: BatchFailure;
    /** What each answers; none takes an argument. */
    readonly queries: { readonly progress: BatchProgress };
    readonly updates: {
      readonly pause: Update<null>;
      readonly resume: Update<null>;
      readonly drain: Update<null>;
      readonly retryFailed: Update<null>;
      readonly setConcurrency: Update<ConcurrencyRequest>;
      readonly setBudget: Update<BudgetRequest>;
    };
  };
  /** What the receiver of a webhook gets; no client of Temporal sends it. */
  readonly webhook: { readonly body: WebhookEvent };
}
