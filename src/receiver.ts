import { Client, type Connection } from '@temporalio/client';
import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import type { Logger } from 'pino';
import { clientDataConverter } from './client/codec/data-converter';
import { loadClientTraces } from './client/client-traces';
import type { ReceiverConfig } from './config/callback-config';
import { createSignalWorkflow, startCallbackServer } from './servers/callback-server';
import { Readiness, temporalProbe } from './servers/health';
import { createTokenCheck } from './servers/listening-server';

/** The connection stays the caller's. */
export interface StartReceiverOptions {
  readonly config: ReceiverConfig;
  readonly connection: Connection;
  readonly namespace: string;
  readonly logger: Logger;
  /** @default false: nothing of OpenTelemetry is loaded */
  readonly isTraced?: boolean;
  /** @default none: nothing is counted */
  readonly metricMeter?: MetricMeter;
  /** How often Temporal is asked. @default 10 s */
  readonly probeEveryMs?: number;
}

export interface RunningReceiver {
  readonly port: number;
  /** Settles when everything has been answered and is closed. */
  readonly stopped: Promise<void>;
  /** Takes nothing new, and answers what is here. May be repeated. */
  shutdown(): void;
}

/** How long Temporal may take to accept a signal; then the service is asked to call again. */
const signalTimeoutMs = 3_000;

/** Keeps no state: any number may run. Throws when Temporal lacks the namespace, or the port cannot be had. */
export async function startReceiver(options: StartReceiverOptions): Promise<RunningReceiver> {
  const { config, connection, namespace, logger, metricMeter = noopMetricMeter } = options;
  const { callback } = config;
  await connection.workflowService.describeNamespace({ namespace });
  const { pathname: path } = new URL(callback.url);
  const interceptors = { workflow: await loadClientTraces(options.isTraced === true) };
  const dataConverter = clientDataConverter(config.codecKeys);
  const temporal = temporalProbe(connection, namespace, options.probeEveryMs);
  const readiness = new Readiness({ temporal }, { logger, metricMeter });
  const server = await startCallbackServer({
    port: config.port,
    path,
    isAccepted: createTokenCheck(callback.tokens),
    headerPrefix: callback.headerPrefix,
    signalWorkflow: createSignalWorkflow(
      new Client({ connection, namespace, dataConverter, interceptors }),
      signalTimeoutMs,
    ),
    isReady: () => Object.values(readiness.parts).every(Boolean),
    logger,
    metricMeter,
  }).catch(async (error: unknown) => {
    await readiness.stop();
    throw error;
  });
  const encryptsWith = config.codecKeys?.current ?? null;
  logger.info({ namespace, port: server.port, path, encryptsWith }, 'receiver started');
  const stopped = server.closed.then(async () => {
    await readiness.stop();
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
