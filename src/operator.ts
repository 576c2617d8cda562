/**
 * What only an operator does: sweeps, daily budgets, and decisions about tasks that wait for a person. A module of its
 * own: a backend needs none of it.
 * @example
 * const operator = asOperator(await Longhaul.connect());
 * await operator.task('order-17').rearchive();
 */
import type { Operator } from './client/public-types';
import { Longhaul } from './index';

export type { Operator, Sweeps } from './client/public-types';
export type { InstalledSweep, SweepStatus } from './client/sweeps';
export type { SweepInput, SweepResult } from './contract/sweep';
export type { DayView } from './money/day-operations';

/** The same client with an operator's means. Throws `TypeError` for a fake. */
export function asOperator(longhaul: Longhaul): Operator {
  if (isOperator(longhaul)) return longhaul;
  throw new TypeError('asOperator needs a client that Longhaul.connect or new Longhaul made.');
}

function isOperator(longhaul: object): longhaul is Operator {
  return longhaul instanceof Longhaul;
}
