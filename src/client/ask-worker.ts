import { QueryNotRegisteredError, ServiceError, WorkflowUpdateFailedError } from '@temporalio/client';
import type { DecisionTaken } from '../contract/messages';
import { DecisionRefusedError } from './errors';
import { askTemporal, type TemporalAccess } from './temporal-access';

/** How long a worker may take to answer: longer than the local activity of a poll that it may have to wait for. */
const answerTimeoutMs = 6_000;

/**
 * What a workflow answers to a query; undefined when there is no worker to answer, or the workflow has no answer. To be
 * asked of a workflow that Temporal has just described: what fails then is the answer of a worker.
 */
export async function answerOf<Answer>(
  access: TemporalAccess,
  query: () => Promise<Answer>,
): Promise<Answer | undefined> {
  try {
    return await access.client.withDeadline(Date.now() + answerTimeoutMs, query);
  } catch (error) {
    if (error instanceof ServiceError || error instanceof QueryNotRegisteredError) return undefined;
    throw error;
  }
}

/**
 * Sends an update that decides something; resolves with what happens now, in words. Throws `DecisionRefusedError` with
 * the workflow's words when it refuses, and the errors of `askTemporal`.
 */
export async function decide(
  access: TemporalAccess,
  workflowId: string,
  update: () => Promise<DecisionTaken>,
): Promise<string> {
  try {
    const { words } = await askTemporal(access, workflowId, update, answerTimeoutMs);
    return words;
  } catch (error) {
    if (!(error instanceof WorkflowUpdateFailedError)) throw error;
    const words = error.cause?.message ?? error.message;
    throw new DecisionRefusedError(workflowId, words, { cause: error });
  }
}
