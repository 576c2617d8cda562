import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { failureTypes } from '../contract/failure-types';
import { type AdoptedTaskInput, differingFields, inputDigest, type TaskInput } from '../contract/task-input';
import { parseTaskInput, type TaskPlan } from '../contract/parse-task-input';
import { firstStatus, searchAttributes, taskSearchAttributes } from '../contract/search-attributes';
import { tagProblems } from '../contract/task-tags';
import { taskPlaceProblems } from '../contract/task-place';
import { adoptionKey, isTaskKey, taskWorkflowId } from '../contract/workflow-ids';
import { batchPriority, taskPriority } from '../domain/priority';
import { markdownText, showValue } from '../domain/text';
import { parseTraceparent, type TraceContext } from '../domain/trace-context';
import { startingWithin } from './client-traces';
import { InputChangedError, InputInvalidError } from './errors';
import { isClosed, type KnownRun, knownRun, planRetry, readEnding, type TaskMemo } from './existing-run';
import { askTemporal, type TemporalAccess } from './temporal-access';
import { describeWorkflow, listWorkflows, readStartArgument } from './workflow-info';

/** What `start` takes: a task's input, and the key that makes it this one task. */
export type StartTaskInput = TaskInput & {
  /**
   * 1 to 80 letters, digits, dots, underscores and hyphens. The same key never makes a second task.
   * @default a random one; for an adopted task one that its request id gives
   */
  readonly key?: string;
};

/** An option of every start. */
export interface TraceOptions {
  /**
   * The place in a trace that the task or batch belongs to, as a W3C `traceparent`: for a backend without OpenTelemetry. One
   * that is attached to keeps its own.
   * @default the active context of OpenTelemetry, where traces are on
   */
  readonly traceparent?: string;
}

/** What a start gives a task beside its input. */
export interface TaskStartOptions extends TraceOptions {
  /**
   * What the task is called in lists, such as `["customer:42", "spring"]`: 20 at most, each of 1 to 64 letters, digits and
   * `. _ : / = @ + -`. They are search attributes, which Temporal does not encrypt, and make no other task of a key: one that
   * is attached to keeps its own.
   */
  readonly tags?: readonly string[];
}

/** Options of `start`. */
export interface StartTaskOptions extends TaskStartOptions {
  /**
   * If the task of this key is over and did not succeed, start it again; that may be paid anew. A success is kept, and
   * a task that still runs is followed.
   * @default false
   */
  readonly retry?: boolean;
}

/** Whether a start made a run, or found one that exists. */
export type TaskOrigin = 'started' | 'attached';

/** What a start led to. */
export interface StartedTask {
  readonly workflowId: string;
  readonly origin: TaskOrigin;
}

/** The name of the workflow; durable. */
const taskWorkflow = 'task';

/** A start, checked. */
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
  /** The place in a trace that the start belongs to, where a caller gave one. */
  readonly parent?: TraceContext;
  readonly tags?: readonly string[];
}

/**
 * Starts a task, or attaches to the one that its key stands for (design, "The same key never makes a second task").
 *
 * Throws {@link InputInvalidError} before anything is sent, {@link InputChangedError} when the key stands for another
 * input, and the errors of `askTemporal`.
 */
export async function startTask(
  access: TemporalAccess,
  request: StartTaskInput,
  { retry = false, ...options }: StartTaskOptions = {},
): Promise<StartedTask> {
  const attempt = { ...checkedStart(request), ...checkedOptions(options) };
  const { workflowId } = attempt;
  const first = await startOrFind(access, attempt);
  if (first.origin === 'started' || !first.run.isClosed || !retry) return { workflowId, origin: first.origin };

  const ending = await askTemporal(access, workflowId, () => readEnding(access.client, workflowId, first.run));
  const plan = planRetry(attempt.input, first.run, ending);
  if (plan.action === 'keep') return { workflowId, origin: 'attached' };
  const { input, createNumber } = plan;
  const second = await startOrFind(access, { ...attempt, input, createNumber, reusePolicy: 'ALLOW_DUPLICATE' });
  return { workflowId, origin: second.origin };
}

function checkedOptions({ traceparent, tags }: TaskStartOptions): Pick<StartAttempt, 'parent' | 'tags'> {
  const parent = checkedTraceparent(traceparent);
  return { ...(parent !== undefined && { parent }), ...(tags !== undefined && { tags: checkedTags(tags) }) };
}

/** The place in a trace that it means, if one is given. Throws {@link InputInvalidError}. */
export function checkedTraceparent(text: string | undefined): TraceContext | undefined {
  if (text === undefined) return undefined;
  const parent = parseTraceparent(text);
  if (parent !== undefined) return parent;
  const example = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  throw new InputInvalidError([`traceparent is ${showValue(text)}; give a W3C traceparent such as "${example}".`]);
}

