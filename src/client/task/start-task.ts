import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { WorkflowExecutionAlreadyStartedError, type WorkflowStartOptions } from '@temporalio/client';
import type { SearchAttributePair } from '@temporalio/common';
import { failureTypes } from '../../contract/failure-types';
import { parseTaskInput } from '../../contract/parse-task-input';
import { firstStatus, searchAttributes, taskSearchAttributes } from '../../contract/search-attributes';
import { taskCommands } from '../../contract/task-advice';
import { differingFields, inputDigest, type TaskInput } from '../../contract/task-input';
import { batchOfRow, taskKeyOf } from '../../contract/workflow-ids';
import type { TaskPlan } from '../../contract/parse-task-input';
import { workflowTaskTimeout } from '../../core/workflow-tasks';
import { batchPriority, taskPriority } from '../../core/priority';
import { formatCountOf, markdownText } from '../../core/text';
import { startingWithin } from '../client-traces';
import { InputChangedError, InputInvalidError } from '../errors';
import {
  isOverAtTheService,
  type KnownRun,
  knownRun,
  newRun,
  planRetry,
  readEnding,
  type TaskMemo,
} from '../existing-run';
import {
  type AdoptTaskOptions,
  checkedAdoption,
  checkedStart,
  type StartAttempt,
  type StartTaskInput,
  type StartTaskOptions,
} from '../start-check';
import { abortable, askDescription, askTemporal, type TemporalAccess } from '../temporal-access';
import { describeWorkflow, readStartArgument } from '../workflow-info';
import { findFollower } from './related-tasks';

/** Whether a start made a run, or found one that exists. */
export type TaskOrigin = 'started' | 'attached';

export interface StartedTask {
  readonly workflowId: string;
  readonly origin: TaskOrigin;
  /** Given options that it lacks because it was started before; empty for a task that was started now. */
  readonly withoutEffect: readonly TaskSetting[];
}

/** How a task is followed and archived. Each with its name in the plan. */
const settings = {
  archive: 'archiveFolder',
  watch: 'watch',
  deadlines: 'deadlinesMs',
  webhook: 'webhook',
  onUncertain: 'onUncertain',
  uncertainWait: 'uncertainWaitMs',
  tuning: 'tuning',
} as const;
export type TaskSetting = keyof typeof settings;

/** The name of the workflow; durable. */
const taskWorkflow = 'task';

/** As `Longhaul.start`, without contents; throws the errors of `askTemporal`, too. */
export async function startTask(
  access: TemporalAccess,
  request: StartTaskInput,
  options?: StartTaskOptions,
): Promise<StartedTask> {
  const attempt = checkedStart(request, options);
  return await abortable(access, options?.signal, async () => {
    const { workflowId } = attempt;
    const first = await startOrFind(access, attempt);
    const { origin, run } = first;
    if (origin === 'started' || !run.isClosed || options?.retry !== true)
      return await toStarted(access, attempt, first);

    const plan = planRetry(attempt.input, run, await readEnding(access, workflowId, run));
    if (plan.action === 'keep') return await toStarted(access, attempt, first);
    const { input, createNumber } = plan;
    const again: StartAttempt = { ...attempt, input, createNumber, reusePolicy: 'ALLOW_DUPLICATE' };
    return await toStarted(access, attempt, await startOrFind(access, again));
  });
}

/**
 * Starts a task that is over without success again, with its own input. What may still run at the service is followed,
 * and what is uncertain stays so: see {@link planRetry}. Throws `InputInvalidError` for what is no such task,
 * `ConfigError` without the key of its input, and the errors of `askTemporal`.
 */
