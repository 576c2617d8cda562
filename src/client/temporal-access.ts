import { setMaxListeners } from 'node:events';
import { status as grpcStatus } from '@grpc/grpc-js';
import {
  type Client,
  isGrpcServiceError,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { NamespaceNotFoundError, PayloadConverterError, ValueError } from '@temporalio/common';
import { namespaceUrl } from '../config/client-config';
import {
  LonghaulError,
  NoWorkerError,
  ReplyInvalidError,
  TaskOverError,
  UnknownTaskError,
  WorkflowStuckError,
} from './errors';
import {
  ClientClosedError,
  type ConnectionSources,
  NamespaceMissingError,
  RequestTooLargeError,
  SearchAttributesMissingError,
  TemporalBusyError,
  TemporalRefusedError,
  TemporalUnreachableError,
} from './connection-errors';
import { problemText } from '../contract/problem';
import { stuckAdvice } from '../contract/task-advice';
import { missingSearchAttributes } from './search-attribute-check';
import type { InputStaging, OutputArchive } from './task/task-files';
import { type DescribedWorkflow, describeWorkflow, isAboutNamespace, listWorkflows } from './workflow-info';

/** The connection to Temporal that all parts of the client share. */
export interface TemporalAccess {
  readonly client: Client;
  /** As messages name it. */
  readonly address: string;
  readonly sources?: ConnectionSources | undefined;
  /** Of the workflows that are started. */
  readonly taskQueue: string;
  /** Base URL of Temporal's Web UI, without a trailing slash. */
  readonly webUiUrl: string | null;
  /** Absent: nowhere. */
  readonly staging?: InputStaging | undefined;
  readonly archive?: OutputArchive | undefined;
  /** Aborted when the client is closed; absent: its connection is another's, who closes it. */
  readonly closing?: AbortSignal | undefined;
}

/** How long one request to Temporal may take, the SDK's own retries included. */
const callTimeoutMs = 15_000;
const describeTimeoutMs = 3_000;

export function isTooLarge(words: string): boolean {
  return /larger than max|exceeds? (the )?(size )?limit/i.test(words);
}

/** Whether an error message of the server says that a run is about to end and accepts nothing more. */
export function isClosing(words: string): boolean {
  return /because workflow is closing/i.test(words);
}

/** Sends a request to Temporal with a deadline; failures are thrown as errors of this client. */
export async function askTemporal<Answer>(
  access: TemporalAccess,
  workflowId: string,
  ask: () => Promise<Answer>,
  timeoutMs: number = callTimeoutMs,
): Promise<Answer> {
  return translating(access, workflowId, () => access.client.withDeadline(Date.now() + timeoutMs, ask));
}

/** The latest run of a workflow, or the one that is named. Throws `UnknownTaskError` where there is none. */
export function askDescription(access: TemporalAccess, workflowId: string, runId?: string): Promise<DescribedWorkflow> {
  return askTemporal(access, workflowId, () => describeWorkflow(access.client, workflowId, runId));
}

/** The same; undefined where there is none. */
export async function findDescription(
  access: TemporalAccess,
  workflowId: string,
  runId?: string,
): Promise<DescribedWorkflow | undefined> {
  try {
    return await askDescription(access, workflowId, runId);
  } catch (error) {
    if (error instanceof UnknownTaskError) return undefined;
    throw error;
  }
}

/** As {@link askTemporal}, without a deadline. */
export async function translating<Answer>(
  access: TemporalAccess,
  workflowId: string,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    const known = clientError(access, error, workflowId);
    if (known instanceof SearchAttributesMissingError) throw await namingAll(access, known);
    if (known instanceof WorkflowStuckError || (known instanceof NoWorkerError && known.taskQueue === null)) {
      throw await explainSilence(access, known);
    }
    throw known;
  }
}

/** The SDK has one error for a missing worker, a stuck workflow and an unreachable Temporal: asking tells which. */
async function explainSilence(
  access: TemporalAccess,
  error: NoWorkerError | WorkflowStuckError,
): Promise<LonghaulError> {
  const { client } = access;
  const { workflowId, cause } = error;
  try {
    const described = await client.withDeadline(Date.now() + describeTimeoutMs, () => {
      return describeWorkflow(client, workflowId);
    });
    const { taskQueue, problem, encryptionKey } = described;
    if (problem !== null) return new WorkflowStuckError(workflowId, problemText(problem), { cause });
    if (error instanceof WorkflowStuckError) return error;
    return new NoWorkerError(workflowId, { cause, taskQueue, encryptionKey });
  } catch (failure) {
    const known = clientError(access, failure);
    return known instanceof TemporalUnreachableError ? known : error;
  }
}

/**
 * Rejects at once with the signal's reason when it aborts; the request is canceled, but may end later. It also ends
 * when the client is closed: a wait for a result would keep the process until Temporal's own answer.
 */
export async function abortable<Answer>(
  access: Pick<TemporalAccess, 'address' | 'closing'> & { readonly client: Pick<Client, 'withAbortSignal'> },
  signal: AbortSignal | undefined,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const { address, closing, client } = access;
  if (signal === undefined && closing === undefined) return ask();
  signal?.throwIfAborted();
  if (closing?.aborted === true) throw new ClientClosedError(address);
  // The SDK removes no listeners: on this call's own signal they are collected, on one of `AbortSignal.any` they stay.
  const own = new AbortController();
  setMaxListeners(0, own.signal);
  const onAbort = (): void => {
    own.abort(signal?.reason);
  };
  const onClose = (): void => {
    own.abort(new ClientClosedError(address));
  };
  signal?.addEventListener('abort', onAbort, { once: true });
  closing?.addEventListener('abort', onClose, { once: true });
  try {
    const aborted = new Promise<never>((_resolve, reject) => {
      own.signal.addEventListener('abort', () => {
        reject(own.signal.reason as Error);
      });
    });
    return await Promise.race([aborted, client.withAbortSignal(own.signal, ask)]);
  } finally {
    signal?.removeEventListener('abort', onAbort);
    closing?.removeEventListener('abort', onClose);
  }
}

