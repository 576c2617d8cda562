import { eventually } from './eventually';
import type { RunningTask } from './task-environment';

/** A create that waits between two attempts, as Temporal shows it. */
export interface PendingCreate {
  readonly attempt: number;
  /** What the last attempt complained of. */
  readonly lastFailure: string;
  /** How long until it is tried again. */
  readonly nextMs: number;
}

/** The create of a task once it waits for this attempt. */
export async function pendingCreate(task: RunningTask, attempt = 2): Promise<PendingCreate> {
  return eventually(
    async () => {
      const { raw } = await task.describe();
      const pending = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'createTask');
      if (pending?.attempt == null || pending.attempt < attempt || pending.lastFailure == null) return undefined;
      const nextMs = Number(pending.nextAttemptScheduleTime?.seconds ?? 0) * 1_000 - Date.now();
      return { attempt: pending.attempt, lastFailure: pending.lastFailure.message ?? '', nextMs };
    },
    { what: `attempt ${attempt} of the create` },
  ) as Promise<PendingCreate>;
}
