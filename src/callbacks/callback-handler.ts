import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { correlationHeader, isLonghaulWorkflowId } from '../contract/workflow-ids';
import type { CallbackNotice } from '../contract/task-messages';
import { safeText } from '../domain/text';
import { parseCallback } from './parse-callback';
import { readBody } from './read-body';
import type { SignalWorkflow } from './signal-workflow';

/** What one request came to: the answer, and what the log tells of it. Neither holds a token or anything of a body. */
export interface HandledRequest {
  readonly httpStatus: number;
  readonly headers?: OutgoingHttpHeaders;
  /** In words; absent when there is nothing to tell, as of a look at the health. */
  readonly outcome?: string;
  readonly workflowId?: string;
  readonly requestId?: string;
  /** Why Temporal did not take it. */
  readonly reason?: string;
}

/** What a {@link CallbackHandler} works with. */
export interface CallbackHandlerOptions {
  /** The only path that takes callbacks. */
  readonly path: string;
  readonly isAccepted: (authorization: string | undefined) => boolean;
  readonly signalWorkflow: SignalWorkflow;
  readonly maxBodyBytes: number;
  /** Callbacks that are taken at the same time; one more is told to come again. */
  readonly maxInFlight: number;
}

const healthPath = '/health';
/** The service calls again about every 6 s (specification, section 6). */
const comeAgain: OutgoingHttpHeaders = { 'retry-after': '6' };

/**
 * Decides about each request to the receiver: who may call, what is read, what Temporal is told, and what is answered.
 * 200 means that Temporal has the signal, or that its workflow is over and needs none.
 */
export class CallbackHandler {
  private readonly options: CallbackHandlerOptions;
  private inFlight = 0;

  constructor(options: CallbackHandlerOptions) {
    this.options = options;
  }

  /** Rejects when the sender gives up before its request is there. */
  async handle(request: IncomingMessage): Promise<HandledRequest> {
    const { path, isAccepted, maxInFlight } = this.options;
    const [requestPath] = (request.url ?? '').split('?', 1);
    if (requestPath === healthPath) return health(request);
    if (requestPath !== path) return { httpStatus: 404, outcome: 'another path' };
    if (request.method !== 'POST') {
      return { httpStatus: 405, headers: { allow: 'POST' }, outcome: 'another method' };
    }
    if (!isAccepted(request.headers.authorization)) {
      return { httpStatus: 401, headers: { 'www-authenticate': 'Bearer' }, outcome: 'wrong token' };
    }
    if (this.inFlight >= maxInFlight) {
      return { httpStatus: 503, headers: comeAgain, outcome: 'too many at the same time' };
    }
    this.inFlight += 1;
    try {
      return await this.take(request);
    } finally {
      this.inFlight -= 1;
    }
  }

  private async take(request: IncomingMessage): Promise<HandledRequest> {
    const workflowId = request.headers[correlationHeader.toLowerCase()];
    if (typeof workflowId !== 'string' || !isLonghaulWorkflowId(workflowId)) {
      return { httpStatus: 400, outcome: 'no workflow id of Longhaul' };
    }
    const body = await readBody(request, this.options.maxBodyBytes);
    if (body === undefined) return { httpStatus: 413, outcome: 'too large', workflowId };
    const notice = parseCallback(body);
    if (notice === undefined) return { httpStatus: 400, outcome: 'malformed', workflowId };
    return await this.signal(workflowId, notice);
  }

  private async signal(workflowId: string, notice: CallbackNotice): Promise<HandledRequest> {
    const about = { workflowId, requestId: notice.requestId };
    try {
      switch (await this.options.signalWorkflow(workflowId, notice)) {
        case 'taken':
          return { httpStatus: 200, outcome: 'signaled', ...about };
        case 'over':
          return { httpStatus: 200, outcome: 'workflow is over', ...about };
        case 'unknown':
          return { httpStatus: 404, outcome: 'no such workflow', ...about };
      }
    } catch (error) {
      const reason = safeText(wordsOf(error));
      return { httpStatus: 503, headers: comeAgain, outcome: 'not taken by Temporal', reason, ...about };
    }
  }
}

/** Whether the receiver listens, and nothing else: whoever can call it back can ask this. */
function health({ method }: IncomingMessage): HandledRequest {
  if (method === 'GET' || method === 'HEAD') return { httpStatus: 200 };
  return { httpStatus: 405, headers: { allow: 'GET, HEAD' } };
}

/** Temporal's client wraps the error that says what was wrong. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