export async function retryTask(access: TemporalAccess, workflowId: string): Promise<StartedTask> {
  const described = await askDescription(access, workflowId);
  const run = knownRun(described);
  const key = taskKeyOf(workflowId);
  const refused = (problem: string) => new InputInvalidError([`${workflowId} ${problem}`], 'arguments');
  if (key === undefined) throw refused(`is no task with a key; rows are retried by ${retryOfRow(workflowId)}.`);
  if (!run.isClosed) throw refused(`is not over; ${taskCommands.retryNow(workflowId)} tries what waits at once.`);
  const own = await askTemporal(access, workflowId, () => inputInHistory(access, workflowId, run.runId));
  const { plan } = parseTaskInput(own);
  if (own === null || plan === undefined) throw refused('was started with no input of a task.');
  const ending = await readEnding(access, workflowId, run);
  // What an earlier run created is over at the service, and its input is that run's.
  if ('adopt' in own && run.inputDigest !== inputDigest(own) && isOverAtTheService(ending)) {
    throw refused('followed what an earlier run created; longhaul run with its --key, its input and --retry goes on.');
  }
  const retry = planRetry(own, run, ending);
  if (retry.action === 'keep') throw refused(`succeeded; ${taskCommands.status(workflowId)} shows its outputs.`);
  const { input, createNumber } = retry;
  const { taskQueue, tags } = described;
  // A run that follows what an earlier one created has another input than its key stands for.
  const digest = run.inputDigest ?? inputDigest(own);
  const attempt: StartAttempt = {
    key,
    workflowId,
    input,
    plan,
    digest,
    createNumber,
    reusePolicy: 'ALLOW_DUPLICATE',
    tags,
  };
  const { origin } = await startOrAttach({ ...access, taskQueue }, attempt);
  return { workflowId, origin, withoutEffect: [] };
}

function retryOfRow(workflowId: string): string {
  return taskCommands.retryBatch(batchOfRow(workflowId) ?? 'ID');
}

async function toStarted(
  access: TemporalAccess,
  { workflowId, input, plan }: StartAttempt,
  { origin, run }: ExistingRun,
): Promise<StartedTask> {
  if (origin === 'started') return { workflowId, origin, withoutEffect: [] };
  return await toAttached(access, { workflowId, runId: run.runId }, input, plan);
}

async function toAttached(
  access: TemporalAccess,
  { workflowId, runId }: { readonly workflowId: string; readonly runId: string },
  given: Readonly<Partial<Record<TaskSetting, unknown>>>,
  wanted: TaskPlan,
): Promise<StartedTask> {
  const names = (Object.keys(settings) as TaskSetting[]).filter((name) => given[name] !== undefined);
  if (names.length === 0) return { workflowId, origin: 'attached', withoutEffect: [] };
  const read = askTemporal(access, workflowId, () => inputInHistory(access, workflowId, runId));
  // What cannot be read has no surely known setting.
  const { plan: has } = parseTaskInput(await read.catch(() => null));
  const withoutEffect = names.filter((name) => !isDeepStrictEqual(has?.[settings[name]], wanted[settings[name]]));
  return { workflowId, origin: 'attached', withoutEffect };
}

export interface ExistingRun {
  readonly origin: TaskOrigin;
  readonly run: KnownRun;
}

/** The run it made, or one with the same input. One that ended as `InputInvalid` did nothing and frees the key. */
async function startOrFind(access: TemporalAccess, attempt: StartAttempt): Promise<ExistingRun> {
  const { key, workflowId, digest } = attempt;
  let found = await startOrAttach(access, attempt);
  if (found.origin === 'attached' && (await didNothing(access, workflowId, found.run))) {
    found = await startOrAttach(access, { ...attempt, reusePolicy: 'ALLOW_DUPLICATE' });
  }
  const { runId, inputDigest: known } = found.run;
  if (known === digest) return found;
  const read = () => askTemporal(access, workflowId, () => inputInHistory(access, workflowId, runId));
  // Without a memo, another client started it. Else the input is only for the message.
  const input = await (known === null ? read() : read().catch(() => null));
  if (known === null && input !== null && inputDigest(input) === digest) return found;
  const differing = input === null ? [] : differingFields(input, attempt.input);
  throw InputChangedError.ofTask(key, workflowId, known !== null || input !== null, differing);
}

/** Whether a run refused its input: it sent nothing and left no create record. */
export async function didNothing(access: TemporalAccess, workflowId: string, run: KnownRun): Promise<boolean> {
  if (run.execution !== 'FAILED') return false;
  const ending = await readEnding(access, workflowId, run);
  return ending.kind === 'failure' && ending.type === failureTypes.InputInvalid;
}

/** Null when it is no input of a task. */
export async function inputInHistory(
  { client }: TemporalAccess,
  workflowId: string,
  runId: string,
): Promise<TaskInput | null> {
  const input = await readStartArgument(client, workflowId, runId);
  return parseTaskInput(input).plan === undefined ? null : (input as TaskInput);
}

