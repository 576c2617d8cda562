import type { WorkflowExecutionStatusName } from '@temporalio/client';
import type { FailureType } from '../../contract/failure-types';
import { searchAttributes } from '../../contract/search-attributes';
import { type LonghaulStatus, statesThatWait } from '../../core/task-state';
import type { UntypedEnding } from '../errors';
import { isClosed } from '../existing-run';
import { listPages } from '../list-workflows';
import { askTemporal, callTimeoutMs, listError, type TemporalAccess } from '../temporal-access';
import type { StuckWorkflow, WorkflowInfo } from '../workflow-info';
import { checkedQuery, type ListTasksOptions, visibilityQuery } from './task-filter';

/** A task in a list: what Temporal's visibility knows of it, seconds old at most. */
export interface ListedTask {
  readonly workflowId: string;
  /** Of this run: a task that was started again is listed once for each run that Temporal keeps. */
  readonly runId: string;
  /** What `LonghaulStatus` shows; workers of a later version may say another word. */
  readonly status: LonghaulStatus | (string & {});
  readonly isOver: boolean;
  readonly execution: WorkflowExecutionStatusName;
  readonly requestId: string | null;
  readonly app: string | null;
  readonly account: string | null;
  /** Of the workers that run it. */
  readonly taskQueue: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly tags: readonly string[];
  /** The type of the failure that it ended with; null when there was none, or it is not known. */
  readonly failure: FailureType | UntypedEnding | (string & {}) | null;
  /** Why it makes no progress and what to do; null while its workflow tasks succeed. */
  readonly stuck: StuckWorkflow | null;
  /** The types of its activities that an operator paused, `createTask` say: they are not tried before Unpause. */
  readonly paused: readonly string[];
  /** Names of its search attributes that cannot be decoded, and are left out here. */
  readonly undecodable: readonly string[];
}

/** How many tasks there are of that kind. */
export async function countTasks(access: TemporalAccess, options: Omit<ListTasksOptions, 'limit'>): Promise<number> {
  const { query } = visibilityQuery(options);
  return (await askTemporal(access, '', () => access.client.workflow.count(query))).count;
}

/** Lists tasks, as Temporal orders them: those that run, the latest start first, then those that ended last; fetches further pages as they are read. */
export async function* listTasks(access: TemporalAccess, options: ListTasksOptions = {}): AsyncGenerator<ListedTask> {
  const query = checkedQuery(options);
  const limit = options.limit ?? Infinity;
  if (limit <= 0) return;
  let listed = 0;
  try {
    for await (const page of listPages(access.client, query, Math.min(limit, 200), callTimeoutMs)) {
      const shown = page.slice(0, limit - listed);
      for (const workflow of shown) yield listedTask(workflow);
      listed += shown.length;
      if (listed >= limit) return;
    }
  } catch (error) {
    throw await listError(access, error);
  }
}

/** What it ended with, as far as lists know it. */
function failureOf({ execution, attributes }: WorkflowInfo): string | null {
  if (execution === 'TERMINATED') return 'WorkflowTerminated';
  if (execution === 'TIMED_OUT') return 'WorkflowTimedOut';
  if (execution !== 'FAILED') return null;
  const status = attributes.get(searchAttributes.status.name);
  const state = statesThatWait.find((one) => one === status);
  return attributes.get(searchAttributes.failure.name) ?? state ?? null;
}

function listedTask(workflow: WorkflowInfo): ListedTask {
  const { workflowId, runId, execution, attributes, taskQueue, tags, stuck, paused, undecodable } = workflow;
  return {
    workflowId,
    runId,
    status: attributes.get(searchAttributes.status.name) ?? 'PreparingInputs',
    isOver: isClosed(execution),
    execution,
    requestId: attributes.get(searchAttributes.requestId.name) ?? null,
    app: attributes.get(searchAttributes.app.name) ?? null,
    account: attributes.get(searchAttributes.account.name) ?? null,
    taskQueue,
    startedAt: workflow.startedAt.toISOString(),
    endedAt: workflow.closedAt?.toISOString() ?? null,
    tags,
    failure: failureOf(workflow),
    stuck,
    paused,
    undecodable,
  };
}
