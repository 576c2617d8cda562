import type { OpenBatchResult, RowCursor } from '../../contract/batch/batch-activities';
import type { RowEnd } from '../../contract/batch/batch-rows';
import { failureTypes } from '../../contract/failure-types';
import {
  addCost,
  budgetProblem,
  type BudgetView,
  formatBudget,
  noSpending,
  spentSums,
  viewBudget,
} from '../../domain/batch/batch-budget';
import { formatMoney, type Money } from '../../domain/money';
import type { BatchContinueAsNewState } from './continue-as-new-state';

/** Ends of rows that may have a task at the service although no request id is known. */
const mayHaveTask: readonly string[] = [failureTypes.CreateUncertain, 'Terminated'];

/** What a batch's tasks cost, and how many more rows that lets start. The figures are in the batch's state. */
export class BatchBudget {
  readonly #state: BatchContinueAsNewState;
  /** A row that is to be started stands here, and no row's expected cost is left for it. */
  #waitingAt: RowCursor | null = null;

  constructor(state: BatchContinueAsNewState) {
    this.#state = state;
  }

  /** In what the rows that are started now have to be priced; undefined without a budget. */
  get money(): Money | undefined {
    return this.#state.budget ?? undefined;
  }

  /** What the batch's tasks cost so far. */
  get costs(): { readonly sums: readonly Money[]; readonly unknown: number } {
    const { spending = noSpending } = this.#state;
    return { sums: spentSums(spending), unknown: spending.unknown };
  }

  /** Null without a budget, and before the batch is opened. */
  view(running: number): BudgetView | null {
    const { budget, prices, spending = noSpending } = this.#state;
    return budget == null || prices === undefined ? null : viewBudget(budget, prices, spending, running);
  }

  /** How many of the free places may be filled. */
  limit(freePlaces: number, running: number): number {
    return Math.min(freePlaces, this.view(running)?.places ?? freePlaces);
  }

  /** Whether nothing runs, and the next row would go beyond the budget. */
  isReached(running: number): boolean {
    const { cursor } = this.#state;
    return running === 0 && cursor !== null && isSamePlace(this.#waitingAt, cursor) && this.#isUsedUp;
  }

  /**
   * Whether the next rows may be looked through although none may start: nothing runs, and what follows may be on
   * record already, so that the batch is over and waits for no budget.
   */
  get mayLookAhead(): boolean {
    const { cursor } = this.#state;
    return cursor !== null && this.#isUsedUp && !isSamePlace(this.#waitingAt, cursor);
  }

  get #isUsedUp(): boolean {
    return this.view(0)?.places === 0;
  }

  /** The rows were looked through from here on: where that led nowhere, the next one is to be started. */
  endLookAhead(from: RowCursor): void {
    if (isSamePlace(this.#state.cursor, from)) this.#waitingAt = from;
  }

  /** Takes in what is known before the first row. Why the batch cannot have its budget; undefined when it can. */
  open({ spending, prices, dailyProblem }: OpenBatchResult): string | undefined {
    if (dailyProblem !== undefined) return dailyProblem;
    this.#state.spending = spending;
    this.#state.prices = prices;
    const { budget } = this.#state;
    return budget == null ? undefined : budgetProblem(budget, prices, spending);
  }

  /** Takes in what a row's task cost, whichever attempt it was. */
  add({ cost, requestId, failure }: RowEnd): void {
    const { spending = noSpending } = this.#state;
    const isPaid = requestId !== null || mayHaveTask.includes(failure?.type ?? '');
    if (cost !== undefined || isPaid) this.#state.spending = addCost(spending, cost);
  }

  /** Why the batch cannot have this budget; undefined when it can, and while its rows are not compared yet. */
  problem(budget: Money): string | undefined {
    const { prices, spending } = this.#state;
    return prices === undefined ? undefined : budgetProblem(budget, prices, spending);
  }

  /** Sets what the batch may cost from now on; null: no limit. Resolves to what comes of it, for people. */
  set(budget: Money | null, running: number): string {
    this.#state.budget = budget;
    const view = this.view(running);
    if (budget === null) return 'The batch has no budget from now on.';
    return `The budget is ${formatMoney(budget)} from now on${view === null ? '' : `: ${formatBudget(view, running)}`}.`;
  }
}

function isSamePlace(one: RowCursor | null, other: RowCursor): boolean {
  return one !== null && one.page === other.page && one.skip === other.skip;
}