/** The tags, each once. Throws {@link InputInvalidError}. */
export function checkedTags(tags: unknown): readonly string[] {
  const problems = tagProblems(tags);
  if (problems.length > 0) throw new InputInvalidError(problems);
  return [...new Set(tags as readonly string[])];
}

/** Checks the input as `startTask` does, without Temporal. Throws {@link InputInvalidError}. */
export function checkedStart({ key: givenKey, ...input }: StartTaskInput): StartAttempt {
  const parsed = parseTaskInput(input, ['key']);
  const key = givenKey ?? defaultKey(parsed.plan);
  const problems = [
    ...(isTaskKey(key)
      ? []
      : [`key is ${JSON.stringify(key)}; give 1 to 80 letters, digits, dots, underscores or hyphens.`]),
    ...(parsed.problems ?? taskPlaceProblems(parsed.plan, `task:${key}`)),
  ];
  if (parsed.plan === undefined || problems.length > 0) throw new InputInvalidError(problems);
  const { plan } = parsed;
  return {
    key,
    workflowId: taskWorkflowId(key),
    input,
    plan,
    digest: inputDigest(input),
    createNumber: plan.createNumber,
    reusePolicy: 'REJECT_DUPLICATE',
  };
}

/** Adopting the same task twice attaches; anything else without a key is a task of its own. */
function defaultKey(plan: TaskPlan | undefined): string {
  const requestId = plan?.adoptRequestId ?? null;
  return requestId === null ? randomUUID() : adoptionKey(requestId);
}

/** The run of a workflow id after a start, and whether that start made it. */
export interface ExistingRun {
  readonly origin: TaskOrigin;
  readonly run: KnownRun;
}

/**
 * One start; returns the run that it made, or the existing one with the same input. A run that ended as `InputInvalid`
 * did nothing, so it does not keep the key.
 */
async function startOrFind(access: TemporalAccess, attempt: StartAttempt): Promise<ExistingRun> {
  const { key, workflowId, digest } = attempt;
  let existing = await startOrAttach(access, attempt);
  if (existing.origin === 'attached' && (await didNothing(access, workflowId, existing.run))) {
    existing = await startOrAttach(access, { ...attempt, reusePolicy: 'ALLOW_DUPLICATE' });
  }
  const { runId, inputDigest } = existing.run;
  const known =
    inputDigest ?? (await askTemporal(access, workflowId, () => digestInHistory(access, workflowId, runId)));
  if (known !== digest) {
    // Only for the message: where it cannot be read, that says less.
    const before = await inputInHistory(access, workflowId, runId).catch(() => null);
    const differing = before === null ? [] : differingFields(before, attempt.input);
    throw new InputChangedError(key, workflowId, known !== null, differing);
  }
  return existing;
}

/** Whether a run is over that refused its input: it sent nothing and left no create record. */
export async function didNothing(access: TemporalAccess, workflowId: string, run: KnownRun): Promise<boolean> {
  if (run.execution !== 'FAILED') return false;
  const ending = await askTemporal(access, workflowId, () => readEnding(access.client, workflowId, run));
  return ending.kind === 'failure' && ending.type === failureTypes.InputInvalid;
}

/** The digest of the input of a run whose memo has none, because another client started it. */
async function digestInHistory(access: TemporalAccess, workflowId: string, runId: string): Promise<string | null> {
  const input = await inputInHistory(access, workflowId, runId);
  return input && inputDigest(input);
}

/** What a run was started with; null when it is no input of a task. */
export async function inputInHistory(
  { client }: TemporalAccess,
  workflowId: string,
  runId: string,
): Promise<TaskInput | null> {
  const input = await readStartArgument(client, workflowId, runId);
  return isTaskInput(input) ? input : null;
}

function isTaskInput(input: unknown): input is TaskInput {
  return parseTaskInput(input).plan !== undefined;
}