/** What gRPC appends to its last error, also where it has nothing to note. */
const emptyNote = /\.? Resolution note: ?\.?$/;

/** Whether the SDK threw this because it cannot decode a payload. */
export function isUndecodable(error: unknown): boolean {
  return [ValueError, PayloadConverterError, SyntaxError].some((type) => error instanceof type);
}

/** With a deadline for each page; failures are thrown as errors of this client. */
export async function* listTemporal(
  access: TemporalAccess,
  query: string,
  pageSize: number,
): ReturnType<typeof listWorkflows> {
  try {
    yield* listWorkflows(access.client, query, pageSize, callTimeoutMs);
  } catch (error) {
    const known = clientError(access, error);
    const isRefusedQuery = isGrpcServiceError(error) && error.code === grpcStatus.INVALID_ARGUMENT;
    throw isRefusedQuery ? await namingAll(access, known) : known;
  }
}

/** A server's message names one missing search attribute at most: the namespace is asked for all of them. */
async function namingAll(access: TemporalAccess, known: unknown): Promise<unknown> {
  const { client, sources } = access;
  const { namespace } = client.options;
  const ask = (): Promise<string[]> => missingSearchAttributes(client.connection, namespace);
  const missing = await client.withDeadline(Date.now() + describeTimeoutMs, ask).catch((): string[] => []);
  if (missing.length === 0) return known;
  const cause = known instanceof SearchAttributesMissingError ? known.cause : known;
  return new SearchAttributesMissingError(namespace, `missing: ${missing.join(', ')}`, { cause, sources });
}

function clientError({ client, address, sources }: TemporalAccess, error: unknown, workflowId = ''): unknown {
  return toClientError(error, { address, sources, namespace: client.options.namespace, workflowId });
}

interface RequestPlace extends Pick<TemporalAccess, 'address' | 'sources'> {
  readonly namespace: string;
  readonly workflowId: string;
}

/** One without a meaning here (a bug, say) is returned as it is. */
export function toClientError(error: unknown, where: RequestPlace): unknown {
  const { address, sources, namespace, workflowId } = where;
  const options = { cause: error };
  const connection = { cause: error, sources };
  if (error instanceof LonghaulError) return error;
  if (isUndecodable(error)) return new ReplyInvalidError(workflowId, 'What Temporal keeps', options);
  if (error instanceof NamespaceNotFoundError) return new NamespaceMissingError(namespace, address, connection);
  if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return new NoWorkerError(workflowId, options);
  if (error instanceof WorkflowNotFoundError) {
    // The server has one code for both; only the message differs.
    return /already completed|aborted by closing/i.test(error.message)
      ? new TaskOverError(workflowId, options)
      : new UnknownTaskError(workflowId, namespace, options);
  }
  // A client's error wraps the one of gRPC; a worker's connection throws that itself, with the details in its message.
  const grpc = error instanceof ServiceError && error.cause !== undefined ? error.cause : error;
  if (grpc instanceof Error && /channel has been shut down/i.test(grpc.message))
    return new ClientClosedError(address, options);
  if (!isGrpcServiceError(grpc)) return error;
  const words = (grpc.details === '' ? grpc.message : grpc.details).replace(emptyNote, '');
  switch (grpc.code) {
    case grpcStatus.UNAVAILABLE:
      return new TemporalUnreachableError(address, words, connection);
    case grpcStatus.DEADLINE_EXCEEDED:
      return new TemporalUnreachableError(address, 'it did not answer in time', connection);
    case grpcStatus.CANCELLED:
    case grpcStatus.UNKNOWN:
    case grpcStatus.ABORTED:
    case grpcStatus.INTERNAL:
    case grpcStatus.DATA_LOSS:
    case grpcStatus.UNIMPLEMENTED:
      // A part of Temporal fails, or a proxy before it; what a caller canceled has rejected by then.
      return new TemporalUnreachableError(address, `it answered ${grpcStatus[grpc.code]} (${words})`, {
        ...connection,
        remedy: `Try again; if it stays so, see Temporal’s log, and check ${sources?.address ?? 'TEMPORAL_ADDRESS'}.`,
      });
    case grpcStatus.RESOURCE_EXHAUSTED:
      if (isTooLarge(words)) return new RequestTooLargeError(address, words, options);
      return new TemporalBusyError(address, words, options);
    case grpcStatus.PERMISSION_DENIED:
    case grpcStatus.UNAUTHENTICATED:
      return new TemporalRefusedError(address, words, connection);
    case grpcStatus.FAILED_PRECONDITION:
      return /workflow task (failure|in failed state)/i.test(words)
        ? new WorkflowStuckError(workflowId, problemText(stuckAdvice()), options)
        : error;
    case grpcStatus.NOT_FOUND:
      return isAboutNamespace(words, workflowId) ? new NamespaceMissingError(namespace, address, connection) : error;
    case grpcStatus.INVALID_ARGUMENT:
      if (isTooLarge(words)) return new RequestTooLargeError(address, words, options);
      return /search attribute/i.test(words) ? new SearchAttributesMissingError(namespace, words, connection) : error;
    default:
      return error;
  }
}

export function workflowUrl({ client, webUiUrl }: TemporalAccess, workflowId: string): string | null {
  const page = namespaceUrl(webUiUrl, client.options.namespace);
  return page === null ? null : `${page}/workflows/${encodeURIComponent(workflowId)}`;
}
