import { Client, type Connection } from '@temporalio/client';
import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import type { Logger } from 'pino';
import { startCallbackServer } from './callbacks/callback-server';
import { createSignalWorkflow, createTokenCheck } from './callbacks/callback-handler';
import type { ReceiverConfig } from './config/callback-config';

/** What a receiver is made of; the connection stays the caller's. */
export interface StartReceiverOptions {
  readonly config: ReceiverConfig;
  readonly connection: Connection;
  readonly namespace: string;
  readonly logger: Logger;
  /** @default none: nothing is counted */
  readonly metricMeter?: MetricMeter;
}

/** A receiver that listens. */
export interface RunningReceiver {
  readonly port: number;
  /** Settles when everything has been answered and is closed. */
  readonly stopped: Promise<void>;
  /** Begins a graceful stop: nothing new is taken, what is here is answered. May be repeated. */
  shutdown(): void;
}

/** How long Temporal may take to accept a signal; then the service is asked to call again. */
const signalTimeoutMs = 3_000;

/**
 * Starts the callback receiver: config, then Temporal, then the HTTP server. Throws when Temporal does not know the
 * namespace, or when the port cannot be had. Run as many as you like behind one address: it keeps nothing.
 */
export async function startReceiver(options: StartReceiverOptions): Promise<RunningReceiver> {
  const { config, connection, namespace, logger, metricMeter = noopMetricMeter } = options;
  const { callback } = config;
  await connection.workflowService.describeNamespace({ namespace });
  const { pathname: path } = new URL(callback.url);
  const server = await startCallbackServer({
    port: config.port,
    path,
    isAccepted: createTokenCheck(callback.tokens),
    signalWorkflow: createSignalWorkflow(new Client({ connection, namespace }), signalTimeoutMs),
    logger,
    metricMeter,
  });
  logger.info({ namespace, port: server.port, path }, 'receiver started');
  const stopped = server.closed.then(() => {
    logger.info('receiver stopped');
  });
  return {
    port: server.port,
    stopped,
    shutdown: () => {
      server.close();
    },
  };
}
