import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Secret } from '../config/secret';

export interface Answer {
  readonly httpStatus: number;
  readonly headers?: OutgoingHttpHeaders | undefined;
  readonly body?: string | undefined;
}

export interface ListenOptions<Handled extends Answer> {
  /** 0 takes a free one. */
  readonly port: number;
  /** An IP address of this machine. @default all */
  readonly host?: string;
  readonly requestTimeoutMs: number;
  readonly logger: Logger;
  readonly logAs: string;
  /** Rejects when the sender gives up before its request is there. */
  readonly handle: (request: IncomingMessage) => Promise<Handled>;
  readonly onAnswered: (handled: Handled, durationMs: number) => void;
  readonly onFailed?: (outcome: 'the sender gave up' | 'error') => void;
}

export interface ListeningServer {
  readonly port: number;
  /** Settles when it is closed and everything has been answered. */
  readonly closed: Promise<void>;
  /** Takes no new requests, and answers the open ones. May be repeated. */
  close(): void;
}

/** A slower sender is cut off when the server closes. */
const closeWithinMs = 8_000;

/** Rejects with the system's error when the port is not available. */
export async function listen<Handled extends Answer>(options: ListenOptions<Handled>): Promise<ListeningServer> {
  const { port, host, requestTimeoutMs, logger, logAs, handle, onAnswered, onFailed } = options;
  let isClosing = false;
  const limits = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: requestTimeoutMs,
    connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 4),
  };
  const server = createServer(limits, (request, response) => {
    const startedAtMs = Date.now();
    const answer = async (): Promise<void> => {
      try {
        const handled = await handle(request);
        // A connection that is kept alive would keep the server open.
        const closing = isClosing ? { connection: 'close' } : {};
        response.writeHead(handled.httpStatus, { ...handled.headers, ...closing }).end(handled.body);
        onAnswered(handled, Date.now() - startedAtMs);
      } catch (error) {
        const isGone = request.socket.destroyed;
        const outcome = isGone ? 'the sender gave up' : 'error';
        onFailed?.(outcome);
        if (isGone) logger.warn({ outcome, durationMs: Date.now() - startedAtMs }, logAs);
        else logger.error({ err: error }, logAs);
        // Writing a second head would throw an uncaught error.
        if (!isGone && !response.headersSent) response.writeHead(500).end();
      }
      // Discards the rest, so that a sender that is still writing reads the answer.
      request.resume();
    };
    void answer();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  // Of single connections that could not be accepted, for want of a file descriptor, say.
  server.on('error', (error) => {
    logger.error({ err: error }, `${logAs} connection`);
  });
  return {
    port: (server.address() as AddressInfo).port,
    closed: new Promise<void>((resolve) => server.once('close', resolve)),
    close: () => {
      if (isClosing) return;
      isClosing = true;
      const cutOff = setTimeout(() => {
        server.closeAllConnections();
      }, closeWithinMs);
      server.close(() => {
        clearTimeout(cutOff);
      });
    },
  };
}

/** Compares all digests: the time tells neither how much of a guess was right, nor which token. */
export function createTokenCheck(tokens: readonly Secret[]): (authorization: string | undefined) => boolean {
  const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
  const accepted = tokens.map((token) => sha256(`Bearer ${token.reveal()}`));
  return (authorization = '') => {
    const given = sha256(authorization);
    return accepted.map((digest) => timingSafeEqual(digest, given)).includes(true);
  };
}

/** `undefined` when larger: the rest is discarded and the sender reads the answer. Rejects when the sender gives up. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return await new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    request
      .on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= maxBytes) {
          chunks.push(chunk);
          return;
        }
        chunks.length = 0;
        resolve(undefined);
      })
      .once('end', () => {
        resolve(Buffer.concat(chunks));
      })
      .once('error', reject);
  });
}

/** Without its query. */
export function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}

/** No word but the status, for it needs no token. Not logged. */
export function healthAnswer({ method }: IncomingMessage, isGood: boolean): Answer {
  if (method === 'GET' || method === 'HEAD') return { httpStatus: isGood ? 200 : 503 };
  return { httpStatus: 405, headers: { allow: 'GET, HEAD' } };
}

/** At most so many at the same time; others get `turnedAway` at once. */
export function limitInFlight<Handled>(most: number, turnedAway: Handled) {
  let inFlight = 0;
  return async (take: () => Promise<Handled>): Promise<Handled> => {
    if (inFlight >= most) return turnedAway;
    inFlight += 1;
    try {
      return await take();
    } finally {
      inFlight -= 1;
    }
  };
}
