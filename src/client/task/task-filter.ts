import { type FailureType, failureTypes } from '../../contract/failure-types';
import { searchAttributes } from '../../contract/search-attributes';
import { isTag, tagProblem } from '../../contract/task-tags';
import { isTaskKey } from '../../contract/workflow-ids';
import { isRecord } from '../../core/json';
import {
  checkedElsewhere,
  count,
  onlyTrue,
  optionProblems,
  type OptionRule,
  type OptionRules,
  plainText,
} from '../../core/option-rules';
import { type LonghaulStatus, longhaulStatuses, statesThatWait } from '../../core/task-state';
import { showValue } from '../../core/text';
import { InputInvalidError, type UntypedEnding } from '../errors';
import { pausedFilter, stuckFilter } from '../workflow-info';

/** Which tasks to list; everything given must hold. */
export interface ListTasksOptions {
  /** Such as `Running` or `CreateUncertain`; capital letters do not matter at run time, and any other text is refused. */
  readonly status?: LonghaulStatus;
  /** The app's `web_app_id`. */
  readonly app?: number | string;
  readonly account?: string;
  /** The id of the batch that they are rows of. */
  readonly batch?: string;
  /** Only those with all of these tags. */
  readonly tags?: readonly string[];
  /** Only those whose key begins so; with `batch`, rows whose key does. */
  readonly keyPrefix?: string;
  /** Only those that were started then or later; a text is ISO-8601. */
  readonly since?: Date | string;
  /** Only those that were started before then. */
  readonly until?: Date | string;
  /**
   * Only those that ended with a failure of this type, as `TaskFailedError.failureType` has it; not of tasks that ended
   * before workers knew the attribute.
   */
  readonly failure?: FailureType | UntypedEnding;
  /** Only those that follow one of these tasks of the service. */
  readonly requestIds?: readonly string[];
  /** Only those that wait for a person's decision: `CreateUncertain` and `ArchiveIncomplete`. */
  readonly needsPerson?: true;
  /** Only those whose workflow tasks fail: they make no progress and cannot be stopped. */
  readonly stuck?: true;
  /** Only those of which an operator paused an activity: it is not tried before Unpause. */
  readonly paused?: true;
  /** Only those that are not over; `isOver` of each tells those that are. */
  readonly running?: true;
  /** At most this many. @default all */
  readonly limit?: number;
}

const isRunning = 'ExecutionStatus = "Running"';
/** A workflow that was cut off keeps the status that it had: it would be listed as running for ever. */
const notCutOff = 'ExecutionStatus != "Terminated" AND ExecutionStatus != "TimedOut"';
const waitsForPerson = `${searchAttributes.status.name} IN (${statesThatWait.map((state) => `"${state}"`).join(', ')}) AND ${isRunning}`;

/**
 * The `LonghaulStatus` that a text means, whatever its capital letters. One that means none is a problem: a list that is
 * empty for that reason would say that there is no such task.
 */
function knownStatus(text: string, problems: string[]): string {
  const wanted = text.toLowerCase() === 'cancelled' ? 'canceled' : text.toLowerCase();
  const status = longhaulStatuses.find((one) => one.toLowerCase() === wanted);
  if (status === undefined) {
    problems.push(`status is ${showValue(text)}; it can be ${longhaulStatuses.join(', ')}.`);
  }
  return status ?? text;
}

const moment: OptionRule = {
  is: (value) => value instanceof Date || typeof value === 'string',
  remedy: 'a Date or a moment as ISO-8601, such as "2026-03-01T00:00:00Z"',
};
const isFilledList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;
const listRules: OptionRules<ListTasksOptions> = {
  status: plainText,
  app: {
    is: (value) => /^\d{1,16}$/.test(String(value)),
    remedy: 'the number of an app (webAppId), such as 4711',
  },
  account: plainText,
  batch: plainText,
  failure: plainText,
  tags: { is: isFilledList, remedy: 'a list of one or more texts, such as ["customer:42"]' },
  keyPrefix: checkedElsewhere,
  since: moment,
  until: moment,
  requestIds: { is: isFilledList, remedy: 'a list of one or more request ids' },
  needsPerson: onlyTrue,
  stuck: onlyTrue,
  paused: onlyTrue,
  running: onlyTrue,
  limit: count,
};

/** Checks them as `listTasks` does, without Temporal. Throws {@link InputInvalidError}. */
export function checkListOptions(options: ListTasksOptions): void {
  checkedQuery(options);
}

/** Those that {@link ListTasksOptions} mean, in Temporal's list filter language. Throws {@link InputInvalidError}. */
export function checkedQuery(options: ListTasksOptions): string {
  const rules: Readonly<Record<string, OptionRule>> = listRules;
  const known = Object.entries(isRecord(options) ? options : {}).filter(([name]) => Object.hasOwn(rules, name));
  // Every filter that is there must have a value: without it, the tasks of others would be listed and perhaps stopped.
  const absent = known.filter(([name, value]) => value === undefined && name !== 'limit');
  const ofRightTypes = known.filter(([name, value]) => rules[name]?.is(value));
  const { query, problems } = visibilityQuery(Object.fromEntries(ofRightTypes));
  const all = [
    ...optionProblems(options, listRules),
    ...absent.map(([name]) => `${name} is there and undefined; give a value, or leave ${name} out to list all.`),
    ...problems,
  ];
  if (all.length > 0) throw new InputInvalidError(all, 'arguments');
  return query;
}

