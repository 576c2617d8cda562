import { randomUUID } from 'node:crypto';
import { WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { failureTypes } from '../contract/failure-types';
import { inputDigest, type TaskInput } from '../contract/task-input';
import { parseTaskInput, type TaskPlan } from '../contract/parse-task-input';
import { firstStatus, searchAttributes, taskSearchAttributes } from '../contract/search-attributes';
import { taskPlaceProblems } from '../contract/task-place';
import { isRecord } from '../domain/json';
import { adoptionKey, isTaskKey, taskWorkflowId } from '../contract/workflow-ids';
import { InputChangedError, InputInvalidError } from './errors';
import { type KnownRun, knownRun, readEnding, type TaskMemo } from './former-run';
import { planRetry } from './plan-retry';
import { staticDetails, staticSummary } from './static-metadata';
import { askTemporal, type TemporalAccess } from './temporal-access';
import { decodedPayload, describeWorkflow } from './workflow-info';

/** What `start` takes: a task's input, and the key that makes it this one task. */
export type StartTaskInput = TaskInput & {
  /**
   * 1 to 80 letters, digits, dots, underscores and hyphens. The same key never makes a second task.
   * @default a random one; for an adopted task one that its request id gives
   */
  readonly key?: string;
};

/** Options of `start`. */
export interface StartTaskOptions {
  /**
   * If the task of this key is over and did not succeed, start it again; that may be paid anew. A success stays what
   * it is, and a task that still runs is followed.
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
  /** Tells the run that this start makes from every other one. @default a random one */
  readonly startId?: string;
  /** Of a row: its key as it was given. */
  readonly originalKey?: string;
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
  { retry = false }: StartTaskOptions = {},
): Promise<StartedTask> {
  const attempt = checkedStart(request);
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

/** Throws {@link InputInvalidError} when `startTask` would, without asking Temporal. */
export function checkedStart({ key: givenKey, ...input }: StartTaskInput): StartAttempt {
  const parsed = parseTaskInput(input);
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

/** The run that there is after a start, and whether that start made it. */
export interface MetRun {
  readonly origin: TaskOrigin;
  readonly run: KnownRun;
}

/**
 * One start, and the run that there is afterwards: the one it made, or the one it found with the same input. A run that
 * ended as `InputInvalid` did nothing, so it does not keep the key.
 */
export async function startOrFind(access: TemporalAccess, attempt: StartAttempt): Promise<MetRun> {
  const { key, workflowId, digest } = attempt;
  let met = await startOrMeet(access, attempt);
  if (met.origin === 'attached' && (await didNothing(access, workflowId, met.run))) {
    met = await startOrMeet(access, { ...attempt, reusePolicy: 'ALLOW_DUPLICATE' });
  }
  const { runId, inputDigest } = met.run;
  const known =
    inputDigest ?? (await askTemporal(access, workflowId, () => digestInHistory(access, workflowId, runId)));
  if (known !== digest) throw new InputChangedError(key, workflowId, known !== null);
  return met;
}

/** Whether a run is over that refused its input: it sent nothing and left no create record. */
export async function didNothing(access: TemporalAccess, workflowId: string, run: KnownRun): Promise<boolean> {
  if (run.execution !== 'FAILED') return false;
  const ending = await askTemporal(access, workflowId, () => readEnding(access.client, workflowId, run));
  return ending.kind === 'failure' && ending.type === failureTypes.InputInvalid;
}

/** The digest of the input that a run was started with, where no client of ours left it in the memo. */
async function digestInHistory({ client }: TemporalAccess, workflowId: string, runId: string): Promise<string | null> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const [payload] = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  if (payload == null) return null;
  const argument = await decodedPayload(client, payload);
  if (!isRecord(argument)) return null;
  const input = Object.fromEntries(Object.entries(argument).filter(([name]) => name !== 'continueAsNewState'));
  return isTaskInput(input) ? inputDigest(input) : null;
}

function isTaskInput(input: unknown): input is TaskInput {
  return parseTaskInput(input).plan !== undefined;
}

/** One start, and the run that there is afterwards, whatever its input is. */
export async function startOrMeet(access: TemporalAccess, attempt: StartAttempt): Promise<MetRun> {
  const { client } = access;
  const { workflowId, startId = randomUUID() } = attempt;
  const run = await askTemporal(access, workflowId, async () => {
    try {
      await client.workflow.start(taskWorkflow, startOptions(access, attempt, startId));
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    return knownRun(await describeWorkflow(client, workflowId));
  });
  return { origin: run.startId === startId ? 'started' : 'attached', run };
}

function startOptions(access: TemporalAccess, attempt: StartAttempt, startId: string): WorkflowStartOptions {
  const { key, workflowId, input, plan, digest, createNumber, reusePolicy, originalKey } = attempt;
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
    // A running task is joined, not doubled; whether it is the same one is compared afterwards.
    workflowIdConflictPolicy: 'USE_EXISTING',
    memo,
    typedSearchAttributes: [
      ...attributesOfStart(plan),
      ...(plan.batch === null ? [] : [{ key: searchAttributes.batch, value: plan.batch.id }]),
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
