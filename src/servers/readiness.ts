import { setTimeout as delay } from 'node:timers/promises';
import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import type { Logger } from 'pino';
import { metrics, setGauge } from '../contract/metrics';

/** Checks one part that a process needs and that may fail by itself; rejects when it cannot be used. */
export interface Probe {
  readonly check: () => Promise<void>;
  /** How often, while it succeeds. */
  readonly everyMs: number;
}

/** Options of a {@link Readiness}. */
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

/**
 * Whether the parts that a process needs can be used, by checks that go on in the background: a request for it is
 * answered at once, however long a part takes. A part that hangs is checked once, not again and again.
 */
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

  /** Stops checking; a check that hangs is waited for as long as one may take. */
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