/** The run that it made or the existing one, whatever its input. */
export async function startOrAttach(access: TemporalAccess, attempt: StartAttempt): Promise<ExistingRun> {
  const { client } = access;
  const { workflowId, startId = randomUUID(), parent, digest, createNumber } = attempt;
  const starting = parent === undefined ? client.workflow : startingWithin(client.workflow, parent);
  return await askTemporal(access, workflowId, async () => {
    try {
      const { firstExecutionRunId: runId } = await starting.start(taskWorkflow, startOptions(access, attempt, startId));
      return { origin: 'started', run: newRun({ runId, inputDigest: digest, startId, createNumber }) };
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      const run = knownRun(await describeWorkflow(client, workflowId));
      // An earlier attempt of this start may have made it.
      return { origin: run.startId === startId ? 'started' : 'attached', run };
    }
  });
}

function startOptions(access: TemporalAccess, attempt: StartAttempt, startId: string): WorkflowStartOptions {
  const { key, workflowId, input, plan, digest, createNumber, reusePolicy, originalKey, tags = [] } = attempt;
  const memo: TaskMemo = { inputDigest: digest, createNumber, startId };
  // As the workflow's first step would; an adopted task shows its state once the service was asked.
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
    // A success proves that this start made the run; of one that exists the input is compared.
    workflowIdConflictPolicy: 'FAIL',
    memo: originalKey === undefined ? memo : { ...memo, originalKey },
    priority: plan.batch === null ? taskPriority(plan.account) : batchPriority(plan.batch.id),
    typedSearchAttributes: attributes,
    staticSummary: staticSummary(originalKey ?? key, plan),
    staticDetails: staticDetails(plan),
  };
}

/** As `Longhaul.adopt`; throws the errors of `askTemporal`, too. */
export async function adoptTask(
  access: TemporalAccess,
  requestId: string,
  options?: AdoptTaskOptions,
): Promise<StartedTask> {
  const attempt = checkedAdoption(requestId, options);
  return await abortable(access, options?.signal, async () => {
    const { workflowId, input, plan } = attempt;
    const follower = await askTemporal(access, workflowId, () => findFollower(access.client, requestId, plan.account));
    // An empty run id is the latest run.
    if (follower !== undefined) return await toAttached(access, { workflowId: follower, runId: '' }, input, plan);
    const first = await startOrFind(access, attempt);
    if (first.origin === 'started' || !first.run.isClosed) return await toStarted(access, attempt, first);
    const again: StartAttempt = { ...attempt, reusePolicy: 'ALLOW_DUPLICATE' };
    return await toStarted(access, attempt, await startOrFind(access, again));
  });
}

/** Temporal takes a summary of 400 bytes and details of 20,000: up to three a character, fenced by two more. */
const maxNamesLength = 50;
const maxRows = 40;
const maxKeyLength = 60;
const maxValueLength = 90;

/** @internal exported for tests: one line of Markdown for the Web UI */
export function staticSummary(key: string, plan: TaskPlan): string {
  const { adoptRequestId, webAppId, files, values } = plan;
  const shownKey = markdownText(key, maxNamesLength);
  if (adoptRequestId !== null) return `Task ${markdownText(adoptRequestId, maxNamesLength)}, adopted (${shownKey})`;
  const names = files.map(({ file }) => file.split(/[/\\]/).at(-1) ?? file).join(', ');
  const inputs = formatCountOf(Object.keys(values).length + files.length, 'input');
  const summary = `App ${webAppId ?? ''} (${shownKey}), ${inputs}`;
  return files.length === 0 ? summary : `${summary}: ${markdownText(names, maxNamesLength)}`;
}

/** @internal exported for tests: a page of Markdown for the Web UI */
export function staticDetails({ account, archiveFolder, files, values }: TaskPlan): string {
  const folder = archiveFolder === '' ? '' : `, **archive folder** ${markdownText(archiveFolder, maxValueLength)}`;
  const asked = [
    ...files.map(({ key, file, as }) => [key, `file ${file} (as ${as})`] as const),
    ...Object.entries(values).map(([key, value]) => [key, JSON.stringify(value)] as const),
  ];
  const rows = asked.slice(0, maxRows).map(([key, value]) => {
    return `- ${markdownText(key, maxKeyLength)}: ${markdownText(value, maxValueLength)}`;
  });
  if (asked.length > maxRows) rows.push(`- and ${asked.length - maxRows} more`);
  return [`**Account** ${markdownText(account)}${folder}`, ...(rows.length === 0 ? [] : ['', ...rows])].join('\n');
}
