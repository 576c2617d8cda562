import { type Client, WorkflowFailedError } from '@temporalio/client';
import { webhookPrefix, webhookWorkflow } from '../../contract/webhook';
import { isClosed } from '../existing-run';
import { listWorkflows } from '../list-workflows';
import { describeWorkflow, type WorkflowInfo } from '../workflow-info';
import { retryingActivities } from './pending-work';

/** A webhook that tells an end of the task, and that its receiver has not taken. */
export interface UndeliveredWebhook {
  /** The workflow that delivers it. */
  readonly workflowId: string;
  /** The header `webhook-id` of all its attempts. */
  readonly id: string;
  /** Whether it is sent no more; otherwise it is tried again. */
  readonly isGivenUp: boolean;
  /** ISO-8601: since when it is sent. */
  readonly startedAt: string;
  /** Why the last attempt failed; null while the first is on its way. */
  readonly lastFailure: string | null;
  /** ISO-8601: when it is tried again; null while it is being sent, and when it is given up. */
  readonly nextAttemptAt: string | null;
}

/** Each end of a task has one: a task that is started again and again has more than one list shows. */
const maxListed = 20;
const withinMs = 3_000;

/**
 * The webhooks of a task that is over and that are not delivered, newest first; of a task without a webhook, and of one
 * that runs, there are none. Null where Temporal cannot tell. A new one is listed within a second or two.
 */
export async function undeliveredWebhooks(
  client: Client,
  { workflowId, execution }: WorkflowInfo,
): Promise<readonly UndeliveredWebhook[] | null> {
  if (!isClosed(execution)) return [];
  try {
    return await client.withDeadline(Date.now() + withinMs, async () => {
      const ids = await listUndelivered(client, webhookPrefix(workflowId));
      const found = await Promise.all(ids.map((id) => readWebhook(client, workflowId, id)));
      return found.filter((webhook) => webhook !== null);
    });
  } catch {
    // The rest of the status does not depend on it.
    return null;
  }
}

/** The ids of deliveries with a run that was not taken; one that was sent again may have another run that was. */
async function listUndelivered(client: Client, prefix: string): Promise<readonly string[]> {
  const query = `WorkflowType = "${webhookWorkflow}" AND WorkflowId STARTS_WITH ${JSON.stringify(prefix)}`;
  const ids = new Set<string>();
  let listed = 0;
  for await (const { workflowId, execution } of listWorkflows(client, query, maxListed)) {
    if (workflowId.startsWith(prefix) && execution !== 'COMPLETED') ids.add(workflowId);
    listed += 1;
    if (listed >= maxListed) break;
  }
  return [...ids];
}

/** Its latest run; null when it was taken. */
async function readWebhook(
  client: Client,
  endedWorkflowId: string,
  workflowId: string,
): Promise<UndeliveredWebhook | null> {
  const { execution, runId, startedAt, pendingActivities } = await describeWorkflow(client, workflowId);
  if (execution === 'COMPLETED') return null;
  const isGivenUp = isClosed(execution);
  const [retry] = await retryingActivities(client, pendingActivities);
  return {
    workflowId,
    id: workflowId.slice(webhookPrefix(endedWorkflowId).length),
    isGivenUp,
    startedAt: startedAt.toISOString(),
    lastFailure: isGivenUp ? await failureOf(client, workflowId, runId) : (retry?.lastFailure ?? null),
    nextAttemptAt: retry?.nextAttemptAt ?? null,
  };
}

async function failureOf(client: Client, workflowId: string, runId: string): Promise<string> {
  try {
    await client.workflow.result(workflowId, runId, { followRuns: false });
    return '';
  } catch (error) {
    if (error instanceof WorkflowFailedError) return error.cause?.message ?? error.message;
    throw error;
  }
}
