import { createHash } from 'node:crypto';
import type { WorkflowExecutionStatusName } from '@temporalio/client';
import { type FailureType, failureTypes } from '../../contract/failure-types';
import type { Problem } from '../../contract/problem';
import { stateProblem } from '../../contract/state-problem';
import { searchAttributes, tagProblems } from '../../contract/search-attributes';
import { pausedRemedy } from '../../contract/task-advice';
import { isTaskKey, keyOf } from '../../contract/workflow-ids';
import { isRequestId } from '../../core/create-outcome';
import { isRecord } from '../../core/json';
import {
  abortSignal,
  count,
  onlyTrue,
  optionProblems,
  type OptionRule,
  type OptionRules,
} from '../../core/option-rules';
import { type LonghaulStatus, longhaulStatuses, statesThatWait } from '../../core/task-state';
import { InputInvalidError, type UntypedEnding } from '../errors';
import { abortable, askTemporal, listTemporal, type TemporalAccess } from '../temporal-access';
import {
  isClosed,
  listWorkflowPage,
  overloadFilter,
  pausedFilter,
  stuckFilter,
  type WorkflowInfo,
} from '../workflow-info';

const waitingStates = statesThatWait.map((state) => `"${state}"`).join(', ');
const problemFilters = {
  Stuck: stuckFilter,
  Overloaded: overloadFilter,
  NeedsPerson: `${searchAttributes.status.name} IN (${waitingStates})`,
  Paused: pausedFilter,
} as const;
/** A problem of which Temporal's list has all tasks. */
export type ListedProblem = keyof typeof problemFilters;
export const listedProblems = Object.keys(problemFilters) as readonly ListedProblem[];

/** Which tasks to list: everything given must hold. */
export interface ListTasksOptions {
  /** Such as `Running` or `CreateUncertain`; upper and lower case are the same, and any other text is refused. */
  readonly status?: LonghaulStatus;
  /** The app's `web_app_id`. */
  readonly app?: number | string;
  readonly account?: string;
  /** Only rows of the batch with this id. */
  readonly batch?: string;
  /** Only those with all of these tags. */
  readonly tags?: readonly string[];
  /** Only those whose key begins so; with `batch`, rows whose key does. */
  readonly keyPrefix?: string;
  /** Only those that were started then or later; a text is ISO-8601. */
  readonly since?: Date | string;
  /** Only those that were started before then. */
  readonly until?: Date | string;
  /** Only those that ended then or later. */
  readonly endedSince?: Date | string;
  /** Only those that ended with a failure of this type, as `TaskFailedError.failureType` has it. */
  readonly failure?: FailureType | UntypedEnding;
  /** Only those that follow one of these tasks of the service. */
  readonly requestIds?: readonly string[];
  /** Only those that run with this problem, as Temporal's list has it. */
  readonly problem?: ListedProblem;
  /** Only those that are not over. */
  readonly running?: true;
  /** At most this many. @default all; of a page 100 */
  readonly limit?: number;
  /** Ends the call at once. */
  readonly signal?: AbortSignal;
}

/** Which page of a list. */
export interface ListPageOptions extends ListTasksOptions {
  /** `next` of the page before, with the same options. @default the first page */
  readonly cursor?: string;
}

/** A part of a list. */
export interface TaskPage {
  readonly tasks: readonly ListedTask[];
  /** The cursor of the page after it; null after the last, which may be empty. */
  readonly next: string | null;
}

/** A task in a list: what Temporal's visibility knows of it, seconds old at most. */
export interface ListedTask {
  readonly workflowId: string;
  /** Also of a row of a batch; null for a workflow id of another form. */
  readonly key: string | null;
  /** Of this run: a task that was started again is listed once for each run that Temporal keeps. */
  readonly runId: string;
  /** What `LonghaulStatus` shows; workers of a later version may say another word. */
  readonly status: LonghaulStatus | (string & {});
  readonly isOver: boolean;
  readonly execution: WorkflowExecutionStatusName;
  readonly requestId: string | null;
  readonly app: string | null;
  readonly account: string | null;
  readonly taskQueue: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly tags: readonly string[];
  /** The type of the failure that it ended with; null when there was none, or it is not known. */
  readonly failure: FailureType | UntypedEnding | (string & {}) | null;
  /** What Temporal's list has of it, which is a {@link ListedProblem}; `problem` of its handle knows more. */
  readonly problem: Problem | null;
  /** Names of search attributes that cannot be decoded, and are left out here. */
  readonly undecodable: readonly string[];
}

