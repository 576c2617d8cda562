import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import type { CodecServerConfig } from '../config/codec-server-config';
import { createTokenCheck } from '../http/incoming-request';
import { listen, type ListeningServer } from '../http/listening-server';
import { CodecHandler, type HandledRequest } from './codec-handler';
import { PayloadCipher } from './payload-cipher';

/** What a codec server is made of. */
export interface CodecServerOptions {
  readonly config: CodecServerConfig;
  readonly logger: Logger;
  /** A request's body, in bytes. @default 8 MiB: a page of a history has at most 4 MiB, and base64 a third more */
  readonly maxBodyBytes?: number;
  /** @default 16 */
  readonly maxInFlight?: number;
  /** How long a request may take to arrive. @default 10,000 */
  readonly requestTimeoutMs?: number;
}

const defaultMaxBodyBytes = 8 * 1024 ** 2;
const defaultMaxInFlight = 16;
const defaultRequestTimeoutMs = 10_000;

/** Starts listening. Rejects with the system's error when the address is not available. */
export async function startCodecServer(options: CodecServerOptions): Promise<ListeningServer> {
  const { config, logger, requestTimeoutMs = defaultRequestTimeoutMs } = options;
  const { maxBodyBytes = defaultMaxBodyBytes, maxInFlight = defaultMaxInFlight } = options;
  const { codecKeys, host, port, tokens, origins, mayEncode } = config;
  const handler = new CodecHandler({
    ...{ mayEncode, origins, maxBodyBytes, maxInFlight },
    cipher: new PayloadCipher(codecKeys),
    isAccepted: tokens === null ? () => true : createTokenCheck(tokens),
  });
  const server = await listen({
    ...{ port, host, requestTimeoutMs },
    answer: (request, response, closingHeaders) => answer(handler, request, response, { logger, closingHeaders }),
    onConnectionError: (error) => {
      logger.error({ err: error }, 'codec connection');
    },
  });
  const place = { address: host, port: server.port, origins };
  logger.info({ ...place, keys: [...codecKeys.keys.keys()], mayEncode }, 'codec server started');
  return server;
}

async function answer(
  handler: CodecHandler,
  request: IncomingMessage,
  response: ServerResponse,
  { logger, closingHeaders }: { readonly logger: Logger; readonly closingHeaders: () => OutgoingHttpHeaders },
): Promise<void> {
  const startedAtMs = Date.now();
  try {
    const handled = await handler.handle(request);
    response.writeHead(handled.httpStatus, { ...handled.headers, ...closingHeaders() }).end(handled.body);
    logRequest(logger, handled, Date.now() - startedAtMs);
  } catch (error) {
    const isGone = request.socket.destroyed;
    if (isGone) logger.warn({ outcome: 'the sender gave up', durationMs: Date.now() - startedAtMs }, 'codec request');
    else logger.error({ err: error }, 'codec request');
    // Writing a second head would throw an uncaught error.
    if (!isGone && !response.headersSent) response.writeHead(500).end();
  }
  // The rest of the body is discarded, so that a sender that is still writing it reads the answer.
  request.resume();
}

/** Who reads what is worth a line; requests for other paths are usual. */
function logRequest(logger: Logger, handled: HandledRequest, durationMs: number): void {
  const { httpStatus, outcome, namespace, payloads, unreadable } = handled;
  if (outcome === undefined) return;
  const isUsual = httpStatus === 200 && unreadable === undefined;
  const level = isUsual ? 'info' : httpStatus === 404 || httpStatus === 405 ? 'debug' : 'warn';
  logger[level]({ outcome, httpStatus, namespace, payloads, unreadable, durationMs }, 'codec request');
}
