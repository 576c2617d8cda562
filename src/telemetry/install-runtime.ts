import { makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import type { Logger } from 'pino';
import { temporalLogger } from './temporal-logger';

let isInstalled = false;

/**
 * Makes Temporal's runtime of this process log through `logger`, its native part included. The runtime exists once per
 * process and cannot be replaced, so only the first call counts; it must come before any connection or worker.
 *
 * Signals stay the caller's own: a worker is shut down in one place, by whoever started it.
 */
export function installRuntime(logger: Logger): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({
    logger: temporalLogger(logger),
    shutdownSignals: [],
    telemetryOptions: {
      logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }), forward: {} },
    },
  });
}
