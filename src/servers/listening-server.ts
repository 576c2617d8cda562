import { createServer, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';

/** The answer to one request. */
export interface Answer {
  readonly httpStatus: number;
  readonly headers?: OutgoingHttpHeaders | undefined;
  readonly body?: string | undefined;
}

/** What a server listens with, and what it does. */
export interface ListenOptions<Handled extends Answer> {
  /** 0 takes a free one. */
  readonly port: number;
  /** An IP address of this machine. @default all of them */
  readonly host?: string;
  /** How long a request may take to arrive. */
  readonly requestTimeoutMs: number;
  readonly logger: Logger;
  /** What the log calls a request. */
  readonly logAs: string;
  /** Rejects when the sender gives up before its request is there. */
  readonly handle: (request: IncomingMessage) => Promise<Handled>;
  /** A request was answered. */
  readonly onAnswered: (handled: Handled, durationMs: number) => void;
  /** A request was not. */
  readonly onFailed?: (outcome: 'the sender gave up' | 'error') => void;
}

/** A server that listens. */
export interface ListeningServer {
  readonly port: number;
  /** Settles when it is closed and everything has been answered. */
  readonly closed: Promise<void>;
  /** Takes no new requests, and answers the open ones. May be repeated. */
  close(): void;
}

/** A sender that is slower than this when the server closes is cut off. */
const closeWithinMs = 8_000;

/** Starts listening. Rejects with the system's error when the port is not available. */
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
        // A connection that is kept alive would keep the server from closing.
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
      // The rest of the body is discarded, so that a sender that is still writing it reads the answer.
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
