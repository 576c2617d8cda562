import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import type { Logger } from 'pino';
import { count, metrics } from '../contract/metrics';
import { CallbackHandler, type CallbackHandlerOptions, type HandledRequest } from './callback-handler';

/** What a callback server is made of. */
export interface CallbackServerOptions extends Omit<CallbackHandlerOptions, 'maxBodyBytes' | 'maxInFlight'> {
  /** 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
  /** @default none: nothing is counted */
  readonly metricMeter?: MetricMeter;
  /** A callback's body, in bytes. @default 256 KiB */
  readonly maxBodyBytes?: number;
  /** @default 64 */
  readonly maxInFlight?: number;
  /** How long a request may take to arrive. @default 3000 */
  readonly requestTimeoutMs?: number;
}

/** A callback server that listens. */
export interface CallbackServer {
  readonly port: number;
  /** Settles when it is closed and everything has been answered. */
  readonly closed: Promise<void>;
  /** Takes no new requests, and answers the open ones. May be repeated. */
  close(): void;
}

const defaultMaxBodyBytes = 256 * 1024;
const defaultMaxInFlight = 64;
/** Together with the wait for Temporal it stays under the 10 s that the service waits (specification, section 6). */
const defaultRequestTimeoutMs = 3_000;
/** A sender that is slower than this when the server closes is cut off. */
const closeWithinMs = 8_000;

/** Starts listening on all addresses. Rejects with the system's error when the port is not available. */
export async function startCallbackServer(options: CallbackServerOptions): Promise<CallbackServer> {
  const { port, logger, metricMeter = noopMetricMeter, requestTimeoutMs = defaultRequestTimeoutMs } = options;
  const { maxBodyBytes = defaultMaxBodyBytes, maxInFlight = defaultMaxInFlight } = options;
  const handler = new CallbackHandler({ ...options, maxBodyBytes, maxInFlight });
  let isClosing = false;
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 4),
    },
    (request, response) => {
      // A connection that is kept alive would keep the server from closing.
      const closingHeaders = (): OutgoingHttpHeaders => (isClosing ? { connection: 'close' } : {});
      void answer(handler, request, response, { logger, metricMeter, closingHeaders });
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, resolve);
  });
  // Later errors concern single connections that could not be accepted, for want of a file descriptor, say.
  server.on('error', (error) => {
    logger.error({ err: error }, 'callback connection');
  });
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    closed,
    close: () => {
      if (isClosing) return;
      isClosing = true;
      closeServer(server);
    },
  };
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

function closeServer(server: Server): void {
  const cutOff = setTimeout(() => {
    server.closeAllConnections();
  }, closeWithinMs);
  server.close(() => {
    clearTimeout(cutOff);
  });
}
