import type { Client } from '@temporalio/client';
import { searchAttributes, sentAtMemo } from '../../contract/search-attributes';
import type { UncertainCreate } from '../../core/adoption';
import { type DescribedWorkflow, describeWorkflow, isClosed, listWorkflows } from '../workflow-info';

const { account: accountName, app: appName, requestId: idName, status: statusName } = searchAttributes;
const pageSize = 200;
/** A status does not wait longer for these details. */
const withinMs = 3_000;
/** Ids that Temporal’s list filter takes as they are; its handling of quotes and backslashes differs between stores. */
const plainId = /^[A-Za-z0-9._:/-]+$/;

/** Those that wait for a decision, the latest first. Accounts are those of one task queue. Throws errors of gRPC. */
export async function findUncertainCreates(
  client: Client,
  { taskQueue, account, app }: { readonly taskQueue: string; readonly account: string; readonly app: string },
): Promise<readonly UncertainCreate[]> {
  const query = [
    'WorkflowType = "task"',
    'ExecutionStatus = "Running"',
    `TaskQueue = ${JSON.stringify(taskQueue)}`,
    `${statusName.name} = "CreateUncertain"`,
    `${accountName.name} = ${JSON.stringify(account)}`,
    `${appName.name} = ${JSON.stringify(app)}`,
  ].join(' AND ');
  const found: UncertainCreate[] = [];
  for await (const { workflowId, memo } of listWorkflows(client, query, pageSize)) {
    const sentAtMs = await memo(sentAtMemo);
    if (typeof sentAtMs !== 'number' || Number.isNaN(new Date(sentAtMs).getTime())) continue;
    found.push({ workflowId, sentAtMs });
  }
  return found.sort((one, other) => other.sentAtMs - one.sentAtMs);
}

/** A task may be of any of the app's creates that wait for a decision; none where Temporal cannot tell. */
export async function findOtherUncertain(
  client: Client,
  { workflowId, execution, taskQueue, attributes }: DescribedWorkflow,
): Promise<readonly UncertainCreate[]> {
  const account = attributes.get(accountName.name);
  const app = attributes.get(appName.name);
  const isUncertain = execution === 'RUNNING' && attributes.get(statusName.name) === 'CreateUncertain';
  if (!isUncertain || account === undefined || app === undefined) return [];
  const list = () => findUncertainCreates(client, { taskQueue, account, app });
  const found = await client.withDeadline(Date.now() + withinMs, list).catch(() => []);
  return found.filter((other) => other.workflowId !== workflowId);
}

/** The task may go on at the service, so another workflow may have taken it over. */
const leavesItsTask: readonly string[] = ['FAILED', 'TERMINATED', 'TIMED_OUT'];

/** The workflow that adopted its task: the one that runs, else the last that ended. Null when none is listed (yet). */
export async function findAdopter(
  client: Client,
  { workflowId, execution, attributes, startedAt }: DescribedWorkflow,
  requestId: string | null,
): Promise<string | null> {
  const account = attributes.get(accountName.name);
  if (requestId === null || account === undefined || !leavesItsTask.includes(execution)) return null;
  const list = () => findWorkflowsOf(client, requestId, account, startedAt);
  const found = await client.withDeadline(Date.now() + withinMs, list).catch(() => []);
  return found.find((other) => other !== workflowId) ?? null;
}

/** The workflow that follows this task now. A list is a second or two old, so each result is described again. */
export async function findFollower(client: Client, requestId: string, account: string): Promise<string | undefined> {
  const query = [
    'WorkflowType = "task"',
    'ExecutionStatus = "Running"',
    `${accountName.name} = "${account}"`,
    ...(plainId.test(requestId) ? [`${idName.name} = "${requestId}"`] : []),
  ].join(' AND ');
  for await (const { workflowId, attributes } of listWorkflows(client, query, pageSize)) {
    if (attributes.get(idName.name) !== requestId) continue;
    const { execution } = await describeWorkflow(client, workflowId);
    if (!isClosed(execution)) return workflowId;
  }
  return undefined;
}

/**
 * Running or over, each once; none for an id that no filter takes, for which all tasks would have to be read.
 * @param since - only those that were started then or later. @default all
 */
export async function findWorkflowsOf(
  client: Client,
  requestId: string,
  account: string,
  since?: Date,
): Promise<readonly string[]> {
  if (!plainId.test(requestId)) return [];
  const query = [
    'WorkflowType = "task"',
    `${accountName.name} = "${account}"`,
    `${idName.name} = "${requestId}"`,
    ...(since === undefined ? [] : [`StartTime >= "${since.toISOString()}"`]),
  ].join(' AND ');
  const found = new Set<string>();
  for await (const { workflowId } of listWorkflows(client, query, pageSize)) found.add(workflowId);
  return [...found];
}
