import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a server listens with, and what it does. */
export interface ListenOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** An IP address of this machine. @default all of them */
  readonly host?: string;
  /** How long a request may take to arrive. */
  readonly requestTimeoutMs: number;
  /** Answers one request, with `closingHeaders` as a part of its head. Must not reject. */
  readonly answer: (
    request: IncomingMessage,
    response: ServerResponse,
    closingHeaders: () => OutgoingHttpHeaders,
  ) => Promise<void>;
  /** Called for single connections that could not be accepted, for want of a file descriptor, say. */
  readonly onConnectionError: (error: Error) => void;
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
export async function listen(options: ListenOptions): Promise<ListeningServer> {
  const { port, host, requestTimeoutMs, answer, onConnectionError } = options;
  let isClosing = false;
  const server = createServer(
    {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.ceil(requestTimeoutMs / 4),
    },
    (request, response) => {
      // A connection that is kept alive would keep the server from closing.
      void answer(request, response, () => (isClosing ? { connection: 'close' } : {}));
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  server.on('error', onConnectionError);
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

function closeServer(server: Server): void {
  const cutOff = setTimeout(() => {
    server.closeAllConnections();
  }, closeWithinMs);
  server.close(() => {
    clearTimeout(cutOff);
  });
}
