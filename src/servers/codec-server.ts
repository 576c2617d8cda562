import type { Logger } from 'pino';
import type { CodecServerConfig } from '../config/codec-keys';
import { createTokenCheck } from './incoming-request';
import { listen, type ListeningServer } from './listening-server';
import { CodecHandler } from './codec-handler';
import { PayloadCipher } from '../client/codec/payload-cipher';

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
  const cipher = new PayloadCipher(codecKeys);
  const isAccepted = tokens === null ? () => true : createTokenCheck(tokens);
  const handler = new CodecHandler({ mayEncode, origins, maxBodyBytes, maxInFlight, cipher, isAccepted });
  const server = await listen({
    port,
    host,
    requestTimeoutMs,
    logger,
    logAs: 'codec request',
    handle: (request) => handler.handle(request),
    onAnswered: (handled, durationMs) => {
      const { httpStatus, outcome, namespace, payloads, unreadable } = handled;
      if (outcome === undefined) return;
      // Who reads what is worth a line; requests for other paths are usual.
      let level: 'debug' | 'info' | 'warn' = httpStatus === 200 && unreadable === undefined ? 'info' : 'warn';
      if (httpStatus === 404 || httpStatus === 405) level = 'debug';
      logger[level]({ outcome, httpStatus, namespace, payloads, unreadable, durationMs }, 'codec request');
    },
  });
  const place = { address: host, port: server.port, origins };
  logger.info({ ...place, keys: [...codecKeys.keys.keys()], mayEncode }, 'codec server started');
  return server;
}
