import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A health endpoint that listens. */
export interface HealthServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Answers `GET /health` with 200 while every part runs and 503 otherwise; in the body, the states and further details
 * that do not affect the health. It needs no authentication. `undefined` without a port; port 0 takes a free one.
 */
export async function startHealthServer(
  { port, host }: { readonly port: number | null; readonly host: string },
  states: () => readonly string[],
  further: () => Readonly<Record<string, unknown>> = () => ({}),
): Promise<HealthServer | undefined> {
  if (port === null) return undefined;
  const server = createServer((request, response) => {
    if (request.url !== '/health') {
      response.writeHead(404).end();
      return;
    }
    const workers = states();
    const isHealthy = workers.every((state) => state === 'RUNNING');
    const body = JSON.stringify({ status: isHealthy ? 'ok' : 'not running', workers, ...further() });
    response.writeHead(isHealthy ? 200 : 503, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  // Later errors concern single connections that could not be accepted, for want of a file descriptor, say.
  server.on('error', () => undefined);
  const { port: actualPort, address, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${actualPort}/health`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}
