import { randomUUID } from 'node:crypto';
import { win32 } from 'node:path';
import { Readable } from 'node:stream';
import { parseTaskInput } from '../contract/parse-task-input';
import type { TaskPlan } from '../contract/parse-task-input';
import { type AdoptedTaskInput, adoptedTaskSchema, inputDigest, type TaskInput } from '../contract/task-input';
import { taskPlaceProblems } from '../contract/archive-folder';
import { tagProblems } from '../contract/search-attributes';
import { adoptionKey, isTaskKey, taskKeyRemedy, taskWorkflowId, workflowIdOf } from '../contract/workflow-ids';
import { isRequestId } from '../core/create-outcome';
import { isRecord } from '../core/json';
import { showValue } from '../core/text';
import { isUri } from '../core/uri';
import { parseTraceparent, type TraceContext } from '../core/trace-context';
import { InputInvalidError } from './errors';
import { abortSignal, checkedElsewhere, flag, optionProblems, type OptionRules } from '../core/option-rules';

/** What only Longhaul sets: a retry, a batch. */
const ownFields = ['createNumber', 'batch'] as const;
export type OwnField = (typeof ownFields)[number];
const notGiven: readonly string[] = ['adopt', ...ownFields];

/** What a start is made of: a task's input, and the key that makes it this one task. */
export type StartTaskInput = TaskInput & {
  /**
   * The same key never makes a second task. 1 to 80 letters, digits, dots, underscores or hyphens.
   * @default random; for an adopted task from its request id
   */
  readonly key?: string;
};

/** The options of every start. */
export interface TraceOptions {
  /**
   * Where the task or batch belongs in a trace, as a W3C `traceparent`: for a backend without OpenTelemetry. One that
   * is attached to keeps its own.
   * @default the active context of OpenTelemetry, where traces are on
   */
  readonly traceparent?: string;
  /** Rejects at once with its reason and closes streams. The start may have had effect: repeat it with the same key. */
  readonly signal?: AbortSignal;
}

/** What a start gives a task beside its input. */
export interface TaskStartOptions extends TraceOptions {
  /**
   * For lists, such as `["customer:42", "spring"]`: 20 at most, each of 1 to 64 letters, digits and `. _ : / = @ + -`.
   * They are search attributes, which Temporal does not encrypt. A task that is attached to keeps its own.
   */
  readonly tags?: readonly string[];
}

/** Options of `start`. */
export interface StartTaskOptions extends TaskStartOptions {
  /** Starts the task again if it is over without success, maybe paid anew; else keeps or follows it. @default false */
  readonly retry?: boolean;
}

/** How an adopted task is followed, and under which key. */
export type AdoptTaskOptions = Omit<AdoptedTaskInput, 'adopt' | OwnField> &
  TaskStartOptions & {
    /** 1 to 80 letters, digits, dots, underscores and hyphens. @default one that the request id gives */
    readonly key?: string;
  };

export interface StartAttempt {
  readonly key: string;
  readonly workflowId: string;
  readonly input: TaskInput;
  readonly plan: TaskPlan;
  readonly digest: string;
  readonly createNumber: number;
  readonly reusePolicy: 'REJECT_DUPLICATE' | 'ALLOW_DUPLICATE';
  /** Distinguishes the run that this start makes from every other one. @default a random one */
  readonly startId?: string;
  /** Of a row: its key as it was given. */
  readonly originalKey?: string;
  readonly parent?: TraceContext;
  readonly tags?: readonly string[];
}

const traceRules: OptionRules<TraceOptions> = {
  traceparent: {
    is: (value) => typeof value === 'string' && parseTraceparent(value) !== undefined,
    remedy: 'a W3C traceparent such as "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"',
  },
  signal: abortSignal,
};
// Every problem of tags names its place.
const taskStartRules: OptionRules<TaskStartOptions> = { tags: checkedElsewhere, ...traceRules };
const startTaskRules: OptionRules<StartTaskOptions> = { retry: flag, ...taskStartRules };

export function traceOptionProblems(options: unknown): readonly string[] {
  return optionProblems(options, traceRules);
}

function taskOptionProblems<Options extends TaskStartOptions>(
  options: Options | undefined,
  rules: OptionRules<Options>,
): readonly string[] {
  const tags: unknown = isRecord(options) ? options.tags : undefined;
  return [...optionProblems(options, rules), ...(tags === undefined ? [] : tagProblems(tags))];
}

/** As `startTask` does, without Temporal. Throws {@link InputInvalidError}. */
export function checkedStart(request: StartTaskInput, options?: StartTaskOptions): StartAttempt {
  const wrongOptions = taskOptionProblems(options, startTaskRules);
  const problems = [...wrongOptions, ...notGivenProblems(request)];
  return checkedAttempt(request, options, problems, wrongOptions.length === 0 ? 'task' : 'arguments');
}

function notGivenProblems(request: unknown): readonly string[] {
  const given = notGiven.filter((name) => isRecord(request) && request[name] !== undefined);
  return given.map((name) => {
    if (name === 'adopt') return 'adopt is no field of a start; call adopt(requestId, options) instead.';
    return `${name} is there, and only Longhaul sets it; leave it out.`;
  });
}

