import { searchAttributes } from '../../contract/search-attributes';
import type { TemporalAccess } from '../temporal-access';
import type { DescribedWorkflow } from '../workflow-info';
import { findWorkflowsOf } from './start-task';

const withinMs = 3_000;

/** Ends of a workflow after which its task may go on at the service, so that another one may have taken it over. */
const leavesItsTask: readonly string[] = ['FAILED', 'TERMINATED', 'TIMED_OUT'];

/**
 * The workflow of another id that took over the task of one that was cut off or failed, as `adopt` does: the one that
 * runs, else the last that ended. Null where there is none, or Temporal cannot tell. A new one is listed within a second
 * or two.
 */
export async function findAdopter(
  access: Pick<TemporalAccess, 'client'>,
  { workflowId, execution, attributes, startedAt }: DescribedWorkflow,
  requestId: string | null,
): Promise<string | null> {
  const account = attributes.get(searchAttributes.account.name);
  if (requestId === null || account === undefined || !leavesItsTask.includes(execution)) return null;
  try {
    const list = () => findWorkflowsOf(access, requestId, account, startedAt);
    const found = await access.client.withDeadline(Date.now() + withinMs, list);
    return found.find((other) => other !== workflowId) ?? null;
  } catch {
    // The rest of the status does not depend on it.
    return null;
  }
}
