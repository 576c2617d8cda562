import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** One request as a test server received it. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** As UTF-8. */
  readonly body: string;
  readonly bytes: Buffer;
}

/** A real HTTP server on a free loopback port that remembers what it was asked. */
export interface TestHttpServer {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** How many connections were opened to it. */
  readonly connectionCount: () => number;
  readonly close: () => Promise<void>;
}

/** Starts a server that answers every request, once its body is there, by `answer`. */
export async function startHttpServer(
  answer: (request: ReceivedRequest, response: ServerResponse) => void,
): Promise<TestHttpServer> {
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let connectionCount = 0;
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming;
      const bytes = Buffer.concat(chunks);
      const request = { method, url, headers, bytes, body: bytes.toString('utf8') };
      requests.push(request);
      answer(request, response);
    });
  });
  // A process that is kept busy for some seconds would otherwise use a connection that is being closed.
  server.keepAliveTimeout = 600_000;
  server.on('connection', (socket) => {
    connectionCount += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    connectionCount: () => connectionCount,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}

export function replyJson(response: ServerResponse, status: number, body: unknown, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
