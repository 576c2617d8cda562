/** The service's clock and a worker's differ, and the service tells whole seconds: this much proves nothing. */
const clockToleranceMs = 5_000;

/** A create whose outcome is not known; times in epoch milliseconds. */
export interface UncertainCreate {
  readonly workflowId: string;
  readonly sentAtMs: number;
}

/** Whether the service had created the task before the create was sent that is said to have made it. */
export function isCreatedBefore(createdAtMs: number, sentAtMs: number): boolean {
  return createdAtMs < sentAtMs - clockToleranceMs;
}

/** The last other create, not before `sentAtMs`, that may have made the task; `createdAtMs` null: not known when. */
export function findRival(
  createdAtMs: number | null,
  sentAtMs: number,
  others: readonly UncertainCreate[],
): UncertainCreate | undefined {
  return others
    .filter((other) => createdAtMs === null || !isCreatedBefore(createdAtMs, other.sentAtMs))
    .filter((other) => createdAtMs === null || !isCreatedBefore(other.sentAtMs, sentAtMs))
    .sort((one, other) => other.sentAtMs - one.sentAtMs)[0];
}
