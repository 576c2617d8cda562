import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { failureTypes } from '../../contract/failure-types';
import { parseTaskInput } from '../../contract/parse-task-input';
import { firstStatus, searchAttributes, taskSearchAttributes } from '../../contract/search-attributes';
import { differingFields, inputDigest, type TaskInput } from '../../contract/task-input';
import type { TaskPlan } from '../../contract/parse-task-input';
import { workflowTaskTimeout } from '../../core/workflow-tasks';
import { batchPriority, taskPriority } from '../../core/priority';
import { formatCountOf, markdownText } from '../../core/text';
import { startingWithin } from '../client-traces';
import { InputChangedError } from '../errors';
import { type KnownRun, knownRun, planRetry, readEnding, type TaskMemo } from '../existing-run';
import {
  type AdoptTaskOptions,
  checkedAdoption,
  checkedStart,
  type StartAttempt,
  type StartTaskInput,
  type StartTaskOptions,
} from '../start-check';
import { abortable, askTemporal, type TemporalAccess } from '../temporal-access';
import { describeWorkflow, readStartArgument } from '../workflow-info';
import { findFollower } from './related-tasks';

/** Whether a start made a run, or found one that exists. */
export type TaskOrigin = 'started' | 'attached';

/** What a start led to. */
export interface StartedTask {
  readonly workflowId: string;
  readonly origin: TaskOrigin;
}

/** The name of the workflow; durable. */
const taskWorkflow = 'task';

/**
 * Starts a task, or attaches to the one that its key stands for; the same key never makes a second task.
 *
 * Throws {@link InputInvalidError} before anything is sent, {@link InputChangedError} when the key stands for another
 * input, and the errors of `askTemporal`.
 */
export async function startTask(
  access: TemporalAccess,
  request: StartTaskInput,
  options?: StartTaskOptions,
): Promise<StartedTask> {
  const attempt = checkedStart(request, options);
  return await abortable(access, options?.signal, async () => {
    const { workflowId } = attempt;
    const { origin, run } = await startOrFind(access, attempt);
    if (origin === 'started' || !run.isClosed || options?.retry !== true) return { workflowId, origin };

    const ending = await askTemporal(access, workflowId, () => readEnding(access.client, workflowId, run));
    const plan = planRetry(attempt.input, run, ending);
    if (plan.action === 'keep') return { workflowId, origin };
    const { input, createNumber } = plan;
    const second = await startOrFind(access, { ...attempt, input, createNumber, reusePolicy: 'ALLOW_DUPLICATE' });
    return { workflowId, origin: second.origin };
  });
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
  const { runId } = existing.run;
  let known = existing.run.inputDigest;
  if (known === null) {
    // Its memo has none: another client started it.
    const input = await askTemporal(access, workflowId, () => inputInHistory(access, workflowId, runId));
    known = input && inputDigest(input);
  }
  if (known !== digest) {
    // Only for the message: where it cannot be read, that says less.
    const before = await inputInHistory(access, workflowId, runId).catch(() => null);
    const differing = before === null ? [] : differingFields(before, attempt.input);
    throw InputChangedError.ofTask(key, workflowId, known !== null, differing);
  }
  return existing;
}

/** Whether a run is over that refused its input: it sent nothing and left no create record. */
export async function didNothing(access: TemporalAccess, workflowId: string, run: KnownRun): Promise<boolean> {
  if (run.execution !== 'FAILED') return false;
  const ending = await askTemporal(access, workflowId, () => readEnding(access.client, workflowId, run));
  return ending.kind === 'failure' && ending.type === failureTypes.InputInvalid;
}

/** What a run was started with; null when it is no input of a task. */
export async function inputInHistory(
  { client }: TemporalAccess,
  workflowId: string,
  runId: string,
): Promise<TaskInput | null> {
  const input = await readStartArgument(client, workflowId, runId);
  return parseTaskInput(input).plan === undefined ? null : (input as TaskInput);
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
  // As the workflow would set them in its first step; an adopted task shows its state once the service was asked.
  const attributes: SearchAttributePair[] =
    plan.adoptRequestId === null
      ? taskSearchAttributes({ ...plan, status: firstStatus(plan), requestId: null })
      : [{ key: searchAttributes.account, value: plan.account }];
  if (plan.batch !== null) attributes.push({ key: searchAttributes.batch, value: plan.batch.id });
  if (tags.length > 0) attributes.push({ key: searchAttributes.tags, value: [...tags] });
  return {
    workflowId,
    taskQueue: access.taskQueue,
    workflowTaskTimeout,
    args: [input],
    workflowIdReusePolicy: reusePolicy,
    // Attaches to a running task; the inputs are compared afterwards.
    workflowIdConflictPolicy: 'USE_EXISTING',
    memo,
    priority: plan.batch === null ? taskPriority(plan.account) : batchPriority(plan.batch.id),
    typedSearchAttributes: attributes,
    staticSummary: staticSummary(originalKey ?? key, plan),
    staticDetails: staticDetails(plan),
  };
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
  options?: AdoptTaskOptions,
): Promise<StartedTask> {
  const attempt = checkedAdoption(requestId, options);
  return await abortable(access, options?.signal, async () => {
    const { workflowId, plan } = attempt;
    const follower = await askTemporal(access, workflowId, () => findFollower(access.client, requestId, plan.account));
    if (follower !== undefined) return { workflowId: follower, origin: 'attached' };
    const first = await startOrFind(access, attempt);
    if (first.origin === 'started' || !first.run.isClosed) return { workflowId, origin: first.origin };
    const second = await startOrFind(access, { ...attempt, reusePolicy: 'ALLOW_DUPLICATE' });
    return { workflowId, origin: second.origin };
  });
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
  if (plan.adoptRequestId !== null) {
    return `Task ${markdownText(plan.adoptRequestId, maxNamesLength)}, adopted (${shownKey})`;
  }
  const { files, values } = plan;
  const names = files.map(({ file }) => file.split(/[/\\]/).at(-1) ?? file).join(', ');
  const inputs = Object.keys(values).length + files.length;
  return [
    `App ${plan.webAppId ?? ''} (${shownKey}), ${formatCountOf(inputs, 'input')}`,
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
