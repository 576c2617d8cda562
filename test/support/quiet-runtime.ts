import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';

let isInstalled = false;

/** One runtime per process, of which only errors are printed, the core's too. */
export function quietRuntime(): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'ERROR', other: 'ERROR' }) } },
  });
}