export async function countTasks(
  access: TemporalAccess,
  options: Omit<ListTasksOptions, 'limit'> = {},
): Promise<number> {
  const query = checkedQuery(options);
  const ask = () => askTemporal(access, '', () => access.client.workflow.count(query));
  return (await abortable(access, options.signal, ask)).count;
}

const defaultPageSize = 100;
const checkBytes = 6;
const cursorRule: OptionRule = {
  is: (value) => typeof value === 'string' && cursorOf(tokenIn(value)) === value,
  remedy: '"next" of the page before',
};

/** Temporal's token, with what tells it from any other text: for that, a server may not answer at all. */
function cursorOf(token: Uint8Array): string {
  const check = createHash('sha256').update(token).digest().subarray(0, checkBytes);
  return Buffer.concat([check, token]).toString('base64url');
}

function tokenIn(cursor: string): Uint8Array {
  return Buffer.from(cursor, 'base64url').subarray(checkBytes);
}

export async function listTaskPage(access: TemporalAccess, options: ListPageOptions = {}): Promise<TaskPage> {
  const { cursor, ...filter } = options;
  const query = checkedQuery(filter, optionProblems({ cursor }, { cursor: cursorRule }));
  const { limit: pageSize = defaultPageSize, signal } = filter;
  const token = cursor === undefined ? new Uint8Array() : tokenIn(cursor);
  const ask = () => askTemporal(access, '', () => listWorkflowPage(access.client, query, pageSize, token));
  const { workflows, nextPageToken } = await abortable(access, signal, ask);
  return { tasks: workflows.map(listedTask), next: nextPageToken.length === 0 ? null : cursorOf(nextPageToken) };
}

/** Those that run, the latest start first, then those that ended last; fetches further pages as they are read. */
export async function* listTasks(access: TemporalAccess, options: ListTasksOptions = {}): AsyncGenerator<ListedTask> {
  const query = checkedQuery(options);
  const limit = options.limit ?? Infinity;
  if (limit <= 0) return;
  const workflows = listTemporal(access, query, Math.min(limit, 200));
  for (let listed = 0; listed < limit; listed += 1) {
    const next = await abortable(access, options.signal, () => workflows.next());
    if (next.done === true) return;
    yield listedTask(next.value);
  }
}

export function listedTask(workflow: WorkflowInfo): ListedTask {
  const { workflowId, runId, execution, attributes, taskQueue, tags, undecodable } = workflow;
  const valueOf = ({ name }: { readonly name: string }): string | null => attributes.get(name) ?? null;
  const status = valueOf(searchAttributes.status);
  // Two states keep their name when they end.
  const state = statesThatWait.find((one) => one === status) ?? null;
  let failure = execution === 'FAILED' ? (valueOf(searchAttributes.failure) ?? state) : null;
  if (execution === 'TERMINATED') failure = 'WorkflowTerminated';
  if (execution === 'TIMED_OUT') failure = 'WorkflowTimedOut';
  return {
    workflowId,
    key: keyOf(workflowId) ?? null,
    runId,
    status: status ?? 'PreparingInputs',
    isOver: isClosed(execution),
    execution,
    requestId: valueOf(searchAttributes.requestId),
    app: valueOf(searchAttributes.app),
    account: valueOf(searchAttributes.account),
    taskQueue,
    startedAt: workflow.startedAt.toISOString(),
    endedAt: workflow.closedAt?.toISOString() ?? null,
    tags,
    failure,
    problem: listedProblem(workflow, status ?? ''),
    undecodable,
  };
}

function listedProblem({ workflowId, execution, problem, paused }: WorkflowInfo, status: string): Problem | null {
  if (isClosed(execution)) return null;
  const waits = problem ?? stateProblem({ workflowId, status, since: null, words: null });
  if (waits !== null || paused.length === 0) return waits;
  const message = `${paused.join(', ')} is paused by an operator`;
  return { code: 'Paused', message, since: null, remedy: pausedRemedy(workflowId) };
}

const moment: OptionRule = {
  is: (value) => {
    const at = value instanceof Date || typeof value === 'string' ? new Date(value) : new Date(NaN);
    return !Number.isNaN(at.getTime()) && /^\d{4}-/.test(at.toISOString());
  },
  remedy: 'a Date or a moment as ISO-8601, such as "2026-03-01T00:00:00Z"',
};
const name: OptionRule = { is: isTaskKey, remedy: '1 to 80 letters, digits, dots, underscores or hyphens' };
const failureNames: readonly string[] = [...Object.values(failureTypes), 'WorkflowTerminated', 'WorkflowTimedOut'];

function statusOf(text: unknown): LonghaulStatus | undefined {
  const wanted = String(text).toLowerCase().replace('cancelled', 'canceled');
  return longhaulStatuses.find((one) => one.toLowerCase() === wanted);
}

