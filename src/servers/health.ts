import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Connection } from '@temporalio/client';
import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import type { Logger } from 'pino';
import type { SocketAddress } from '../config/values';
import { metrics, setGauge } from '../contract/metrics';

/** Rejects when the part cannot be used. */
export interface Probe {
  readonly check: () => Promise<void>;
  readonly everyMs: number;
}

const temporalEveryMs = 10_000;
const temporalTimeoutMs = 5_000;

export function temporalProbe(
  connection: Pick<Connection, 'workflowService' | 'withDeadline'>,
  namespace: string,
  everyMs = temporalEveryMs,
): Probe {
  const ask = () => connection.workflowService.describeNamespace({ namespace });
  const check = async (): Promise<void> => {
    await connection.withDeadline(Date.now() + temporalTimeoutMs, ask);
  };
  return { everyMs, check };
}

export interface ReadinessOptions {
  readonly logger: Logger;
  /** @default none: the metric `longhaul_ready` is not kept */
  readonly metricMeter?: MetricMeter;
  /** How often a part that fails is checked. @default 5000 */
  readonly retryMs?: number;
  /** How long a check may take. @default 5000 */
  readonly timeoutMs?: number;
}

const defaultRetryMs = 5_000;
const defaultTimeoutMs = 5_000;

/** Checks in the background: a request is answered at once. A part that hangs is checked once. */
export class Readiness {
  readonly #states = new Map<string, boolean | undefined>();
  readonly #options: ReadinessOptions;
  readonly #ended = new AbortController();
  readonly #loops: readonly Promise<void>[];

  constructor(probes: Readonly<Record<string, Probe>>, options: ReadinessOptions) {
    this.#options = options;
    for (const part of Object.keys(probes)) this.#states.set(part, undefined);
    this.#loops = Object.entries(probes).map(([part, probe]) => this.#watch(part, probe));
  }

  /** Every part with how its last check ended; false before the first one. */
  get parts(): Readonly<Record<string, boolean>> {
    return Object.fromEntries([...this.#states].map(([part, isReady]) => [part, isReady ?? false]));
  }

  /** Waits for a check that hangs as long as one may take. */
  async stop(): Promise<void> {
    this.#ended.abort();
    const { timeoutMs = defaultTimeoutMs } = this.#options;
    await Promise.race([Promise.all(this.#loops), delay(timeoutMs, undefined, { ref: false })]);
  }

  async #watch(part: string, { check, everyMs }: Probe): Promise<void> {
    const { timeoutMs = defaultTimeoutMs, retryMs = defaultRetryMs } = this.#options;
    const { signal } = this.#ended;
    const tell = (isReady: boolean, error?: unknown): void => {
      if (signal.aborted) return;
      this.#tell(part, isReady, error);
    };
    while (!signal.aborted) {
      const timer = setTimeout(() => {
        tell(false, new Error(`no answer within ${timeoutMs} ms`));
      }, timeoutMs);
      try {
        await check();
        tell(true);
      } catch (error) {
        tell(false, error);
      } finally {
        clearTimeout(timer);
      }
      const pauseMs = this.#states.get(part) === true ? everyMs : Math.min(everyMs, retryMs);
      await delay(pauseMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  #tell(part: string, isReady: boolean, error: unknown): void {
    const { logger, metricMeter = noopMetricMeter } = this.#options;
    const wasReady = this.#states.get(part);
    this.#states.set(part, isReady);
    setGauge(metricMeter, metrics.ready, { part }, isReady ? 1 : 0);
    if (isReady === wasReady) return;
    if (!isReady) logger.warn({ part, err: error }, 'not ready');
    else if (wasReady === false) logger.info({ part }, 'ready again');
  }
}

export interface HealthServer {
  /** Of `/health`; `/live` and `/ready` are beside it. */
  readonly url: string;
  close(): Promise<void>;
}

export interface HealthSources {
  readonly states: () => readonly string[];
  readonly parts: () => Readonly<Record<string, boolean>>;
  readonly further: () => Readonly<Record<string, unknown>>;
}

/**
 * 200 for `GET /live` unless a part failed for good, `/ready` while it can work, `/health` while every worker runs;
 * else 503. The body names nothing but parts; no authentication. `undefined` without a place; port 0 takes a free one.
 */
export async function startHealthServer(
  place: SocketAddress | null,
  sources: HealthSources,
): Promise<HealthServer | undefined> {
  if (place === null) return undefined;
  const server = createServer(({ url = '' }, response) => {
    const [isGood, body] = answerTo(url, sources);
    if (body === undefined) response.writeHead(404).end();
    else response.writeHead(isGood ? 200 : 503, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(place.port, place.host, resolve);
  });
  // Of single connections that could not be accepted, for want of a file descriptor, say.
  server.on('error', () => undefined);
  const { port, address, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}/health`,
    close: async () => {
      server.closeAllConnections();
      await promisify(server.close.bind(server))();
    },
  };
}

function answerTo(
  url: string,
  { states, parts, further }: HealthSources,
): readonly [isGood: boolean, body?: Readonly<Record<string, unknown>>] {
  const workers = states();
  const areRunning = workers.every((state) => state === 'RUNNING');
  switch (url) {
    case '/live': {
      const isGood = !workers.includes('FAILED');
      return [isGood, { status: isGood ? 'ok' : 'failed' }];
    }
    case '/ready': {
      // Before the workers are made there is none.
      const all = { ...parts(), workers: areRunning && workers.length > 0 };
      const isGood = Object.values(all).every(Boolean);
      const shown = Object.entries(all).map(([part, isReady]) => [part, isReady ? 'ok' : 'not ready']);
      return [isGood, { status: isGood ? 'ok' : 'not ready', parts: Object.fromEntries(shown) }];
    }
    case '/health':
      return [areRunning, { status: areRunning ? 'ok' : 'not running', workers, ...further() }];
    default:
      return [false];
  }
}
