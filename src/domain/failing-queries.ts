import type { Observation } from './task-state';

/** Queries for one task that failed one after the other. Plain JSON: it goes from worker to worker. */
export interface FailingQueries {
  /** When the first of them failed. */
  readonly sinceMs: number;
  /** When the last one did, by the same clock. */
  readonly lastMs: number;
  readonly queries: number;
  /** What was wrong with the last one. */
  readonly problem: string;
}

/** So many of them over so long are no bad luck any more. */
const longMs = 180_000;
const manyQueries = 3;

/**
 * What is known after another query; undefined once one was answered. One that waits for its turn within a limit was not
 * sent, and tells nothing. Pure: the clock is the caller's.
 */
export function afterQuery(
  failing: FailingQueries | undefined,
  query: { readonly observation: Observation; readonly waitsForTurn: boolean },
  nowMs: number,
): FailingQueries | undefined {
  const { observation, waitsForTurn } = query;
  if (observation.seen !== 'nothing') return undefined;
  if (waitsForTurn) return failing;
  const { sinceMs = nowMs, queries = 0 } = failing ?? {};
  return { sinceMs, lastMs: nowMs, queries: queries + 1, problem: observation.problem };
}

/** Whether that lasts too long for bad luck. */
export function areFailingLong({ sinceMs, lastMs, queries }: FailingQueries): boolean {
  return queries >= manyQueries && lastMs - sinceMs >= longMs;
}
