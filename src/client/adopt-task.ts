import { searchAttributes } from '../contract/search-attributes';
import type { AdoptedTaskInput } from '../contract/task-input';
import { isClosed } from './former-run';
import { checkedStart, type StartAttempt, type StartedTask, startOrFind } from './start-task';
import { askTemporal, type TemporalAccess } from './temporal-access';
import { describeWorkflow, listWorkflows } from './workflow-info';

/** How an adopted task is followed, and under which key. */
export type AdoptTaskOptions = Omit<AdoptedTaskInput, 'adopt'> & {
  /** 1 to 80 letters, digits, dots, underscores and hyphens. @default one that the request id gives */
  readonly key?: string;
};

/** Throws `InputInvalidError` when {@link adoptTask} would, without asking Temporal. */
export function checkedAdoption(requestId: string, options: AdoptTaskOptions): StartAttempt {
  return checkedStart({ ...options, adopt: { requestId } });
}

/**
 * Follows a task that exists at the service. One that a running workflow follows already, by whatever key, is attached
 * to; one whose workflow is over is followed and archived again. Nothing is created, so nothing is paid.
 *
 * Throws `InputInvalidError` before anything is sent, `InputChangedError` when the key stands for something else, and
 * the errors of `askTemporal`.
 */
export async function adoptTask(
  access: TemporalAccess,
  requestId: string,
  options: AdoptTaskOptions = {},
): Promise<StartedTask> {
  const attempt = checkedAdoption(requestId, options);
  const { workflowId } = attempt;
  const follower = await askTemporal(access, workflowId, () => findFollower(access, requestId, attempt.plan.account));
  if (follower !== undefined) return { workflowId: follower, origin: 'attached' };
  const first = await startOrFind(access, attempt);
  if (first.origin === 'started' || !first.run.isClosed) return { workflowId, origin: first.origin };
  const second = await startOrFind(access, { ...attempt, reusePolicy: 'ALLOW_DUPLICATE' });
  return { workflowId, origin: second.origin };
}

/** Ids that Temporal’s list filter takes as they are; what it makes of quotes and backslashes differs between stores. */
const plainId = /^[A-Za-z0-9._:/-]+$/;

const pageSize = 100;

/** The workflow that follows this task now. A list is a second or two old, so each one found is looked at. */
export async function findFollower(
  { client }: Pick<TemporalAccess, 'client'>,
  requestId: string,
  account: string,
): Promise<string | undefined> {
  const query = [
    'WorkflowType = "task"',
    'ExecutionStatus = "Running"',
    `${searchAttributes.account.name} = "${account}"`,
    ...(plainId.test(requestId) ? [`${searchAttributes.requestId.name} = "${requestId}"`] : []),
  ].join(' AND ');
  for await (const { workflowId, attributes } of listWorkflows(client, query, pageSize)) {
    if (attributes.get(searchAttributes.requestId.name) !== requestId) continue;
    const { execution } = await describeWorkflow(client, workflowId);
    if (!isClosed(execution)) return workflowId;
  }
  return undefined;
}
