import { WorkflowUpdateFailedError } from '@temporalio/client';
import type { CreateOutcome } from '../../src/core/create-outcome';
import type { FakeService } from './fake-activities';
import { type RunningTask, type TaskEnvironment, whenStatusIs } from './task-environment';

/** The reply to the create was lost. */
export const uncertain: CreateOutcome = { outcome: 'uncertain', reason: 'the connection was reset' };

/** Runs a task whose first create is uncertain, up to where it waits for a decision. */
export function whileUncertain<T>(
  environment: TaskEnvironment,
  service: FakeService,
  during: (task: RunningTask) => Promise<T>,
  input: Record<string, unknown> = {},
): Promise<T> {
  service.createOutcomes = [uncertain, ...service.createOutcomes];
  return environment.withTask(service.activities, { inputs: {}, ...input }, async (task) => {
    await whenStatusIs(task, 'CreateUncertain');
    return during(task);
  });
}

/** Why an update was refused, in the words that the person who sent it reads. */
export async function refusalOf(update: Promise<unknown>): Promise<string> {
  try {
    await update;
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) return error.cause?.message ?? '';
    throw error;
  }
  return 'not refused';
}
