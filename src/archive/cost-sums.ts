import { type Money, MoneySums } from '../money/money';
import { type CostOfTask, type CostOutcome, costOutcomes } from './costs';

/** What costs are summed by. */
export const costGroups = ['batch', 'app', 'account', 'day'] as const;
export type CostGroup = (typeof costGroups)[number];

/** The costs of tasks with one outcome. Sums of different currencies are kept apart and never added. */
export interface OutcomeCosts {
  readonly outcome: CostOutcome;
  readonly tasks: number;
  readonly sums: readonly (Money & { readonly tasks: number })[];
  /** Tasks whose cost is not known; it is in none of the sums. */
  readonly unknown: number;
}

/** The costs of tasks that have something in common. */
export interface CostSum {
  /** A batch's id, an app, an account, or a day in UTC; null for tasks that have none, or where it is not known. */
  readonly name: string | null;
  readonly tasks: number;
  readonly sums: readonly Money[];
  /** The part of it that brought no result; of tasks that may run still, nothing. */
  readonly withoutResult: readonly Money[];
  readonly unknown: number;
  readonly outcomes: readonly OutcomeCosts[];
}

const withoutResult: readonly CostOutcome[] = ['failed', 'canceled', 'lost', 'createdTwice'];

/** Costs of one group, by outcome. */
class Group {
  readonly #outcomes = new Map<CostOutcome, { tasks: number; unknown: number; sums: Map<string, [number, number]> }>();

  add({ outcome, cost }: CostOfTask): void {
    const of = this.#outcomes.get(outcome) ?? { tasks: 0, unknown: 0, sums: new Map<string, [number, number]>() };
    this.#outcomes.set(outcome, of);
    of.tasks += 1;
    if (cost === null) {
      of.unknown += 1;
      return;
    }
    const [micros, tasks] = of.sums.get(cost.currency) ?? [0, 0];
    of.sums.set(cost.currency, [micros + cost.micros, tasks + 1]);
  }

  toSum(name: string | null): CostSum {
    const outcomes = costOutcomes.flatMap((outcome): OutcomeCosts[] => {
      const of = this.#outcomes.get(outcome);
      if (of === undefined) return [];
      const sums = [...of.sums].sort(([one], [other]) => (one < other ? -1 : 1));
      const list = sums.map(([currency, [micros, tasks]]) => ({ currency, micros, tasks }));
      return [{ outcome, tasks: of.tasks, sums: list, unknown: of.unknown }];
    });
    const addUp = (these: readonly OutcomeCosts[]): readonly Money[] => {
      const sums = new MoneySums();
      for (const { sums: list } of these) for (const sum of list) sums.add(sum);
      return sums.list();
    };
    return {
      name,
      tasks: outcomes.reduce((sum, { tasks }) => sum + tasks, 0),
      sums: addUp(outcomes),
      withoutResult: addUp(outcomes.filter(({ outcome }) => withoutResult.includes(outcome))),
      unknown: outcomes.reduce((sum, { unknown }) => sum + unknown, 0),
      outcomes,
    };
  }
}

/** Sums of every group, in the order of their names, and of all tasks. */
export function sumCosts(
  tasks: Iterable<CostOfTask>,
  { by, sinceMs }: { readonly by: CostGroup; readonly sinceMs: number },
): { readonly groups: readonly CostSum[]; readonly total: CostSum } {
  const groups = new Map<string | null, Group>();
  const total = new Group();
  for (const task of tasks) {
    if (task.atMs < sinceMs) continue;
    const name = groupName(task, by);
    const group = groups.get(name) ?? new Group();
    groups.set(name, group);
    group.add(task);
    total.add(task);
  }
  const named = [...groups].sort(([one], [other]) => compareNames(one, other));
  return { groups: named.map(([name, group]) => group.toSum(name)), total: total.toSum(null) };
}

function groupName({ batch, webAppId, account, atMs }: CostOfTask, by: CostGroup): string | null {
  switch (by) {
    case 'batch':
      return batch;
    case 'app':
      return webAppId === null ? null : String(webAppId);
    case 'account':
      return account;
    case 'day':
      return atMs === 0 ? null : new Date(atMs).toISOString().slice(0, 10);
  }
}

/** Numbers by their size; those without a name last. */
function compareNames(one: string | null, other: string | null): number {
  if (one === null || other === null) return one === null ? 1 : -1;
  return one.localeCompare(other, 'en', { numeric: true });
}