/** One start; returns the run that it made or the existing one, whatever its input. */
export async function startOrAttach(access: TemporalAccess, attempt: StartAttempt): Promise<ExistingRun> {
  const { client } = access;
  const { workflowId, startId = randomUUID(), parent } = attempt;
  const starting = parent === undefined ? client.workflow : startingWithin(client.workflow, parent);
  const run = await askTemporal(access, workflowId, async () => {
    try {
      await starting.start(taskWorkflow, startOptions(access, attempt, startId));
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    return knownRun(await describeWorkflow(client, workflowId));
  });
  return { origin: run.startId === startId ? 'started' : 'attached', run };
}

function startOptions(access: TemporalAccess, attempt: StartAttempt, startId: string): WorkflowStartOptions {
  const { key, workflowId, input, plan, digest, createNumber, reusePolicy, originalKey, tags = [] } = attempt;
  const memo: TaskMemo = {
    inputDigest: digest,
    createNumber,
    startId,
    ...(originalKey !== undefined && { originalKey }),
  };
  return {
    workflowId,
    taskQueue: access.taskQueue,
    args: [input],
    workflowIdReusePolicy: reusePolicy,
    // Attaches to a running task; the inputs are compared afterwards.
    workflowIdConflictPolicy: 'USE_EXISTING',
    memo,
    priority: plan.batch === null ? taskPriority(plan.account) : batchPriority(plan.batch.id),
    typedSearchAttributes: [
      ...attributesOfStart(plan),
      ...(plan.batch === null ? [] : [{ key: searchAttributes.batch, value: plan.batch.id }]),
      ...(tags.length === 0 ? [] : [{ key: searchAttributes.tags, value: [...tags] }]),
    ],
    staticSummary: staticSummary(originalKey ?? key, plan),
    staticDetails: staticDetails(plan),
  };
}

/** As the workflow would set them in its first step; an adopted task shows its state once the service was asked. */
function attributesOfStart(plan: TaskPlan): SearchAttributePair[] {
  if (plan.adoptRequestId !== null) return [{ key: searchAttributes.account, value: plan.account }];
  return taskSearchAttributes({ ...plan, status: firstStatus(plan), requestId: null });
}

/** How an adopted task is followed, and under which key. */
export type AdoptTaskOptions = Omit<AdoptedTaskInput, 'adopt'> &
  TaskStartOptions & {
    /** 1 to 80 letters, digits, dots, underscores and hyphens. @default one that the request id gives */
    readonly key?: string;
  };

/** Checks the input as {@link adoptTask} does, without Temporal. Throws `InputInvalidError`. */
export function checkedAdoption(
  requestId: string,
  { tags, traceparent, ...options }: AdoptTaskOptions = {},
): StartAttempt {
  const given = { ...(tags !== undefined && { tags }), ...(traceparent !== undefined && { traceparent }) };
  return { ...checkedStart({ ...options, adopt: { requestId } }), ...checkedOptions(given) };
}

/**
 * Follows a task that exists at the service. If a running workflow follows it already, under any key, attaches to that;
 * if its workflow is over, follows and archives it again. Nothing is created, so nothing is paid.
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

/** Ids that Temporal’s list filter takes as they are; its handling of quotes and backslashes differs between stores. */
const plainId = /^[A-Za-z0-9._:/-]+$/;

const pageSize = 100;

/** The workflow that follows this task now. A list is a second or two old, so each result is described again. */
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

/**
 * Longer texts are cut; the history has the complete input. Temporal takes a summary of 400 bytes and details of
 * 20,000; a character may have three, and be fenced by two more.
 */
const maxNamesLength = 50;
const maxRows = 40;
const maxKeyLength = 60;
const maxValueLength = 90;

/**
 * One line of Markdown for the Web UI: which app, which key, how many inputs.
 *
 * @internal exported for tests
 */
export function staticSummary(key: string, plan: TaskPlan): string {
  const shownKey = markdownText(key, maxNamesLength);
  if (plan.adoptRequestId !== null)
    return `Task ${markdownText(plan.adoptRequestId, maxNamesLength)}, adopted (${shownKey})`;
  const { files, values } = plan;
  const names = files.map(({ file }) => baseName(file)).join(', ');
  const inputs = Object.keys(values).length + files.length;
  return [
    `App ${plan.webAppId ?? ''} (${shownKey}), ${inputs} ${inputs === 1 ? 'input' : 'inputs'}`,
    ...(files.length === 0 ? [] : [markdownText(names, maxNamesLength)]),
  ].join(': ');
}

/**
 * A page of Markdown for the Web UI: what the task was asked to do.
 *
 * @internal exported for tests
 */
export function staticDetails(plan: TaskPlan): string {
  const asked: [string, string][] = [
    ...plan.files.map(({ key, file, as }): [string, string] => [key, `file ${file} (as ${as})`]),
    ...Object.entries(plan.values).map(([key, value]): [string, string] => [key, JSON.stringify(value)]),
  ];
  return [
    `**Account** ${markdownText(plan.account)}${plan.archiveFolder === '' ? '' : `, **archive folder** ${markdownText(plan.archiveFolder, maxValueLength)}`}`,
    ...(asked.length === 0 ? [] : ['']),
    ...asked
      .slice(0, maxRows)
      .map(([key, value]) => `- ${markdownText(key, maxKeyLength)}: ${markdownText(value, maxValueLength)}`),
    ...(asked.length > maxRows ? [`- and ${asked.length - maxRows} more`] : []),
  ].join('\n');
}

function baseName(file: string): string {
  return file.split(/[/\\]/).at(-1) ?? file;
}
