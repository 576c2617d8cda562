import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import pino, { type Logger } from 'pino';
import sharp from 'sharp';
import { loadApps, type AppCatalog } from './apps/app-catalog';
import { Semaphore } from './apps/semaphore';
import { CallbackSender } from './callbacks/callback-sender';
import { readSettings, type Config, type ReferenceServiceSettings } from './config';
import { createHttpServer } from './http/create-http-server';
import { Ledger } from './ledger';
import { ResourceBook } from './resources/resource-book';
import { ScenarioBook } from './scenarios/scenario-book';
import type { ServiceParts } from './service-parts';
import { CredentialAuthority } from './storage/credential-authority';
import { startIamServer, type IamServer } from './storage/iam-server';
import { ObjectStore } from './storage/object-store';
import type { StartStorage, StorageServer } from './storage/storage-server';
import { createExecutor } from './tasks/execute-task';
import { Scheduler } from './tasks/scheduler';
import { createTaskShow } from './tasks/show-task';
import type { Task } from './tasks/task';
import { TaskBook } from './tasks/task-book';

/** What a service is started with. */
export interface ReferenceServiceOptions extends ReferenceServiceSettings {
  /** Starts the S3 server; the service stops it together with itself. */
  readonly startStorage: StartStorage;
  /** Where the service logs; silent by default. */
  readonly logger?: Logger;
}

/** A running service. */
export interface ReferenceService {
  /** Base URL, without a slash at the end. */
  readonly url: string;
  /** API key of the first account. */
  readonly apiKey: string;
  /** All accounts with their keys. */
  readonly accounts: Config['accounts'];
  /** The S3 server behind the service; its root keys are not for clients. */
  readonly storage: StorageServer;
  readonly bucket: string;
  readonly apps: AppCatalog;
  /** What the service was asked. */
  readonly ledger: Ledger;
  /** The tasks, to look at. */
  readonly tasks: TaskBook;
  /** Requests that shall misbehave. */
  readonly scenarios: ScenarioBook;
  /** Temporary upload credentials, to end them early. */
  readonly authority: CredentialAuthority;
  /** Lets a task go that was created with the scenario `hold`; no effect on another. */
  release(requestId: string): void;
  /** Ends a task as Failed, wherever it is; no effect on one that has ended or is not there. */
  fail(requestId: string, message: string): void;
  /** Deletes an input resource, as its owner could; its object stays in the bucket. False when it is not there. */
  removeResource(resourceId: number): boolean;
  /** Stops listening, aborts what runs, stops the storage. Repeating it has no effect. */
  stop(): Promise<void>;
}

/** Starts the service of the specification. Throws when a setting, an app or the storage is not in order. */
export async function startReferenceService(options: ReferenceServiceOptions): Promise<ReferenceService> {
  const { startStorage, logger = pino({ level: 'silent' }), ...settings } = options;
  const config = readSettings(settings);
  const apps = await loadApps(config.appsFolder);
  // One thread per operation: how many run at once is bounded by `computingNodes` instead.
  sharp.concurrency(1);
  const authority = new CredentialAuthority();
  const iam = await startIamServer(authority);
  const storage = await startOrUndo(
    () => startStorage({ iamSocket: iam.socketPath, region: config.signingRegion }),
    [iam],
  );
  return startOrUndo(() => listen(assembleParts({ config, logger, apps, authority, storage }), iam), [storage, iam]);
}

async function listen(parts: ServiceParts, iam: IamServer): Promise<ReferenceService> {
  const { config, scheduler, storage, tasks } = parts;
  await parts.store.prepare();
  const server = createHttpServer(parts);
  await server.listen({ host: config.host, port: config.port });
  const url = `http://${config.host}:${portOf(server.server.address())}`;
  parts.logger.info({ url, apps: parts.apps.size }, 'reference service is listening');
  const withTask = (requestId: string, act: (task: Task) => void): void => {
    const task = tasks.find(requestId);
    if (task !== undefined) act(task);
  };
  let stopping: Promise<void> | undefined;
  return {
    url,
    apiKey: config.accounts[0]?.apiKey ?? '',
    accounts: config.accounts,
    bucket: config.bucket,
    storage,
    apps: parts.apps,
    ledger: parts.ledger,
    tasks,
    scenarios: parts.scenarios,
    authority: parts.authority,
    release: (requestId) => {
      withTask(requestId, (task) => {
        scheduler.release(task);
      });
    },
    fail: (requestId, message) => {
      withTask(requestId, (task) => {
        scheduler.fail(task, message);
      });
    },
    removeResource: (resourceId) => parts.resources.remove(resourceId),
    stop: () => (stopping ??= stopAll(parts, server, iam)),
  };
}

async function stopAll(parts: ServiceParts, server: FastifyInstance, iam: IamServer): Promise<void> {
  await server.close();
  await parts.scheduler.stop();
  await parts.callbacks.stop();
  parts.tasks.close();
  parts.store.close();
  await parts.storage.stop();
  await iam.stop();
}

function assembleParts(
  given: Pick<ServiceParts, 'config' | 'logger' | 'apps' | 'authority' | 'storage'>,
): ServiceParts {
  const { config, logger, storage } = given;
  const store = new ObjectStore(storage, config.bucket, config.linkStyle);
  const tasks = new TaskBook({
    resultLifetimeMs: config.resultLifetimeMs,
    keptTasks: config.keptTasks,
    onExpired: (task) => {
      Promise.all(task.outputs.map(({ objectKey }) => store.remove(objectKey))).catch((error: unknown) => {
        logger.warn({ err: error, requestId: task.requestId }, 'the files of an expired task could not be removed');
      });
    },
  });
  const show = createTaskShow(store, tasks, config.linkLifetimeMs);
  return {
    ...given,
    store,
    tasks,
    show,
    ledger: new Ledger(config.ledgerEntriesPerEndpoint),
    resources: new ResourceBook(),
    scenarios: new ScenarioBook(),
    scheduler: new Scheduler(config, createExecutor(store, new Semaphore(config.computingNodes))),
    callbacks: new CallbackSender(config.callbacks, { logger, bodyOf: (task) => show.result(task, 'callback') }),
  };
}

/** Starts one more thing; when that fails, stops what it was to be built on. */
async function startOrUndo<Result>(
  start: () => Promise<Result>,
  started: readonly { stop(): Promise<void> }[],
): Promise<Result> {
  try {
    return await start();
  } catch (error) {
    for (const each of started) await each.stop();
    throw error;
  }
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}
