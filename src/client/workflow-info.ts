import { type ServiceError, status as grpcStatus } from '@grpc/grpc-js';
import {
  type Client,
  isGrpcServiceError,
  type WorkflowExecutionDescription,
  type WorkflowExecutionStatusName,
  WorkflowNotFoundError,
} from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { ConfigError } from '../config/config-error';
import { encryptedEncoding, encryptionMetadata } from '../contract/encryption';
import { Undecodable } from '../contract/input-bounds';
import type { Problem } from '../contract/problem';
import { searchAttributes } from '../contract/search-attributes';
import { overloadAdvice, pausedAdvice, stuckAdvice } from '../contract/task-advice';
import { isRecord, parseJson } from '../core/json';
import { redact } from '../core/redact';
import { errorMessage, safeText } from '../core/text';

type RawInfo = temporal.api.workflow.v1.IWorkflowExecutionInfo;
type RawDescription = temporal.api.workflowservice.v1.IDescribeWorkflowExecutionResponse;
type Payload = temporal.api.common.v1.IPayload;
type Failure = temporal.api.failure.v1.IFailure;

const { EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT: TIMED_OUT, EVENT_TYPE_WORKFLOW_TASK_FAILED: FAILED } =
  temporal.api.enums.v1.EventType;

/** Unlike the SDK's, it tells of what cannot be decoded instead of throwing: one such workflow must not end a list. */
export interface WorkflowInfo {
  readonly workflowId: string;
  readonly runId: string;
  readonly taskQueue: string;
  readonly execution: WorkflowExecutionStatusName;
  readonly startedAt: Date;
  /** Null while it runs. */
  readonly closedAt: Date | null;
  /** Search attributes whose value is a text; other values are left out. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly tags: readonly string[];
  /** Names of the search attributes that cannot be decoded. */
  readonly undecodable: readonly string[];
  /** `Stuck`, `Overloaded` or `Paused`; null while its workflow tasks succeed. */
  readonly problem: Problem | null;
  /** The types of its activities that an operator paused, or `workflow`; empty where the server does not tell. */
  readonly paused: readonly string[];
}

export interface DescribedWorkflow extends WorkflowInfo {
  /** An item that cannot be decoded is an {@link Undecodable}. */
  readonly memo: ReadonlyMap<string, unknown>;
  readonly pendingActivities: NonNullable<WorkflowExecutionDescription['raw']['pendingActivities']>;
  /** Also while no worker is there that takes it. */
  readonly isCancelRequested: boolean;
  /** Of its payloads; null: they are not encrypted. */
  readonly encryptionKey: string | null;
}

export function isClosed(execution: WorkflowExecutionStatusName): boolean {
  return execution !== 'RUNNING' && execution !== 'PAUSED';
}

/** The latest run, or the one that is named. Throws `WorkflowNotFoundError` and errors of gRPC: see `askTemporal`. */
export async function describeWorkflow(client: Client, workflowId: string, runId = ''): Promise<DescribedWorkflow> {
  let raw: RawDescription;
  try {
    raw = await client.workflowService.describeWorkflowExecution({
      namespace: client.options.namespace,
      execution: { workflowId, runId },
    });
  } catch (error) {
    if (isWorkflowGone(error, workflowId)) throw new WorkflowNotFoundError(error.details, workflowId, undefined);
    throw error;
  }
  const memo = await Promise.all(
    Object.entries(raw.workflowExecutionInfo?.memo?.fields ?? {}).map(async ([name, payload]) => {
      return [name, await decodedPayload(client, payload)] as const;
    }),
  );
  const isFailing = (raw.pendingWorkflowTask?.attempt ?? 1) >= failingFromAttempt;
  const trouble = isFailing ? await readTrouble(client, workflowId, runId) : noTrouble;
  // A client encrypts all that it starts a workflow with, so each payload of the memo tells.
  const [payload] = Object.values(raw.workflowExecutionInfo?.memo?.fields ?? {});
  const metadata = (name: string): string => Buffer.from(payload?.metadata?.[name] ?? []).toString();
  return {
    ...workflowInfo(raw.workflowExecutionInfo ?? {}, { ...trouble, isFailing }),
    memo: new Map(memo),
    pendingActivities: raw.pendingActivities ?? [],
    isCancelRequested: raw.workflowExtendedInfo?.cancelRequested ?? false,
    encryptionKey: metadata('encoding') === encryptedEncoding ? metadata(encryptionMetadata.keyId) : null,
  };
}

/** What became of the first attempt of the workflow task that is tried again: Temporal keeps no more of them. */
interface Trouble {
  readonly timedOut: boolean;
  /** Words of its failure; empty: not known. */
  readonly failure: string;
}

