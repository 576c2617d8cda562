import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import type { Logger } from 'pino';
import { count, metrics } from '../contract/metrics';
import { listen, type ListeningServer } from '../http/listening-server';
import { CallbackHandler, type CallbackHandlerOptions, type HandledRequest } from './callback-handler';

/** What a callback server is made of. */
export interface CallbackServerOptions extends CallbackHandlerOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
  /** @default none: nothing is counted */
  readonly metricMeter?: MetricMeter;
  /** How long a request may take to arrive. @default 3000 */
  readonly requestTimeoutMs?: number;
}

/** Together with the wait for Temporal it stays under the 10 s that the service waits (specification, section 6). */
const defaultRequestTimeoutMs = 3_000;

/** Starts listening on all addresses. Rejects with the system's error when the port is not available. */
export async function startCallbackServer(options: CallbackServerOptions): Promise<ListeningServer> {
  const { port, logger, metricMeter = noopMetricMeter, requestTimeoutMs = defaultRequestTimeoutMs } = options;
  const handler = new CallbackHandler(options);
  return await listen({
    port,
    requestTimeoutMs,
    answer: (request, response, closingHeaders) =>
      answer(handler, request, response, { logger, metricMeter, closingHeaders }),
    onConnectionError: (error) => {
      logger.error({ err: error }, 'callback connection');
    },
  });
}

interface AnswerContext {
  readonly logger: Logger;
  readonly metricMeter: MetricMeter;
  readonly closingHeaders: () => OutgoingHttpHeaders;
}

async function answer(
  handler: CallbackHandler,
  request: IncomingMessage,
  response: ServerResponse,
  { logger, metricMeter, closingHeaders }: AnswerContext,
): Promise<void> {
  const startedAtMs = Date.now();
  try {
    const handled = await handler.handle(request);
    response.writeHead(handled.httpStatus, { ...handled.headers, ...closingHeaders() }).end();
    logRequest(logger, handled, Date.now() - startedAtMs);
    if (handled.outcome !== undefined) count(metricMeter, metrics.callbacks, { outcome: handled.outcome });
  } catch (error) {
    const isGone = request.socket.destroyed;
    count(metricMeter, metrics.callbacks, { outcome: isGone ? 'the sender gave up' : 'error' });
    if (isGone) logger.warn({ outcome: 'the sender gave up', durationMs: Date.now() - startedAtMs }, 'callback');
    else logger.error({ err: error }, 'callback');
    // Writing a second head would throw an uncaught error.
    if (!isGone && !response.headersSent) response.writeHead(500).end();
  }
  // The rest of the body is discarded, so that a sender that is still writing it reads the answer.
  request.resume();
}

function logRequest(logger: Logger, handled: HandledRequest, durationMs: number): void {
  const { httpStatus, outcome, workflowId, requestId, reason } = handled;
  if (outcome === undefined) return;
  logger[logLevel(handled)]({ outcome, httpStatus, workflowId, requestId, reason, durationMs }, 'callback');
}

/** Requests for other paths are usual at a public address. */
function logLevel({ httpStatus, requestId }: HandledRequest): 'debug' | 'info' | 'warn' {
  if (httpStatus === 200) return 'info';
  return requestId === undefined && (httpStatus === 404 || httpStatus === 405) ? 'debug' : 'warn';
}
