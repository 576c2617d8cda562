import { access, constants } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { MetricMeter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { findOtherArchive } from '../client/archive-of-tasks';
import type { TemporalAccess } from '../client/temporal-access';
import { hasCurrentVersion, setCurrentCommand } from '../client/workers';
import { type Account, serviceOptions, serviceRemedy } from '../config/accounts';
import { longhaulVersion } from '../core/version';
import type { WorkerConfig } from '../config/worker-config';
import { archiveTaskQueue, transferTaskQueue, watchTaskQueue } from '../contract/task-queues';
import { errorCode, errorMessage } from '../core/text';
import { ServiceClient, ServiceError, UnauthorizedError } from '../service';
import type { Archive } from '../storage/archive/archive';
import { readArchiveIdentity, requireArchiveOfTasks } from '../storage/archive/archive-identity';
import { ArchiveError } from '../storage/errors';
import { askPollers } from './limits';
import { keyGauge } from './telemetry';

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = temporal.api.enums.v1.TaskQueueType;

interface StartedWorker {
  readonly config: WorkerConfig;
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly identity: string;
  readonly logger: Logger;
  readonly meter: MetricMeter;
}

/** So many accounts are named, and their keys tried. */
const maxAccounts = 50;
/** So many keys are tried side by side, each for so long, and all of them together for so long. */
const keysAtOnce = 4;
const keyTimeoutMs = 10_000;
const allKeysTimeoutMs = 60_000;
/** How long Temporal may take to answer, and which archive the tasks have, on which money depends. */
const askTimeoutMs = 5_000;
const askArchiveTimeoutMs = 20_000;
/** How long a folder may take, which may be on another machine. */
const rootTimeoutMs = 10_000;
const askQueueEveryMs = 200;
/** Each is of a queue's first partition: requests for work that so many answers lack are at another one. */
const enoughAnswers = 25;

/**
 * A new archive is given an id, which is logged. Throws ArchiveError, before the worker polls, where the tasks have
 * another archive, or this is of another namespace: their keys could be paid twice, or not at all.
 */
export async function identifyArchive(
  archive: Archive,
  replaces: string | null,
  { client, taskQueue }: Pick<TemporalAccess, 'client' | 'taskQueue'>,
  logger: Logger,
): Promise<string> {
  const { location } = archive;
  const find = () =>
    requireArchiveOfTasks(archive, async (identity) => {
      const ask = () => findOtherArchive(client, taskQueue, { identity, replaces });
      return await client.connection.withDeadline(Date.now() + askArchiveTimeoutMs, ask).catch((error: unknown) => {
        // An empty folder may be an unmounted disk: no archive until Temporal says that no task has another.
        if (identity === null) {
          const words = `${location} has no id yet, and Temporal could not be asked whether the tasks have another archive (${errorMessage(error)}). Mount its disk if it has one, and start the worker again once Temporal answers`;
          throw new ArchiveError('ARCHIVE_UNUSABLE', words, { cause: error });
        }
        logger.warn({ err: error, archive: location }, 'which archive the tasks have could not be asked');
        return undefined;
      });
    });
  const found = await find();
  if (found !== null) return found.id;
  const words =
    'this archive is new: it has no id and no create record; if it should, correct LONGHAUL_ARCHIVE, mount its disk, or copy its hidden files, too';
  logger.info({ archive: location }, words);
  const { id } = await readArchiveIdentity(archive, client.options.namespace);
  // A worker of another namespace may have been first.
  await find();
  return id;
}

/**
 * Logs what a worker is once it polls, and warns of what would hold up tasks. In the background; returns how to stop.
 */
export function logStart(
  worker: StartedWorker,
  { archive, health }: { readonly archive: Archive; readonly health?: string | undefined },
  onStarted: () => unknown,
): () => void {
  const { config, namespace, taskQueue, logger } = worker;
  const stopping = new AbortController();
  void untilQueuesKnow(worker, stopping.signal).then(() => {
    if (stopping.signal.aborted) return;
    onStarted();
    logger.info(
      { namespace, taskQueue, node: process.version, archive: archive.location, health, ...choicesOf(config) },
      'worker started',
    );
    void warnOfRoots(config, logger);
    void warnOfVersion(worker);
    void warnOfAccounts(worker, stopping.signal);
  });
  return () => {
    stopping.abort();
  };
}

/** Waits until Temporal has requests for work of this worker at each of its queues; ends early when it is stopped. */
async function untilQueuesKnow(worker: StartedWorker, signal: AbortSignal): Promise<void> {
  const { taskQueue, identity } = worker;
  const queues = [
    { name: taskQueue, taskQueueType: TASK_QUEUE_TYPE_WORKFLOW },
    ...[taskQueue, transferTaskQueue(taskQueue), archiveTaskQueue(taskQueue), watchTaskQueue(taskQueue)].map(
      (name) => ({ name, taskQueueType: TASK_QUEUE_TYPE_ACTIVITY }),
    ),
  ];
  for (const queue of queues) {
    let answers = 0;
    while (!signal.aborted && answers < enoughAnswers) {
      const pollers = await askPollers(worker, queue).catch(() => undefined);
      if (pollers?.some((poller) => poller.identity === identity)) break;
      if (pollers !== undefined) answers += 1;
      await delay(askQueueEveryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

function choicesOf({ accounts, version, codecKeys, inputRoots, webhooks, extraCaCerts }: WorkerConfig): object {
  return {
    longhaul: longhaulVersion,
    services: [...new Set([...accounts.values()].map(({ serviceUrl }) => new URL(serviceUrl).host))],
    accounts: [...accounts.keys()].slice(0, maxAccounts),
    furtherAccounts: accounts.size > maxAccounts ? accounts.size - maxAccounts : undefined,
    inputRoots,
    version,
    encryptsWith: codecKeys?.current ?? null,
    webhooks: webhooks.size > 0 ? [...webhooks.keys()] : undefined,
    extraCaCerts: extraCaCerts ?? undefined,
  };
}

async function warnOfRoots({ inputRoots }: WorkerConfig, logger: Logger): Promise<void> {
  const problems = inputRoots.map(async (folder) => {
    const read = access(folder, constants.R_OK | constants.X_OK).then(
      () => undefined,
      (error: unknown) => errorCode(error) || errorMessage(error),
    );
    const reason = await Promise.race([read, delay(rootTimeoutMs, 'no answer', { ref: false })]);
    return reason === undefined ? [] : [`${folder} (${reason})`];
  });
  const folders = (await Promise.all(problems)).flat();
  if (folders.length === 0) return;
  const words = `LONGHAUL_INPUT_ROOTS has folders that cannot be read, and tasks whose files are there wait: mount them, correct their paths (folders are separated by "${path.delimiter}"), or leave them out`;
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

/** Otherwise a wrong key would show with the first task only, maybe hours later. */
async function warnOfAccounts(worker: StartedWorker, stopping: AbortSignal): Promise<void> {
  const { accounts } = worker.config;
  const signal = AbortSignal.any([stopping, AbortSignal.timeout(allKeysTimeoutMs)]);
  const waiting = [...accounts.values()].slice(0, maxAccounts).values();
  const tryKeys = async (): Promise<void> => {
    for (const account of waiting) {
      if (signal.aborted) return;
      await warnOfAccount(account, worker, signal);
    }
  };
  await Promise.all(Array.from({ length: keysAtOnce }, tryKeys));
}

/** Asks for the account's own metadata (specification, section 4.9), which creates nothing. */
async function warnOfAccount(account: Account, { logger, meter }: StartedWorker, signal: AbortSignal): Promise<void> {
  // Not the activities' client: its log would warn of a refused key a second time.
  const service = new ServiceClient({ ...serviceOptions(account), onRequest: keyGauge(meter, account.name) });
  try {
    await service.getUserMetadata({ signal, timeoutMs: keyTimeoutMs });
  } catch (error) {
    if (signal.aborted) return;
    const words =
      error instanceof UnauthorizedError
        ? 'the service refuses the API key of the account, so none of its tasks can run'
        : 'the service does not answer the account as it should';
    const code = error instanceof ServiceError ? error.code : undefined;
    logger.warn({ account: account.name, problem: errorMessage(error), remedy: serviceRemedy(account, code) }, words);
  } finally {
    await service.close();
  }
}