const noTrouble: Trouble = { timedOut: false, failure: '' };
const maxFailureLength = 300;

async function readTrouble(client: Client, workflowId: string, runId: string): Promise<Trouble> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 20,
  });
  const end = history?.events?.find(({ eventType }) => eventType === TIMED_OUT || eventType === FAILED);
  const failure = await decodedFailureMessage(client, end?.workflowTaskFailedEventAttributes?.failure ?? {});
  return { timedOut: end?.eventType === TIMED_OUT, failure: safeText(redact(failure), [], maxFailureLength) };
}

/** Whether Temporal says that it has no such workflow, or no longer. */
export function isWorkflowGone(error: unknown, workflowId: string): error is ServiceError {
  if (!isGrpcServiceError(error) || error.code !== grpcStatus.NOT_FOUND) return false;
  return !isAboutNamespace(error.details, workflowId);
}

/** Whether gRPC's NOT_FOUND is about the namespace. Its words quote the workflow id, which may have any word in it. */
export function isAboutNamespace(words: string, workflowId: string): boolean {
  return /namespace/i.test(words.replaceAll(workflowId, ''));
}

/**
 * Those that run, the latest start first, then those that ended last, a page at a time. Throws errors of gRPC.
 * @param pageTimeoutMs - how long each page may take, retries included. @default until the deadline that the caller set
 */
export async function* listWorkflows(
  client: Client,
  query: string,
  pageSize: number,
  pageTimeoutMs?: number,
): AsyncGenerator<ListedWorkflow> {
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const ask = () => listWorkflowPage(client, query, pageSize, nextPageToken);
    const page = await (pageTimeoutMs === undefined ? ask() : client.withDeadline(Date.now() + pageTimeoutMs, ask));
    yield* page.workflows;
    ({ nextPageToken } = page);
  } while (nextPageToken.length > 0);
}

type ListedWorkflow = WorkflowInfo & { readonly memo: (name: string) => Promise<unknown> };

/** @param token - empty: the first page. */
export async function listWorkflowPage(
  client: Client,
  query: string,
  pageSize: number,
  token: Uint8Array,
): Promise<{ readonly workflows: readonly ListedWorkflow[]; readonly nextPageToken: Uint8Array }> {
  const { namespace } = client.options;
  const page = await client.workflowService.listWorkflowExecutions({
    namespace,
    query,
    pageSize,
    nextPageToken: token,
  });
  const workflows = page.executions.map((raw): ListedWorkflow => {
    return { ...workflowInfo(raw), memo: (name) => decodedPayload(client, raw.memo?.fields?.[name] ?? {}) };
  });
  return { workflows, nextPageToken: page.nextPageToken };
}

/** Decodes one payload; what cannot be decoded becomes an {@link Undecodable}. */
export async function decodedPayload(client: Client, payload: Payload): Promise<unknown> {
  try {
    return await decode(client, payload);
  } catch (error) {
    return new Undecodable(errorMessage(error));
  }
}

async function decode(client: Client, payload: Payload): Promise<unknown> {
  const { payloadConverter, payloadCodecs } = client.options.loadedDataConverter;
  let plain = [payload];
  for (const codec of [...payloadCodecs].reverse()) plain = await codec.decode(plain);
  const [one] = plain;
  return one === undefined ? undefined : payloadConverter.fromPayload<unknown>(one);
}

/**
 * Without the state of the run before; undefined when it cannot be read. Throws errors of gRPC, and `ConfigError` where
 * its key is missing: this client must not take it for an input of another program.
 */
export async function readStartArgument(client: Client, workflowId: string, runId: string): Promise<unknown> {
  const { history } = await client.workflowService.getWorkflowExecutionHistory({
    namespace: client.options.namespace,
    execution: { workflowId, runId },
    maximumPageSize: 1,
  });
  const [payload] = history?.events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
  if (payload == null) return undefined;
  let argument: unknown;
  try {
    argument = await decode(client, payload);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
  }
  if (!isRecord(argument)) return undefined;
  return Object.fromEntries(Object.entries(argument).filter(([name]) => name !== 'continueAsNewState'));
}

/** Also of one that is encoded. */
export async function decodedFailureMessage(client: Client, failure: Failure): Promise<string> {
  const message = failure.message ?? '';
  if (failure.encodedAttributes == null) return message;
  const attributes = await decodedPayload(client, failure.encodedAttributes);
  if (attributes instanceof Undecodable) return `${message}: ${attributes.reason}`;
  return isRecord(attributes) && typeof attributes['message'] === 'string' ? attributes['message'] : message;
}