/** @param problems - what is wrong beside the request. */
function checkedAttempt(
  request: unknown,
  options: TaskStartOptions | undefined,
  problems: readonly string[],
  what: 'task' | 'arguments',
): StartAttempt {
  const { key: givenKey, ...fields } = isRecord(request) ? request : {};
  const input: unknown = isRecord(request) ? fields : request;
  const parsed = parseTaskInput(input, ['key']);
  const requestId = parsed.plan?.adoptRequestId ?? null;
  // Adopting the same task twice attaches; anything else without a key is a task of its own.
  const defaultKey = requestId === null ? randomUUID() : adoptionKey(requestId);
  const key = isRecord(request) && Object.hasOwn(request, 'key') ? givenKey : defaultKey;
  const found = [
    ...(isTaskKey(key) ? [] : [keyProblem(key, 'adopt' in fields)]),
    ...problems,
    ...(parsed.problems ?? taskPlaceProblems(parsed.plan, `task:${String(key)}`)),
    ...relativePathProblems(fields['inputs']),
  ];
  if (parsed.plan === undefined || !isTaskKey(key) || found.length > 0) throw new InputInvalidError(found, what);
  const { plan } = parsed;
  const checked = input as TaskInput;
  const { traceparent, tags } = options ?? {};
  return {
    key,
    workflowId: taskWorkflowId(key),
    input: checked,
    plan,
    digest: inputDigest(checked),
    createNumber: plan.createNumber,
    reusePolicy: 'REJECT_DUPLICATE',
    parent: traceparent === undefined ? undefined : parseTraceparent(traceparent),
    tags: tags && [...new Set(tags)],
  };
}

/** A relative path would start from folders of the worker that the caller does not see. */
function relativePathProblems(inputs: unknown): string[] {
  return Object.entries(isRecord(inputs) ? inputs : {}).flatMap(([name, value]) => {
    const file: unknown = isRecord(value) ? value['file'] : undefined;
    // Of both systems: the worker's machine may be another one than this.
    if (typeof file !== 'string' || file.trim() === '' || isUri(file) || win32.isAbsolute(file)) return [];
    return [
      `inputs[${showValue(name)}].file is ${showValue(file)}, a relative path; give the absolute path on the worker’s machine, an https: URL or an s3: URI, or from a client with a staging place { content, name: "photo.jpg" }.`,
    ];
  });
}

/** A key that is there must be one: a program whose order has no id would else pay for another task at each call. */
function keyProblem(key: unknown, isAdoption: boolean): string {
  if (key !== undefined && key !== null) return `key is ${showValue(key)}; give ${taskKeyRemedy}.`;
  const without = isAdoption
    ? 'one that the request id gives'
    : 'a random one, with which each call makes and pays a task of its own';
  return `key is there and ${String(key)}; give ${taskKeyRemedy}, or leave key out for ${without}.`;
}

const followFields = ['key', ...Object.keys(adoptedTaskSchema.entries).filter((name) => !notGiven.includes(name))];
const adoptTaskRules = {
  ...Object.fromEntries(followFields.map((name) => [name, checkedElsewhere])),
  ...taskStartRules,
} as OptionRules<AdoptTaskOptions>;

/** As {@link adoptTask} does, without Temporal. Throws `InputInvalidError`. */
export function checkedAdoption(requestId: string, options?: AdoptTaskOptions): StartAttempt {
  const isId = isRequestId(requestId);
  const how = Object.entries(isRecord(options) ? options : {});
  const known = how.filter(([name]) => followFields.includes(name));
  // A stand-in for what is no id, so that the options are checked, too.
  const request = { ...Object.fromEntries(known), adopt: { requestId: isId ? requestId : 'any' } };
  const problems = [...(isId ? [] : [requestIdProblem(requestId)]), ...taskOptionProblems(options, adoptTaskRules)];
  return checkedAttempt(request, options, problems, 'arguments');
}

export function requestIdProblem(value: unknown): string {
  return `The request id is ${showValue(value)}; give 1 to 200 printable characters without spaces.`;
}

/** The workflow id that `task:KEY` or `KEY` means. Throws {@link InputInvalidError} when it can be neither. */
export function checkedTaskId(idOrKey: string): string {
  if (typeof idOrKey === 'string' && (idOrKey.includes(':') || isTaskKey(idOrKey))) return workflowIdOf(idOrKey);
  const problem = `The key or workflow id is ${showValue(idOrKey)}; give ${taskKeyRemedy}, or task: and these.`;
  throw new InputInvalidError([problem], 'arguments');
}

/** As deep as the fields of an input go (`batch.names.columns`): what is nested deeper is refused. */
const maxDepth = 3;

/** As it is now: a program may fill the same object for its next task. Contents stay what they are. */
export function ownCopy<Given>(given: Given): Given {
  return copyOf(given, 0) as Given;
}

function copyOf(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Readable || depth > maxDepth) return value;
  if (Array.isArray(value)) return value.map((one: unknown) => copyOf(one, depth + 1));
  const fields: readonly [string, unknown][] = Object.entries(value);
  // What JSON writes in a way of its own is refused with its own words.
  if (fields.length === 0 || 'toJSON' in value || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(fields.map(([name, one]) => [name, name === 'content' ? one : copyOf(one, depth + 1)]));
}
