import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A health endpoint that listens. */
export interface HealthServer {
  /** Of `/health`; `/live` and `/ready` are beside it. */
  readonly url: string;
  close(): Promise<void>;
}

/** What a health endpoint tells. */
export interface HealthSources {
  /** The state of each worker of the process. */
  readonly states: () => readonly string[];
  /** Whether each part that the process needs can be used. */
  readonly parts?: () => Readonly<Record<string, boolean>>;
  /** Details that do not affect the health. */
  readonly further?: () => Readonly<Record<string, unknown>>;
}

interface Answer {
  readonly isGood: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Answers `GET /live` with 200 unless a part of the process failed for good, `GET /ready` with 200 while it can do its
 * work, and `GET /health` with 200 while every worker runs; otherwise with 503. The body says why, and names nothing
 * but parts. It needs no authentication. `undefined` without a place; port 0 takes a free one.
 */
export async function startHealthServer(
  place: { readonly host: string; readonly port: number } | null,
  sources: HealthSources,
): Promise<HealthServer | undefined> {
  if (place === null) return undefined;
  const server = createServer((request, response) => {
    const answer = answerTo(request, sources);
    if (answer === undefined) {
      response.writeHead(404).end();
      return;
    }
    response
      .writeHead(answer.isGood ? 200 : 503, { 'content-type': 'application/json' })
      .end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(place.port, place.host, resolve);
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

function answerTo({ url }: IncomingMessage, sources: HealthSources): Answer | undefined {
  const { states, parts = () => ({}), further = () => ({}) } = sources;
  const workers = states();
  const areRunning = workers.every((state) => state === 'RUNNING');
  switch (url) {
    case '/live': {
      const isGood = !workers.includes('FAILED');
      return { isGood, body: { status: isGood ? 'ok' : 'failed' } };
    }
    case '/ready': {
      // Before the workers are made there is none.
      const all = { ...parts(), workers: areRunning && workers.length > 0 };
      const isGood = Object.values(all).every(Boolean);
      const shown = Object.entries(all).map(([part, isReady]) => [part, isReady ? 'ok' : 'not ready']);
      return { isGood, body: { status: isGood ? 'ok' : 'not ready', parts: Object.fromEntries(shown) } };
    }
    case '/health':
      return { isGood: areRunning, body: { status: areRunning ? 'ok' : 'not running', workers, ...further() } };
    default:
      return undefined;
  }
}
