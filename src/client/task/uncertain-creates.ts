import { searchAttributes, sentAtMemo } from '../../contract/search-attributes';
import type { UncertainCreate } from '../../domain/adoption';
import { listRawPages } from '../list-workflows';
import type { TemporalAccess } from '../temporal-access';
import { decodedPayload, type DescribedWorkflow } from '../workflow-info';

const pageSize = 200;

/** The creates of an app that wait for a decision, the latest first. Accounts are those of one task queue. Throws errors of gRPC. */
export async function findUncertainCreates(
  { client }: Pick<TemporalAccess, 'client'>,
  { taskQueue, account, app }: { readonly taskQueue: string; readonly account: string; readonly app: string },
): Promise<readonly UncertainCreate[]> {
  const query = [
    'WorkflowType = "task"',
    'ExecutionStatus = "Running"',
    `TaskQueue = ${JSON.stringify(taskQueue)}`,
    `${searchAttributes.status.name} = "CreateUncertain"`,
    `${searchAttributes.account.name} = ${JSON.stringify(account)}`,
    `${searchAttributes.app.name} = ${JSON.stringify(app)}`,
  ].join(' AND ');
  const found: UncertainCreate[] = [];
  for await (const page of listRawPages(client, query, pageSize)) {
    for (const { execution, memo } of page) {
      const sentAtMs = await decodedPayload(client, memo?.fields?.[sentAtMemo] ?? {});
      if (typeof sentAtMs !== 'number' || Number.isNaN(new Date(sentAtMs).getTime())) continue;
      found.push({ workflowId: execution?.workflowId ?? '', sentAtMs });
    }
  }
  return found.sort((one, other) => other.sentAtMs - one.sentAtMs);
}

const withinMs = 3_000;

/** The others that wait for a decision beside this one, so that a task may be of any of them; none where Temporal cannot tell. */
export async function findOtherUncertain(
  { client }: Pick<TemporalAccess, 'client'>,
  { workflowId, execution, taskQueue, attributes }: DescribedWorkflow,
): Promise<readonly UncertainCreate[]> {
  const account = attributes.get(searchAttributes.account.name);
  const app = attributes.get(searchAttributes.app.name);
  const isUncertain = execution === 'RUNNING' && attributes.get(searchAttributes.status.name) === 'CreateUncertain';
  if (!isUncertain || account === undefined || app === undefined) return [];
  try {
    const list = () => findUncertainCreates({ client }, { taskQueue, account, app });
    const found = await client.withDeadline(Date.now() + withinMs, list);
    return found.filter((other) => other.workflowId !== workflowId);
  } catch {
    // The rest of the status does not depend on it.
    return [];
  }
}
