import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { type CallbackNotice, callbackSignal } from '../contract/task-messages';
import { correlationHeader, isLonghaulWorkflowId, parseCreateName } from '../contract/workflow-ids';
import { parseJson } from '../core/json';
import { readNamedEnd } from '../core/callback-notice';
import { safeText } from '../core/text';
import { readBody } from './incoming-request';

/** The answer to one request, and what is logged of it. Neither holds a token or anything of a body. */
export interface HandledRequest {
  readonly httpStatus: number;
  readonly headers?: OutgoingHttpHeaders;
  /** For the log; absent for requests that are not logged, such as health checks. */
  readonly outcome?: string;
  readonly workflowId?: string;
  readonly requestId?: string;
  /** Why Temporal did not take it. */
  readonly reason?: string;
}

/** Options of a {@link CallbackHandler}. */
export interface CallbackHandlerOptions {
  /** The only path that takes callbacks. */
  readonly path: string;
  readonly isAccepted: (authorization: string | undefined) => boolean;
  readonly signalWorkflow: SignalWorkflow;
  /** Of the service's headers. @default the specification's */
  readonly headerPrefix?: string;
  /** Whether Temporal answered lately. */
  readonly isReady: () => boolean;
  /** A callback's body, in bytes. @default 256 KiB */
  readonly maxBodyBytes?: number;
  /** Callbacks that are taken at the same time; further ones are answered with 503 and Retry-After. @default 64 */
  readonly maxInFlight?: number;
}

const defaultMaxBodyBytes = 256 * 1024;
const defaultMaxInFlight = 64;

/** `/health` is the same as `/live`, and older. */
const livePaths: readonly string[] = ['/live', '/health'];
const readyPath = '/ready';
/** The service calls again about every 6 s (specification, section 6). */
const retryLater: OutgoingHttpHeaders = { 'retry-after': '6' };

/**
 * Handles each request to the receiver: checks the token, reads the body, signals the workflow, and chooses the answer.
 * 200 means that Temporal has the signal, or that its workflow is over and needs none.
 */
export class CallbackHandler {
  readonly #options: CallbackHandlerOptions;
  #inFlight = 0;

  constructor(options: CallbackHandlerOptions) {
    this.#options = options;
  }

  /** Rejects when the sender gives up before its request is there. */
  async handle(request: IncomingMessage): Promise<HandledRequest> {
    const { path, isAccepted, isReady, maxInFlight = defaultMaxInFlight } = this.#options;
    const [requestPath = ''] = (request.url ?? '').split('?', 1);
    if (livePaths.includes(requestPath)) return health(request, true);
    if (requestPath === readyPath) return health(request, isReady());
    if (requestPath !== path) return { httpStatus: 404, outcome: 'another path' };
    if (request.method !== 'POST') return { httpStatus: 405, headers: { allow: 'POST' }, outcome: 'another method' };
    const { authorization } = request.headers;
    if (!isAccepted(authorization)) {
      // A doctor, or whatever scans the network, sends neither a token nor the name of a create: no alert is due.
      const isOfService = authorization !== undefined || this.#correlationOf(request) !== undefined;
      const outcome = isOfService ? 'wrong token' : 'no token';
      return { httpStatus: 401, headers: { 'www-authenticate': 'Bearer' }, outcome };
    }
    if (this.#inFlight >= maxInFlight) {
      return { httpStatus: 503, headers: retryLater, outcome: 'too many at the same time' };
    }
    this.#inFlight += 1;
    try {
      return await this.#take(request);
    } finally {
      this.#inFlight -= 1;
    }
  }

  #correlationOf({ headers }: IncomingMessage): string | string[] | undefined {
    return headers[correlationHeader(this.#options.headerPrefix).toLowerCase()];
  }

  async #take(request: IncomingMessage): Promise<HandledRequest> {
    const create = parseCreateName(String(this.#correlationOf(request)));
    if (create === undefined || !isLonghaulWorkflowId(create.workflowId)) {
      return { httpStatus: 400, outcome: 'no create of Longhaul' };
    }
    const { workflowId, createNumber } = create;
    const body = await readBody(request, this.#options.maxBodyBytes ?? defaultMaxBodyBytes);
    if (body === undefined) return { httpStatus: 413, outcome: 'too large', workflowId };
    const notice = readNamedEnd(parseJson(new TextDecoder().decode(body)));
    if (notice === undefined) return { httpStatus: 400, outcome: 'malformed', workflowId };
    return await this.#signal(workflowId, { ...notice, createNumber });
  }

  async #signal(workflowId: string, notice: CallbackNotice): Promise<HandledRequest> {
    const about = { workflowId, requestId: notice.requestId };
    try {
      switch (await this.#options.signalWorkflow(workflowId, notice)) {
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
}

/** No word but the status: the endpoint needs no token. */
function health({ method }: IncomingMessage, isGood: boolean): HandledRequest {
  if (method === 'GET' || method === 'HEAD') return { httpStatus: isGood ? 200 : 503 };
  return { httpStatus: 405, headers: { allow: 'GET, HEAD' } };
}

/** What Temporal did with a signal: taken; or the workflow is over, or there is none of that id. */
export type SignalOutcome = 'taken' | 'over' | 'unknown';

/** Passes a notice on to a workflow. Rejects when it is not known whether Temporal accepted it. */
export type SignalWorkflow = (workflowId: string, notice: CallbackNotice) => Promise<SignalOutcome>;

/**
 * Signals through Temporal, within `timeoutMs`: the service waits about 10 s for the answer (specification, section 6).
 */
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
