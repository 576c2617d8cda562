import type { IncomingMessage } from 'node:http';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import type { Logger } from 'pino';
import { count, metrics } from '../contract/metrics';
import { type CallbackNotice, callbackSignal } from '../contract/task-messages';
import { correlationHeader, isLonghaulWorkflowId, parseCreateName } from '../contract/workflow-ids';
import { readNamedEnd } from '../core/callback-notice';
import { parseJson } from '../core/json';
import { safeText } from '../core/text';
import {
  type Answer,
  healthAnswer,
  limitInFlight,
  listen,
  type ListeningServer,
  pathOf,
  readBody,
} from './listening-server';

export interface CallbackServerOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** The only path that takes callbacks. */
  readonly path: string;
  readonly isAccepted: (authorization: string | undefined) => boolean;
  readonly signalWorkflow: SignalWorkflow;
  /** Of the service's headers. @default the specification's */
  readonly headerPrefix?: string;
  /** Whether Temporal answered lately. */
  readonly isReady: () => boolean;
  readonly logger: Logger;
  /** @default none: nothing is counted */
  readonly metricMeter?: MetricMeter;
  /** A callback's body, in bytes. @default 256 KiB */
  readonly maxBodyBytes?: number;
  /** Callbacks that are taken at the same time; further ones are answered with 503 and Retry-After. @default 64 */
  readonly maxInFlight?: number;
  /** How long a request may take to arrive. @default 3000: with the wait for Temporal under the service's 10 s */
  readonly requestTimeoutMs?: number;
}

/** Neither the answer nor the log holds a token or anything of a body. */
interface Handled extends Answer {
  /** Absent for requests that are not logged, such as health checks. */
  readonly outcome?: string;
  readonly workflowId?: string;
  readonly requestId?: string;
  /** Why Temporal did not take it. */
  readonly reason?: string;
}

const livePaths: readonly string[] = ['/live', '/health'];
/** The service calls again about every 6 s (specification, section 6). */
const retryLater = { 'retry-after': '6' };

/**
 * Listens on all addresses. Answers 200 when Temporal has the signal, or the workflow is over and needs none. Rejects
 * with the system's error when the port is not available.
 */
export async function startCallbackServer(options: CallbackServerOptions): Promise<ListeningServer> {
  const { port, path, isAccepted, isReady, logger, headerPrefix } = options;
  const { metricMeter = noopMetricMeter, maxInFlight = 64, requestTimeoutMs = 3_000 } = options;
  const inTurn = limitInFlight<Handled>(maxInFlight, {
    httpStatus: 503,
    headers: retryLater,
    outcome: 'too many at the same time',
  });
  const handle = async (request: IncomingMessage): Promise<Handled> => {
    const requestPath = pathOf(request);
    if (livePaths.includes(requestPath)) return healthAnswer(request, true);
    if (requestPath === '/ready') return healthAnswer(request, isReady());
    if (requestPath !== path) return { httpStatus: 404, outcome: 'another path' };
    if (request.method !== 'POST') return { httpStatus: 405, headers: { allow: 'POST' }, outcome: 'another method' };
    const { authorization } = request.headers;
    const createName = request.headers[correlationHeader(headerPrefix).toLowerCase()];
    if (!isAccepted(authorization)) {
      // A doctor or a network scanner sends neither a token nor the name of a create: no alert is due.
      const isOfService = authorization !== undefined || createName !== undefined;
      const outcome = isOfService ? 'wrong token' : 'no token';
      return { httpStatus: 401, headers: { 'www-authenticate': 'Bearer' }, outcome };
    }
    return await inTurn(() => takeCallback(request, String(createName), options));
  };
  return await listen({
    port,
    requestTimeoutMs,
    logger,
    logAs: 'callback',
    handle,
    onAnswered: ({ httpStatus, outcome, workflowId, requestId, reason }, durationMs) => {
      if (outcome === undefined) return;
      let level: 'debug' | 'info' | 'warn' = httpStatus === 200 ? 'info' : 'warn';
      // Requests for other paths are usual at a public address.
      if (requestId === undefined && (httpStatus === 404 || httpStatus === 405)) level = 'debug';
      logger[level]({ outcome, httpStatus, workflowId, requestId, reason, durationMs }, 'callback');
      count(metricMeter, metrics.callbacks, { outcome });
    },
    onFailed: (outcome) => {
      count(metricMeter, metrics.callbacks, { outcome });
    },
  });
}

async function takeCallback(
  request: IncomingMessage,
  createName: string,
  { signalWorkflow, maxBodyBytes = 256 * 1024 }: CallbackServerOptions,
): Promise<Handled> {
  const create = parseCreateName(createName);
  if (create === undefined || !isLonghaulWorkflowId(create.workflowId)) {
    return { httpStatus: 400, outcome: 'no create of Longhaul' };
  }
  const { workflowId, createNumber } = create;
  const body = await readBody(request, maxBodyBytes);
  if (body === undefined) return { httpStatus: 413, outcome: 'too large', workflowId };
  const notice = readNamedEnd(parseJson(new TextDecoder().decode(body)));
  if (notice === undefined) return { httpStatus: 400, outcome: 'malformed', workflowId };
  const about = { workflowId, requestId: notice.requestId };
  try {
    switch (await signalWorkflow(workflowId, { ...notice, createNumber })) {
      case 'taken':
        return { httpStatus: 200, outcome: 'signaled', ...about };
      case 'over':
        return { httpStatus: 200, outcome: 'workflow is over', ...about };
      case 'unknown':
        return { httpStatus: 404, outcome: 'no such workflow', ...about };
    }
  } catch (error) {
    // Temporal's client wraps the error that says what was wrong.
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const reason = safeText(cause instanceof Error ? cause.message : String(cause));
    return { httpStatus: 503, headers: retryLater, outcome: 'not taken by Temporal', reason, ...about };
  }
}

/** What Temporal did with a signal: taken; or the workflow is over, or there is none of that id. */
export type SignalOutcome = 'taken' | 'over' | 'unknown';

/** Rejects when it is not known whether Temporal accepted it. */
export type SignalWorkflow = (workflowId: string, notice: CallbackNotice) => Promise<SignalOutcome>;

/** Within `timeoutMs`: the service waits about 10 s for the answer (specification, section 6). */
export function createSignalWorkflow(client: Client, timeoutMs: number): SignalWorkflow {
  return async (workflowId, notice) => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      // The deadline ends a call; the signal also ends the pauses between the SDK's own attempts.
      await client.withDeadline(Date.now() + timeoutMs, () =>
        client.withAbortSignal(signal, () => client.workflow.getHandle(workflowId).signal(callbackSignal, notice)),
      );
      return 'taken';
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      // The server has one code for both; only the message differs.
      return /already completed/i.test(error.message) ? 'over' : 'unknown';
    }
  };
}