interface WorkflowTask extends Trouble {
  readonly isFailing: boolean;
}

function workflowInfo(raw: RawInfo, task: WorkflowTask = { isFailing: false, ...noTrouble }): WorkflowInfo {
  const attributes = new Map<string, string>();
  const undecodable: string[] = [];
  let problems: readonly string[] = [];
  let tags: readonly string[] = [];
  let paused: readonly string[] = [];
  for (const [name, payload] of Object.entries(raw.searchAttributes?.indexedFields ?? {})) {
    // They are JSON and pass no codec.
    const value = parseJson(Buffer.from(payload.data ?? []).toString('utf8'));
    if (value === undefined) undecodable.push(name);
    else if (name === reportedProblems && Array.isArray(value)) problems = value.map(String);
    else if (name === pauseInfo) paused = listTexts(value).flatMap(pausedParts);
    else if (name === searchAttributes.tags.name) tags = listTexts(value);
    else if (typeof value === 'string') attributes.set(name, value);
  }
  const workflowId = raw.execution?.workflowId ?? '';
  const execution = executionName(raw.status);
  return {
    workflowId,
    runId: raw.execution?.runId ?? '',
    taskQueue: raw.taskQueue ?? '',
    execution,
    startedAt: new Date(toMs(raw.startTime) ?? 0),
    closedAt: raw.closeTime == null ? null : new Date(toMs(raw.closeTime) ?? 0),
    attributes,
    tags,
    undecodable,
    problem: workflowProblem(workflowId, execution, problems, task),
    paused: raw.closeTime == null ? paused : [],
  };
}

function pausedParts(text: string): readonly string[] {
  const found = pausedPart.exec(text);
  return found === null ? [] : [found[1] ?? 'workflow'];
}

/** A store may keep a list of one as its one value. */
function listTexts(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((one) => typeof one === 'string');
}

/** A moment of Temporal since 1970, or a duration, in milliseconds. */
export function toMs(time: RawInfo['startTime']): number | null {
  return time == null ? null : Number(time.seconds ?? 0) * 1_000 + Math.floor((time.nanos ?? 0) / 1e6);
}

/** Set by Temporal's server when several workflow tasks in a row failed. */
const reportedProblems = 'TemporalReportedProblems';

/** Set by Temporal's server while it is paused (`Workflow:ID`), or activities are (`property:activityType=createTask`). */
const pauseInfo = 'TemporalPauseInfo';
const pausedPart = /^(?:property:activityType=(.+)|Workflow:.*)$/s;

export const pausedFilter = `${pauseInfo} IS NOT NULL`;

const executionNames: Readonly<Record<number, string>> = temporal.api.enums.v1.WorkflowExecutionStatus;

/** As the SDK names it. */
function executionName(code: RawInfo['status']): WorkflowExecutionStatusName {
  const name = executionNames[code ?? 0]?.replace('WORKFLOW_EXECUTION_STATUS_', '') ?? 'UNSPECIFIED';
  if (name === 'CANCELED') return 'CANCELLED';
  return name === 'UNSPECIFIED' ? 'UNKNOWN' : (name as WorkflowExecutionStatusName);
}

/** Filter of Temporal's list: what runs on a task queue. */
export function runningOn(taskQueue: string): string {
  return `TaskQueue = ${JSON.stringify(taskQueue)} AND ExecutionStatus = "Running"`;
}

/** One or two failed attempts may be a restart of a worker. */
const failingFromAttempt = 3;

const timeOutProblem = 'category=WorkflowTaskTimedOut';
/** Temporal sets the attribute after several workflow tasks in a row. */
export const stuckFilter = 'TemporalReportedProblems = "category=WorkflowTaskFailed"';
export const overloadFilter = `TemporalReportedProblems = "${timeOutProblem}"`;

/** Temporal does not tell since when: it schedules each attempt anew. */
function workflowProblem(
  workflowId: string,
  execution: WorkflowExecutionStatusName,
  problems: readonly string[],
  { isFailing, timedOut, failure }: WorkflowTask,
): Problem | null {
  if (execution === 'PAUSED') return { code: 'Paused', ...pausedAdvice(workflowId), since: null };
  if (execution !== 'RUNNING' || (problems.length === 0 && !isFailing)) return null;
  if (problems.length === 0 ? timedOut : problems.includes(timeOutProblem)) {
    return { code: 'Overloaded', ...overloadAdvice, since: null };
  }
  return { code: 'Stuck', ...stuckAdvice(...(failure === '' ? [] : [failure]), ...problems), since: null };
}
