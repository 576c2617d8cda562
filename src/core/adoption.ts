/** The service's clock and a worker's are two, and the service tells whole seconds: a difference up to this proves nothing. */
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

/**
 * Of the other uncertain creates, the last one that may as well have made the task: sent before the service created it
 * (null: it does not say when), and no earlier than the create that was sent at `sentAtMs`. Pure.
 */
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
