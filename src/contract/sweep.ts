import type { FindingKind, SafeReason } from '../domain/reconcile';
import { isRecord } from '../domain/json';
import { unknownNameProblems } from '../domain/nearest-name';
import { showValue } from '../domain/text';
import { firstProblems, unusableInput } from './input-bounds';
import { workflowTaskQueue } from './task-queues';

/*
 * The workflow `sweep`: what `reconcile` finds, found again and again. A Schedule of Temporal starts it; `longhaul sweep
 * install` makes that.
 */

/** The name of the workflow; durable. */
export const sweepWorkflow = 'sweep';

/** The id of the Schedule whose sweeps run on a task queue; durable. Its workflows are called so, too, with their time. */
export function sweepScheduleId(taskQueue: string): string {
  return taskQueue === workflowTaskQueue ? 'longhaul-sweep' : `longhaul-sweep-${taskQueue}`;
}

/** What a sweep does with a task that runs at the service and that no workflow follows. */
export const unfollowedPolicies = ['report', 'adopt', 'stop'] as const;

/** One of {@link unfollowedPolicies}. */
export type UnfollowedPolicy = (typeof unfollowedPolicies)[number];

/** What a sweep compares, and what it does by itself. */
export interface SweepInput {
  /** What began or was archived more days ago is left out. @default 30 */
  readonly windowDays?: number;
  /** Whether archived files are hashed, which reads all of them. @default false */
  readonly verify?: boolean;
  /** Whether what is not archived, or damaged, is archived again. @default false */
  readonly rearchive?: boolean;
  /** @default report */
  readonly unfollowed?: UnfollowedPolicy;
}

/** A {@link SweepInput} with nothing left open. */
export type SweepPlan = Required<SweepInput>;

/** How a sweep ended. */
export interface SweepResult {
  /** ISO-8601. */
  readonly endedAt: string;
  readonly safe: Readonly<Record<SafeReason, number>>;
  /** What is not safe and was left as it is, by kind; kinds that were not found are absent. */
  readonly unsafe: Readonly<Partial<Record<FindingKind, number>>>;
  /** What the sweep took care of by its policies. */
  readonly handled: number;
  /** Where the report is, for people. */
  readonly report: string;
  /** The first findings with their commands, for people; bounded. */
  readonly text: string;
}

/** The activities of sweeps, by their durable names. */
export interface SweepActivities {
  readonly sweep: (plan: SweepPlan) => Promise<SweepResult>;
}

const maxWindowDays = 3_650;
const fields = ['windowDays', 'verify', 'rearchive', 'unfollowed'];

/** Checks the input of a sweep: any client of the namespace may start one with anything. */
export function parseSweepInput(input: unknown = {}): {
  readonly plan: SweepPlan;
  readonly problems: readonly string[];
} {
  const unusable = unusableInput(input, `{ ${fields.join(', ')} }`);
  const given = unusable === undefined && isRecord(input) ? input : {};
  const { windowDays = 30, verify = false, rearchive = false, unfollowed = 'report' } = given;
  const problems = [
    ...(unusable === undefined ? [] : [unusable]),
    ...unknownNameProblems('field', Object.keys(given), fields),
    ...(isWindow(windowDays)
      ? []
      : [`windowDays is ${showValue(windowDays)}; give a whole number from 1 to ${maxWindowDays}.`]),
    ...Object.entries({ verify, rearchive })
      .filter(([, value]) => typeof value !== 'boolean')
      .map(([name, value]) => `${name} is ${showValue(value)}; give true or false.`),
    ...(unfollowedPolicies.some((policy) => policy === unfollowed)
      ? []
      : [`unfollowed is ${showValue(unfollowed)}; give ${unfollowedPolicies.join(', ')}.`]),
  ];
  const plan = { windowDays, verify, rearchive, unfollowed } as SweepPlan;
  return { plan, problems: firstProblems(problems) };
}

function isWindow(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= maxWindowDays;
}
