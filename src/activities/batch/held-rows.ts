import { rowWorkflowId } from '../../contract/workflow-ids';
import { defaultAccount } from '../../money/batch-budget';
import type { DailyRefusal } from '../../money/day-operations';
import { formatRowPlace } from '../../core/batch/row-place';
import { showValue } from '../../core/text';
import type { PreparedRow } from '../../rows';
import type { DailyBudgets, Expense, Granted } from '../daily-budgets';

/** Why a row can never run within the daily budget of its account; undefined when it can, and without one. */
export function dailyProblem(
  budgets: DailyBudgets | undefined,
  { key, input: { account = defaultAccount, webAppId }, ...place }: PreparedRow,
): string | undefined {
  const problem = budgets?.problem({ account, webAppId });
  return problem && `In ${formatRowPlace(place)} (key ${showValue(key)}): ${problem}`;
}

interface RowToStart {
  readonly row: PreparedRow;
  readonly previous: { readonly createNumber: number } | null;
}

interface HeldRow {
  readonly key: string;
  readonly expense: Expense;
  /** Undefined: its account has no daily budget. */
  readonly granted: Granted | undefined;
}

/** What daily budgets hold for rows that are about to be started, until their creates reserve it. */
export class HeldRows {
  /** How many of the rows, from the first on, may be started. */
  readonly count: number;
  /** Why the next one may not; undefined when all of them may. */
  readonly refusal: DailyRefusal | undefined;
  readonly #budgets: DailyBudgets | undefined;
  readonly #rows: readonly HeldRow[];

  /** Asks the day of each row's account; `nowMs` by Temporal's clock. */
  static async hold(
    budgets: DailyBudgets | undefined,
    batchId: string,
    rows: readonly RowToStart[],
    nowMs: number,
  ): Promise<HeldRows> {
    const expenses = rows.map(({ row: { key, input }, previous }): Expense => {
      const { account = defaultAccount, webAppId } = input;
      const createNumber = previous === null ? 1 : previous.createNumber + 1;
      return { account, webAppId, workflowId: rowWorkflowId(batchId, key), createNumber };
    });
    const granted = (await budgets?.hold(expenses, nowMs)) ?? [];
    const held = rows.map(({ row: { key } }, index) => ({ key, expense: expenses[index], granted: granted[index] }));
    return new HeldRows(
      budgets,
      held.flatMap(({ expense, ...one }) => (expense === undefined ? [] : { ...one, expense })),
    );
  }

  private constructor(budgets: DailyBudgets | undefined, rows: readonly HeldRow[]) {
    const refused = rows.findIndex(({ granted }) => granted?.refusal !== undefined);
    this.#budgets = budgets;
    this.#rows = rows;
    this.count = refused < 0 ? rows.length : refused;
    this.refusal = rows[this.count]?.granted?.refusal;
  }

  /** Of these rows, and of those that were not started, nothing is held any longer. Not waited for: what is held ends by itself. */
  free(endedKeys: ReadonlySet<string>): void {
    const free = this.#rows.filter(({ key, granted }, index) => {
      return granted !== undefined && granted.refusal === undefined && (index >= this.count || endedKeys.has(key));
    });
    for (const day of new Set(free.flatMap(({ granted }) => granted?.day ?? []))) {
      const ofDay = free.filter(({ granted }) => granted?.day === day);
      void this.#budgets?.unhold(
        ofDay.map(({ expense }) => expense),
        day,
      );
    }
  }
}
