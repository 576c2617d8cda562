import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { hasCurrentVersion, setCurrentCommand } from './client/worker-versions';
import { packageVersion } from './config/package-version';
import type { WorkerConfig } from './config/worker-config';
import { errorCode, errorMessage } from './domain/text';

/** A worker that has started. */
interface StartedWorker {
  readonly config: WorkerConfig;
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly logger: Logger;
}

/** So many accounts are named. */
const maxAccounts = 50;
/** How long Temporal may take to answer. */
const askTimeoutMs = 5_000;

/**
 * Logs what a worker is that has started, without secrets, and warns of what would keep its tasks from going on although
 * it runs: input roots that cannot be read, and a build id without a current version. What is checked takes its time in
 * the background.
 */
export function logStart(
  worker: StartedWorker,
  place: { readonly archive: string; readonly health?: string | undefined },
): void {
  const { config, namespace, logger } = worker;
  logger.info({ namespace, ...place, ...choicesOf(config) }, 'worker started');
  void warnOfRoots(config, logger);
  void warnOfVersion(worker);
}

function choicesOf({ accounts, version, codecKeys, inputRoots, webhooks }: WorkerConfig): object {
  return {
    longhaul: packageVersion(),
    services: [...new Set([...accounts.values()].map(({ serviceUrl }) => new URL(serviceUrl).host))],
    accounts: [...accounts.keys()].slice(0, maxAccounts),
    ...(accounts.size > maxAccounts && { furtherAccounts: accounts.size - maxAccounts }),
    inputRoots,
    version,
    encryptsWith: codecKeys?.current ?? null,
    ...(webhooks.size > 0 && { webhooks: [...webhooks.keys()] }),
  };
}

async function warnOfRoots({ inputRoots }: WorkerConfig, logger: Logger): Promise<void> {
  const problems = await Promise.all(
    inputRoots.map(async (folder) => {
      const error: unknown = await access(folder, constants.R_OK | constants.X_OK).catch((caught: unknown) => caught);
      return error === undefined ? [] : [`${folder} (${errorCode(error) || errorMessage(error)})`];
    }),
  );
  const folders = problems.flat();
  if (folders.length === 0) return;
  const words = `no file in a folder of LONGHAUL_INPUT_ROOTS that cannot be read is taken as an input; folders are separated by "${path.delimiter}"`;
  logger.warn({ folders }, words);
}

async function warnOfVersion({ config: { version }, connection, namespace, logger }: StartedWorker): Promise<void> {
  if (version === null) return;
  const { deploymentName } = version;
  try {
    const ask = () => hasCurrentVersion(connection.workflowService, namespace, deploymentName);
    if ((await connection.withDeadline(Date.now() + askTimeoutMs, ask)) !== false) return;
    const words = `no current version of deployment "${deploymentName}": tasks are not given to it (docs/guides/versions.md)`;
    logger.warn({ version, command: setCurrentCommand(namespace, version) }, words);
  } catch (error) {
    logger.debug({ err: error, version }, 'whether the deployment has a current version could not be asked');
  }
}
