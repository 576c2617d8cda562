import * as v from 'valibot';
import { formatMoment, formatNextTry } from '../core/time';
import { moment, wordOf } from './schema';

/** In the order in which one hides the others. */
export const problemCodes = [
  /** Its workflow was terminated or timed out: nothing follows the task. */
  'CutOff',
  /** Its workflow tasks fail: it makes no progress, and a stop does not reach it. */
  'Stuck',
  /** Its workflow tasks time out: workers have more to replay than they can. */
  'Overloaded',
  'NeedsPerson',
  'NoWorker',
  /** By an operator: a step is not tried before Unpause. */
  'Paused',
  /** A step, or the queries of a watch, failed and are tried again. */
  'Retrying',
  /** Nothing is wrong: its turn comes within the limits of its account. */
  'HeldBack',
] as const;
export type ProblemCode = (typeof problemCodes)[number];

export const problemSchema = v.object({
  code: wordOf<ProblemCode>(),
  /** What is wrong, in words. */
  message: v.string(),
  /** ISO-8601: since when; null: not known. */
  since: v.nullable(moment),
  /** What to do; null: nothing, it goes on by itself. */
  remedy: v.nullable(v.string()),
  /** ISO-8601: when it is tried again, where Temporal was asked now. */
  nextAttemptAt: v.optional(moment),
});
/** What keeps a task or a batch from going on, or asks for a person. */
export type Problem = v.InferOutput<typeof problemSchema>;

export function problemText({ message, remedy }: Pick<Problem, 'message' | 'remedy'>): string {
  return remedy === null ? message : `${message} ${remedy}`;
}

/** `Retrying since 2026-03-01 12:34:56 UTC, next try in 8 s: createTask: HTTP 503`; without `nowMs`, what stays the same. */
export function formatProblem(problem: Problem, nowMs?: number): string {
  const { code, since, nextAttemptAt } = problem;
  const sinceWhen = since === null ? '' : ` since ${formatMoment(since)}`;
  return `${code}${sinceWhen}${nowMs === undefined ? '' : formatNextTry(nextAttemptAt, nowMs)}: ${problemText(problem)}`;
}

/** Whether it goes on only once a person has done something. */
export function asksForPerson(problem: Problem | null): boolean {
  return problem?.code === 'NeedsPerson' || problem?.code === 'Stuck' || problem?.code === 'Paused';
}
