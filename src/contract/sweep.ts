import * as v from 'valibot';
import { findingKinds, type SafeReason } from '../core/reconcile';
import { isRecord } from '../core/json';
import { firstProblems, unusableInput } from './input-bounds';
import { check, dictionary, flag, moment, oneOf, pick, unknownFieldProblems, wholeNumber } from './schema';
import { workflowTaskQueue } from './task-queues';

// The workflow `sweep`: `reconcile` again and again, started by a Schedule that `longhaul sweep install` makes.

/** The name of the workflow; durable. */
export const sweepWorkflow = 'sweep';

/** The durable id of the Schedule of a task queue; the ids of its workflows add their time. */
export function sweepScheduleId(taskQueue: string): string {
  return taskQueue === workflowTaskQueue ? 'longhaul-sweep' : `longhaul-sweep-${taskQueue}`;
}

/** The id of a sweep that a person asked for, which compares everything. */
export function sweepNowId(taskQueue: string, unique: string): string {
  return `${sweepScheduleId(taskQueue)}-now-${unique}`;
}

export function isSweepNow(workflowId: string, taskQueue: string): boolean {
  return workflowId.startsWith(sweepNowId(taskQueue, ''));
}

/** What a sweep does with a task that runs at the service and that no workflow follows. */
export const unfollowedPolicies = ['report', 'adopt', 'stop'] as const;
export type UnfollowedPolicy = (typeof unfollowedPolicies)[number];

const inputSchema = v.object({
  /** What began or was archived more days ago is left out. @default 30 */
  windowDays: v.optional(wholeNumber(1, 3_650), 30),
  /** Whether archived files are hashed, which reads all of them. @default false */
  verify: v.optional(flag, false),
  /** Whether what is not archived, or damaged, is archived again. @default false */
  rearchive: v.optional(flag, false),
  /** @default report */
  unfollowed: v.optional(oneOf(unfollowedPolicies), 'report'),
});
export type SweepInput = Readonly<v.InferInput<typeof inputSchema>>;

export type SweepPlan = Readonly<v.InferOutput<typeof inputSchema>>;

const counted = wholeNumber(0);
const nullableText = v.nullable(v.string());
const stateSchema = v.object({
  plan: inputSchema,
  /** By Temporal's clock: what ended or was kept before was read. */
  readUpTo: moment,
  /** By Temporal's clock: when the whole window was compared last. */
  comparedAllAt: moment,
  /** What was not safe, and is looked at again. */
  findings: v.array(v.object({ requestId: nullableText, account: nullableText, workflowId: nullableText })),
});
/** What a sweep hands to the next one. */
export type SweepState = Readonly<v.InferOutput<typeof stateSchema>>;

const resultSchema = v.object({
  /** ISO-8601. */
  endedAt: moment,
  safe: v.custom<Readonly<Record<SafeReason, number>>>((value) => v.is(dictionary(counted), value)),
  /** What is not safe and was left as it is, by kind; kinds that were not found are absent. */
  unsafe: v.record(v.picklist(findingKinds), counted),
  /** What the sweep took care of by its policies. */
  handled: counted,
  /** ISO-8601: only what changed since then, runs, or was found before was compared; null: the whole window. */
  changesSince: v.nullable(moment),
  /** Null: the next one compares the whole window. */
  next: v.nullable(stateSchema),
  /** Where the report is, for people. */
  report: v.string(),
  /** The first findings with their commands, for people; bounded. */
  text: v.string(),
});
export type SweepResult = Readonly<v.InferOutput<typeof resultSchema>>;

export function isSweepResult(value: unknown): value is SweepResult {
  return v.is(resultSchema, value);
}

/** The activities of sweeps, by their durable names. */
export interface SweepActivities {
  readonly sweep: (plan: SweepPlan) => Promise<SweepResult>;
}

/** Any client of the namespace may start one with anything. With problems, `plan` is what was given, for people. */
export function parseSweepInput(input: unknown = {}): {
  readonly plan: SweepPlan;
  readonly problems: readonly string[];
} {
  const names = Object.keys(inputSchema.entries);
  const unusable = unusableInput(input, `{ ${names.join(', ')} }`);
  const given = unusable === undefined && isRecord(input) ? input : {};
  const { output, problems } = check(inputSchema, pick(given, names));
  const found = [...unknownFieldProblems(inputSchema, given), ...problems];
  return {
    plan: output ?? { ...v.getDefaults(inputSchema), ...given },
    problems: firstProblems(unusable === undefined ? found : [unusable, ...found]),
  };
}