/** A filter that can match nothing is refused: an empty list would say that there is no such task. */
const listRules: OptionRules<ListTasksOptions> = {
  status: { is: (value) => statusOf(value) !== undefined, remedy: `one of ${longhaulStatuses.join(', ')}` },
  app: {
    is: (value) => /^\d{1,16}$/.test(String(value)),
    remedy: 'the number of an app (webAppId), such as 4711',
  },
  account: name,
  batch: name,
  tags: {
    is: (value) => Array.isArray(value) && value.length > 0,
    remedy: 'a list of one or more texts, such as ["customer:42"]',
  },
  keyPrefix: name,
  since: moment,
  until: moment,
  endedSince: moment,
  failure: { is: (value) => failureNames.some((one) => one === value), remedy: `one of ${failureNames.join(', ')}` },
  requestIds: {
    is: (value) => Array.isArray(value) && value.length > 0 && value.every(isRequestId),
    remedy: 'a list of one or more request ids, each of 1 to 200 visible characters',
  },
  problem: {
    is: (value) => Object.hasOwn(problemFilters, String(value)),
    remedy: `one of ${listedProblems.join(', ')}`,
  },
  running: onlyTrue,
  limit: count,
  signal: abortSignal,
};

/** As `listTasks` does, without Temporal. Throws {@link InputInvalidError}. */
export function checkListOptions(options: ListTasksOptions): void {
  checkedQuery(options);
}

/** In Temporal's list filter language. Throws {@link InputInvalidError}. */
function checkedQuery(options: ListTasksOptions, found: readonly string[] = []): string {
  const given: ListTasksOptions = isRecord(options) ? options : {};
  // A filter without a value would list the tasks of others, and perhaps have them stopped.
  const absent = Object.entries(given).filter(([option, value]) => {
    return value === undefined && option !== 'limit' && option !== 'signal' && Object.hasOwn(listRules, option);
  });
  const { tags = [], batch, status, app, account, keyPrefix, since, until, endedSince, failure, requestIds } = given;
  const { problem, running } = given;
  const problems = [
    ...found,
    ...optionProblems(options, listRules),
    ...absent.map(([option]) => `${option} is there and undefined; give a value, or leave ${option} out to list all.`),
    ...(listRules.tags.is(tags) ? tagProblems(tags) : []),
  ];
  if (problems.length > 0) throw new InputInvalidError(problems, 'arguments');
  const { status: statusName, ...names } = searchAttributes;
  const equals = ({ name: attribute }: { readonly name: string }, value: string | number | undefined) =>
    value !== undefined && `${attribute} = "${value}"`;
  return [
    'WorkflowType = "task"',
    // A long watch continues as new; only the latest run stands for the task.
    'ExecutionStatus != "ContinuedAsNew"',
    equals(names.batch, batch),
    equals(statusName, status && statusOf(status)),
    // A workflow that was cut off keeps the status that it had: it would be listed as running for ever.
    status !== undefined &&
      failure === undefined &&
      'ExecutionStatus != "Terminated" AND ExecutionStatus != "TimedOut"',
    equals(names.app, app),
    equals(names.account, account),
    ...tags.map((tag) => equals(names.tags, tag)),
    keyPrefix !== undefined &&
      `WorkflowId STARTS_WITH "${batch === undefined ? 'task' : `batch:${batch}`}:${keyPrefix}"`,
    since !== undefined && `StartTime >= "${new Date(since).toISOString()}"`,
    until !== undefined && `StartTime < "${new Date(until).toISOString()}"`,
    endedSince !== undefined && `CloseTime >= "${new Date(endedSince).toISOString()}"`,
    failure !== undefined && failureCondition(failure),
    requestIds !== undefined && `${names.requestId.name} IN (${requestIds.map((id) => JSON.stringify(id)).join(', ')})`,
    problem !== undefined && problemFilters[problem],
    (problem !== undefined || running) && 'ExecutionStatus = "Running"',
  ]
    .filter(Boolean)
    .join(' AND ');
}

/** Ends made by Temporal have no failure type; two states keep their name when they end. */
function failureCondition(failure: string): string {
  if (failure === 'WorkflowTerminated') return 'ExecutionStatus = "Terminated"';
  if (failure === 'WorkflowTimedOut') return 'ExecutionStatus = "TimedOut"';
  const ended = `${searchAttributes.failure.name} = "${failure}"`;
  return statesThatWait.some((state) => state === failure)
    ? `(${ended} OR (${searchAttributes.status.name} = "${failure}" AND ExecutionStatus = "Failed"))`
    : ended;
}
