import { DefaultLogger, Runtime } from '@temporalio/worker';

let isInstalled = false;

/** One runtime per process, and only warnings of it. */
export function quietRuntime(): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({ logger: new DefaultLogger('ERROR') });
}
