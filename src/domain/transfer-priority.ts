const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Temporal's priority keys reach from 1, which goes first, to 5. */
export type PriorityKey = 1 | 2 | 3 | 4;

/** All uploads are alike: what they prepare is not paid yet and does not expire. */
export const uploadPriority: PriorityKey = 4;

/**
 * The place of an archive among the archives that wait for a free slot: the less time is left until the service
 * deletes its results, the earlier its turn. `undefined` when the service does not say.
 */
export function archivePriority(timeLeftMs: number | undefined): PriorityKey {
  if (timeLeftMs === undefined || timeLeftMs > 6 * hourMs) return 3;
  return timeLeftMs > 30 * minuteMs ? 2 : 1;
}
