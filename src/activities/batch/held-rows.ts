import { rowWorkflowId } from '../../contract/workflow-ids';
import { defaultAccount } from '../../money/batch-budget';
import type { DailyRefusal } from '../../money/day-operations';
import { formatRowPlace } from '../../core/batch/row-place';
import { showValue } from '../../core/text';
import type { PreparedRow } from '../../rows';
import type { DailyBudgets, Expense } from '../daily-budgets';

/** Why the daily budget of its account can never allow a row; undefined when it can, and without one. */
export function dailyProblem(
  budgets: DailyBudgets | undefined,
  { key, input: { account = defaultAccount, webAppId }, ...place }: PreparedRow,
): string | undefined {
  const problem = budgets?.problem({ account, webAppId });
  return problem && `In ${formatRowPlace(place)} (key ${showValue(key)}): ${problem}`;
}

interface HeldRows {
  readonly count: number;
  /** Undefined when all of them may. */
  readonly refusal: DailyRefusal | undefined;
  /** Frees the holds of these rows and of those not started. Not awaited: holds end by themselves. */
  readonly free: (endedKeys: ReadonlySet<string>) => void;
}

/** Has daily budgets hold the cost of rows until their creates reserve it. `nowMs` by Temporal's clock. */
export async function holdRows(
  budgets: DailyBudgets | undefined,
  batchId: string,
  rows: readonly { readonly row: PreparedRow; readonly previous: { readonly createNumber: number } | null }[],
  nowMs: number,
): Promise<HeldRows> {
  const expenses = rows.map(({ row: { key, input }, previous }): Expense => {
    const { account = defaultAccount, webAppId } = input;
    const createNumber = previous === null ? 1 : previous.createNumber + 1;
    return { account, webAppId, workflowId: rowWorkflowId(batchId, key), createNumber };
  });
  const granted = (await budgets?.hold(expenses, nowMs)) ?? [];
  const refused = granted.findIndex((one) => one?.refusal !== undefined);
  const count = refused < 0 ? rows.length : refused;
  return {
    count,
    refusal: granted[count]?.refusal,
    free: (endedKeys) => {
      const byDay = new Map<string, Expense[]>();
      for (const [index, expense] of expenses.entries()) {
        const one = granted[index];
        const isEnded = index >= count || endedKeys.has(rows[index]?.row.key ?? '');
        if (one === undefined || one.refusal !== undefined || !isEnded) continue;
        byDay.set(one.day, [...(byDay.get(one.day) ?? []), expense]);
      }
      for (const [day, ended] of byDay) void budgets?.unhold(ended, day);
    },
  };
}
