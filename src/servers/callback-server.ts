import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import type { Logger } from 'pino';
import { count, metrics } from '../contract/metrics';
import { listen, type ListeningServer } from './listening-server';
import { CallbackHandler, type CallbackHandlerOptions } from './callback-handler';

/** What a callback server is made of. */
export interface CallbackServerOptions extends CallbackHandlerOptions {
  /** 0 takes a free one. */
  readonly port: number;
  readonly logger: Logger;
  /** @default none: nothing is counted */
  readonly metricMeter?: MetricMeter;
  /** How long a request may take to arrive. @default 3000 */
  readonly requestTimeoutMs?: number;
}

/** Together with the wait for Temporal it stays under the 10 s that the service waits (specification, section 6). */
const defaultRequestTimeoutMs = 3_000;

/** Starts listening on all addresses. Rejects with the system's error when the port is not available. */
export async function startCallbackServer(options: CallbackServerOptions): Promise<ListeningServer> {
  const { port, logger, metricMeter = noopMetricMeter, requestTimeoutMs = defaultRequestTimeoutMs } = options;
  const handler = new CallbackHandler(options);
  return await listen({
    port,
    requestTimeoutMs,
    logger,
    logAs: 'callback',
    handle: (request) => handler.handle(request),
    onAnswered: (handled, durationMs) => {
      const { httpStatus, outcome, workflowId, requestId, reason } = handled;
      if (outcome === undefined) return;
      let level: 'debug' | 'info' | 'warn' = httpStatus === 200 ? 'info' : 'warn';
      // Requests for other paths are usual at a public address.
      if (requestId === undefined && (httpStatus === 404 || httpStatus === 405)) level = 'debug';
      logger[level]({ outcome, httpStatus, workflowId, requestId, reason, durationMs }, 'callback');
      count(metricMeter, metrics.callbacks, { outcome });
    },
    onFailed: (outcome) => {
      count(metricMeter, metrics.callbacks, { outcome });
    },
  });
}
