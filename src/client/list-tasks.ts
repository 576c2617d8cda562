import type { WorkflowExecutionStatusName } from '@temporalio/client';
import { searchAttributes } from '../contract/search-attributes';
import { type LonghaulStatus, longhaulStatuses, statesThatWait } from '../domain/task-state';
import { showValue } from '../domain/text';
import { InputInvalidError } from './errors';
import { isClosed } from './existing-run';
import { listWorkflows, stuckFilter, type StuckWorkflow, type WorkflowInfo } from './workflow-info';
import { type TemporalAccess, toClientError } from './temporal-access';

/** Which tasks to list; everything given must hold. */
export interface ListTasksOptions {
  /** A `LonghaulStatus`, such as `Running` or `CreateUncertain`, whatever its capital letters; any other is refused. */
  readonly status?: string;
  /** The app's `web_app_id`. */
  readonly app?: number | string;
  readonly account?: string;
  /** The id of the batch that they are rows of. */
  readonly batch?: string;
  /** Only those that follow one of these tasks of the service. */
  readonly requestIds?: readonly string[];
  /** Only those that wait for a person's decision: `CreateUncertain` and `ArchiveIncomplete`. */
  readonly needsPerson?: boolean;
  /** Only those whose workflow tasks fail: they make no progress and cannot be stopped. */
  readonly stuck?: boolean;
  /** Only those that are not over. */
  readonly running?: boolean;
  /** At most this many, newest first. @default all */
  readonly limit?: number;
}

/** A task in a list: what Temporal's visibility knows of it, seconds old at most. */
export interface ListedTask {
  readonly workflowId: string;
  readonly status: string;
  readonly isOver: boolean;
  readonly execution: WorkflowExecutionStatusName;
  readonly requestId: string | null;
  readonly app: string | null;
  readonly account: string | null;
  /** Of the workers that run it. */
  readonly taskQueue: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  /** Why it makes no progress and what to do; null while its workflow tasks succeed. */
  readonly stuck: StuckWorkflow | null;
  /** Names of its search attributes that cannot be decoded, and are left out here. */
  readonly undecodable: readonly string[];
}

const isRunning = 'ExecutionStatus = "Running"';
const waitsForPerson = `${searchAttributes.status.name} IN (${statesThatWait.map((state) => `"${state}"`).join(', ')}) AND ${isRunning}`;

/**
 * The `LonghaulStatus` that a text means, whatever its capital letters. Throws {@link InputInvalidError} when it means
 * none: a list that is empty for that reason would say that there is no such task.
 */
export function checkedStatus(text: string): LonghaulStatus {
  const wanted = text.toLowerCase() === 'cancelled' ? 'canceled' : text.toLowerCase();
  const status = longhaulStatuses.find((one) => one.toLowerCase() === wanted);
  if (status !== undefined) return status;
  throw new InputInvalidError([`The status is ${showValue(text)}; it can be ${longhaulStatuses.join(', ')}.`]);
}

/** How many tasks there are of that kind. */
export async function countTasks(access: TemporalAccess, options: Omit<ListTasksOptions, 'limit'>): Promise<number> {
  const { client, address } = access;
  try {
    return (await client.workflow.count(visibilityQuery(options))).count;
  } catch (error) {
    throw toClientError(error, { address, namespace: client.options.namespace, workflowId: '' });
  }
}

/** Lists tasks, newest first; fetches further pages as they are read. */
export async function* listTasks(access: TemporalAccess, options: ListTasksOptions = {}): AsyncGenerator<ListedTask> {
  const { client, address } = access;
  const limit = options.limit ?? Infinity;
  if (limit <= 0) return;
  const query = visibilityQuery(options);
  let listed = 0;
  try {
    for await (const workflow of listWorkflows(client, query, Math.min(limit, 200))) {
      yield listedTask(workflow);
      listed += 1;
      if (listed >= limit) return;
    }
  } catch (error) {
    throw toClientError(error, { address, namespace: client.options.namespace, workflowId: '' });
  }
}

/** The query in Temporal's list filter language. Values become part of it, so only safe characters are accepted. */
function visibilityQuery({ status, app, account, batch, ...more }: ListTasksOptions): string {
  const { requestIds, needsPerson = false, stuck = false, running = false } = more;
  const conditions = [
    [searchAttributes.batch.name, batch],
    [searchAttributes.status.name, status === undefined ? undefined : checkedStatus(status)],
    [searchAttributes.app.name, app],
    [searchAttributes.account.name, account],
  ] as const;
  const wanted = conditions.flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]));
  const asked = requestIds?.map((id) => [searchAttributes.requestId.name, id] as const) ?? [];
  const problems = [...wanted, ...asked]
    .filter(([, value]) => !/^[A-Za-z0-9._-]{1,80}$/.test(value))
    .map(([name, value]) => `${name} cannot be ${JSON.stringify(value)}; give letters, digits, dots or hyphens.`);
  if (problems.length > 0) throw new InputInvalidError(problems);
  // A long watch continues as new; only the latest run stands for the task.
  return [
    'WorkflowType = "task"',
    'ExecutionStatus != "ContinuedAsNew"',
    ...wanted.map(([name, value]) => `${name} = "${value}"`),
    ...(requestIds === undefined
      ? []
      : [`${searchAttributes.requestId.name} IN (${asked.map(([, id]) => `"${id}"`).join(', ')})`]),
    ...(needsPerson ? [waitsForPerson] : []),
    ...(stuck ? [stuckFilter, isRunning] : []),
    ...(running ? [isRunning] : []),
  ].join(' AND ');
}

function listedTask(workflow: WorkflowInfo): ListedTask {
  const { workflowId, execution, attributes, taskQueue, startedAt, closedAt, stuck, undecodable } = workflow;
  return {
    workflowId,
    status: attributes.get(searchAttributes.status.name) ?? 'PreparingInputs',
    isOver: isClosed(execution),
    execution,
    requestId: attributes.get(searchAttributes.requestId.name) ?? null,
    app: attributes.get(searchAttributes.app.name) ?? null,
    account: attributes.get(searchAttributes.account.name) ?? null,
    taskQueue,
    startedAt: startedAt.toISOString(),
    endedAt: closedAt?.toISOString() ?? null,
    stuck,
    undecodable,
  };
}