/**
 * The query in Temporal's list filter language. Values become part of it, so only safe characters are accepted: with a
 * problem it must not be used.
 */
export function visibilityQuery(options: ListTasksOptions): {
  readonly query: string;
  readonly problems: readonly string[];
} {
  const { requestIds, needsPerson = false, stuck = false, paused = false, running = false } = options;
  const { batch, status, app, account, tags = [], keyPrefix, failure } = options;
  const problems: string[] = [];
  const equals = (name: string, value: unknown): string => {
    const text = String(value);
    if (!isTaskKey(text)) problems.push(nameProblem(name, value));
    return `"${text}"`;
  };
  const given = (attribute: string, name: keyof ListTasksOptions, value: unknown): string[] =>
    value === undefined ? [] : [`${attribute} = ${equals(name, value)}`];
  // A long watch continues as new; only the latest run stands for the task.
  const conditions = [
    'WorkflowType = "task"',
    'ExecutionStatus != "ContinuedAsNew"',
    ...given(searchAttributes.batch.name, 'batch', batch),
    ...(status === undefined ? [] : [`${searchAttributes.status.name} = "${knownStatus(status, problems)}"`]),
    ...(status === undefined || failure !== undefined ? [] : [notCutOff]),
    ...given(searchAttributes.app.name, 'app', app),
    ...given(searchAttributes.account.name, 'account', account),
    ...tags.map((tag, index) => tagCondition(`tags[${index}]`, tag, problems)),
    ...(keyPrefix === undefined ? [] : [keyCondition(keyPrefix, batch, problems)]),
    ...startConditions(options, problems),
    ...(failure === undefined ? [] : [failureCondition(failure, problems)]),
    ...(requestIds === undefined
      ? []
      : [
          `${searchAttributes.requestId.name} IN (${requestIds.map((id, index) => equals(`requestIds[${index}]`, id)).join(', ')})`,
        ]),
    ...(needsPerson ? [waitsForPerson] : []),
    ...(stuck ? [stuckFilter, isRunning] : []),
    ...(paused ? [pausedFilter, isRunning] : []),
    ...(running ? [isRunning] : []),
  ];
  return { query: conditions.join(' AND '), problems };
}

function tagCondition(where: string, tag: string, problems: string[]): string {
  if (!isTag(tag)) problems.push(tagProblem(where, tag));
  return `${searchAttributes.tags.name} = "${tag}"`;
}

/** Of a value that no key, id or name could be ({@link isTaskKey}). */
function nameProblem(name: string, value: unknown): string {
  return `${name} is ${showValue(value)}; give 1 to 80 letters, digits, dots, underscores or hyphens.`;
}

function keyCondition(prefix: string, batch: string | undefined, problems: string[]): string {
  if (!isTaskKey(prefix)) problems.push(nameProblem('keyPrefix', prefix));
  return `WorkflowId STARTS_WITH "${batch === undefined ? 'task' : `batch:${batch}`}:${prefix}"`;
}

function startConditions({ since, until }: ListTasksOptions, problems: string[]): string[] {
  const moments = [
    ['since', '>=', since],
    ['until', '<', until],
  ] as const;
  return moments.flatMap(([name, operator, given]) => {
    if (given === undefined) return [];
    const at = new Date(given);
    if (!Number.isNaN(at.getTime()) && /^\d{4}-/.test(at.toISOString())) {
      return [`StartTime ${operator} "${at.toISOString()}"`];
    }
    problems.push(`${name} is ${showValue(given)}; give ${moment.remedy}.`);
    return [];
  });
}

/** Ends that Temporal itself made have no type of a failure; two states keep their name when they end. */
function failureCondition(failure: string, problems: string[]): string {
  if (failure === 'WorkflowTerminated') return 'ExecutionStatus = "Terminated"';
  if (failure === 'WorkflowTimedOut') return 'ExecutionStatus = "TimedOut"';
  const type = Object.values(failureTypes).find((one) => one === failure);
  if (type === undefined) {
    const known = [...Object.values(failureTypes), 'WorkflowTerminated', 'WorkflowTimedOut'].join(', ');
    problems.push(`failure is ${showValue(failure)}; it can be ${known}.`);
  }
  const ended = `${searchAttributes.failure.name} = "${failure}"`;
  const isState = statesThatWait.some((state) => state === type);
  return isState
    ? `(${ended} OR (${searchAttributes.status.name} = "${failure}" AND ExecutionStatus = "Failed"))`
    : ended;
}
