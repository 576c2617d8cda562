import { Client } from '@temporalio/client';
import { type MetricMeter, noopMetricMeter } from '@temporalio/common';
import { type NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { viewLimits } from './activities/accounts';
import { markProcessFailing } from './activities/heartbeat';
import { clientDataConverter, workerDataConverter } from './client/codec/data-converter';
import { SearchAttributesMissingError } from './client/connection-errors';
import type { TemporalAccess } from './client/temporal-access';
import { missingSearchAttributes } from './client/search-attribute-check';
import type { WorkerConfig } from './config/worker-config';
import { archiveTaskQueue, transferTaskQueue, watchTaskQueue, workflowTaskQueue } from './contract/task-queues';
import { type HealthServer, type Readiness, startHealthServer } from './servers/health';
import { type AllActivities, allActivities, closeDependencies, openDependencies } from './worker/activities';
import { shareLimits, workerIdentity } from './worker/limits';
import { ArchiveIdentity } from './storage/archive/archive-identity';
import { identifyArchive, logStart } from './worker/start-log';
import { replaySinks, startGauges, watchReadiness } from './worker/telemetry';
import type { OpenTraces } from './client/traces/open-traces';
import type { WorkerTraces } from './worker/worker-traces';
import { encodeFailures, openWorkflowBundle, sampleTraces, type WorkflowBundle } from './workflow-sources';

/** The connection stays the caller's. */
export interface StartWorkerOptions {
  readonly config: WorkerConfig;
  readonly connection: NativeConnection;
  readonly namespace: string;
  /** @default the contract's; tests have their own */
  readonly taskQueue?: string;
  readonly logger: Logger;
  /** Where its traces go. @default none: nothing of OpenTelemetry is loaded */
  readonly traces?: OpenTraces | undefined;
  /** @default the build's, or one of the sources when there is none */
  readonly workflowBundle?: WorkflowBundle;
  /** How often it checks Temporal and the archive, and counts the workers. @default 10 s, a minute, 20 s */
  readonly probeEveryMs?: number;
}

export interface RunningWorker {
  /** Settles when everything has stopped and is closed; rejects when a part of it failed. */
  readonly stopped: Promise<void>;
  /** The URL of the health endpoint; undefined when the config has no port for it. */
  readonly healthUrl: string | undefined;
  /** Takes nothing new; awaits the reply to a create on its way. May be repeated. */
  shutdown(): void;
  /** `shutdown` after an uncaught error: the health turns bad at once, and transfers that are cut off count. */
  fail(): void;
}

/** How long a worker that shuts down waits for the reply to a create on its way. */
const graceTime = '60 seconds';
const forceTime = '75 seconds';
/** Short: another worker starts a transfer over. */
const transferGraceTime = '3 seconds';

/** A watch heartbeats seldom, so each heartbeat is sent at once. */
const watchHeartbeat = '1 second';
/** After this long without its worker, a workflow goes on at another one. */
const stickyTimeout = '5 seconds';
/** How often the progress of a transfer is sent to Temporal. */
const transferHeartbeat = '1 second';

/** Throws, before money is spent, if a search attribute is missing, or the archive is unwritable or not the tasks'. */
export async function startWorker(options: StartWorkerOptions): Promise<RunningWorker> {
  const { config, connection, namespace, logger, probeEveryMs } = options;
  const meter = config.metrics === null ? noopMetricMeter : Runtime.instance().metricMeter;
  const missing = await missingSearchAttributes(connection, namespace);
  if (missing.length > 0) throw new SearchAttributesMissingError(namespace, `missing: ${missing.join(', ')}`);
  const traces = options.traces && (await loadWorkerTraces(options.traces));
  const dependencies = openDependencies(config, { logger, meter, traces });
  const access = temporalAccess(options, traces);
  const { taskQueue } = access;
  const state: ProcessState = { workers: [], hasStarted: false, hasFailed: false };
  let health: HealthServer | undefined;
  let readiness: Readiness | undefined;
  const repeated: (() => void)[] = [];
  const close = async (): Promise<void> => {
    for (const stop of repeated) stop();
    await health?.close();
    await readiness?.stop();
    await closeDependencies(dependencies);
  };
  const shutdown = (): void => {
    for (const worker of state.workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  };
  try {
    await dependencies.archive.check();
    const archiveId = await identifyArchive(dependencies.archive, config.replacesArchive, access, logger);
    const archiveIdentity = new ArchiveIdentity(dependencies.archive, archiveId);
    const { reserveBytes } = config.outputs;
    const watched = { archive: dependencies.archive, archiveIdentity, reserveBytes, metricMeter: meter, probeEveryMs };
    readiness = watchReadiness({ ...options, ...watched });
    // Before the workers: one that was never run would keep the connection open.
    const accounts = (): Record<string, unknown> => ({ accounts: viewLimits(dependencies.limits) });
    const further = (): Record<string, unknown> => (config.healthTellsAccounts ? accounts() : {});
    const told = { states: () => statesOf(state), parts: () => readiness?.parts ?? {}, further };
    health = await startHealthServer(config.health, told);
    const sharing = { ...options, taskQueue, archiveId, countEveryMs: probeEveryMs };
    repeated.push(await shareLimits(dependencies.limits, sharing));
    const activities = allActivities({ ...dependencies, archiveIdentity }, config, access, logger);
    const identity = workerIdentity(archiveId);
    state.workers = await createWorkers(options, { activities, traces, identity, meter });
    const place = { archive: dependencies.archive, health: health?.url };
    const onStarted = (): boolean => (state.hasStarted = true);
    repeated.push(logStart({ ...options, meter, taskQueue, identity }, place, onStarted));
  } catch (error) {
    await close();
    throw error;
  }
  if (config.metrics !== null) repeated.push(startGauges({ ...dependencies, access, meter, logger }));
  const stopped = runAll(state.workers, shutdown).finally(async () => {
    await close();
    logger.info('worker stopped');
  });
  const fail = (): void => {
    state.hasFailed = true;
    markProcessFailing();
    shutdown();
  };
  return { stopped, shutdown, fail, healthUrl: health?.url };
}

interface ProcessState {
  workers: readonly Worker[];
  /** Whether Temporal knows that they poll. */
  hasStarted: boolean;
  hasFailed: boolean;
}

function statesOf({ workers, hasStarted, hasFailed }: ProcessState): string[] {
  const states = workers.map((worker) => worker.getState());
  const shown = states.map((state) => (state === 'RUNNING' && !hasStarted ? 'STARTING' : state));
  return hasFailed ? [...shown, 'FAILED'] : shown;
}

/** On demand: without traces nothing of OpenTelemetry is loaded. */
async function loadWorkerTraces(traces: OpenTraces): Promise<WorkerTraces> {
  const { openWorkerTraces } = await import('./worker/worker-traces.js');
  return openWorkerTraces(traces);
}

function temporalAccess(options: StartWorkerOptions, traces: WorkerTraces | undefined): TemporalAccess {
  const { config, connection, namespace, taskQueue = workflowTaskQueue } = options;
  const dataConverter = clientDataConverter(config.codecKeys);
  const interceptors = { workflow: traces?.clientInterceptors ?? [] };
  const client = new Client({ connection, namespace, dataConverter, interceptors });
  return { client, address: 'the address of this worker', taskQueue, webUiUrl: null };
}

/**
 * For one step of a workflow: thousands of waiting messages take many seconds, and ending a step may end the process.
 * The SDK does not document this option. @internal exported for tests
 */
export const workflowThread = { isolateExecutionTimeout: '2 minutes' } as const;

/** With a build id, workflows end on their version, or move on when they continue as new; so do their activities. */
function deploymentOptions({ version }: WorkerConfig): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (version === null) return {};
  return { workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' } };
}

async function toWorkerBundle({ config, traces, workflowBundle }: StartWorkerOptions): Promise<WorkflowBundle> {
  const bundle = workflowBundle ?? (await openWorkflowBundle(traces === undefined ? 'plain' : 'traced'));
  const sampled = traces === undefined ? bundle : await sampleTraces(bundle, traces.sampleRatio);
  return config.codecKeys === null ? sampled : await encodeFailures(sampled);
}

interface WorkerParts {
  readonly activities: AllActivities;
  readonly traces: WorkerTraces | undefined;
  /** Under which Temporal knows their requests for work. */
  readonly identity: string;
  readonly meter: MetricMeter;
}

async function createWorkers(
  options: StartWorkerOptions,
  { activities, traces, identity, meter }: WorkerParts,
): Promise<readonly Worker[]> {
  const { config, connection, namespace, logger, taskQueue = workflowTaskQueue } = options;
  const { slots } = config;
  const common = {
    connection,
    namespace,
    activities,
    dataConverter: workerDataConverter(config.codecKeys),
    identity,
    ...deploymentOptions(config),
    ...traces?.workerOptions,
    sinks: { ...replaySinks(logger, meter, slots.cachedWorkflows), ...traces?.workerOptions.sinks },
    shutdownForceTime: forceTime,
  };
  // The SDK refuses more requests for work than slots.
  const activitySlots = (count: number) => ({
    maxConcurrentActivityTaskExecutions: count,
    maxConcurrentActivityTaskPolls: Math.min(count, slots.pollers),
  });
  const transfers = { maxHeartbeatThrottleInterval: transferHeartbeat, shutdownGraceTime: transferGraceTime };
  const workflowWorker = {
    ...common,
    ...workflowThread,
    workflowBundle: await toWorkerBundle(options),
    taskQueue,
    maxCachedWorkflows: slots.cachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: slots.workflowTasks,
    maxConcurrentWorkflowTaskPolls: Math.min(slots.workflowTasks, slots.pollers),
    // Queries, which run beside their workflow tasks.
    maxConcurrentLocalActivityExecutions: 2 * slots.workflowTasks,
    ...activitySlots(slots.activities),
    stickyQueueScheduleToStartTimeout: stickyTimeout,
    shutdownGraceTime: graceTime,
  };
  const uploadWorker = {
    ...common,
    ...transfers,
    taskQueue: transferTaskQueue(taskQueue),
    ...activitySlots(slots.uploads),
  };
  const archiveWorker = {
    ...common,
    ...transfers,
    taskQueue: archiveTaskQueue(taskQueue),
    ...activitySlots(slots.archives),
  };
  const watchWorker = {
    ...common,
    taskQueue: watchTaskQueue(taskQueue),
    ...activitySlots(slots.watches),
    maxHeartbeatThrottleInterval: watchHeartbeat,
    // Another worker goes on from the last heartbeat, so a watch gives way at once.
    shutdownGraceTime: 0,
  };
  return await Promise.all([workflowWorker, uploadWorker, archiveWorker, watchWorker].map((one) => Worker.create(one)));
}

/** When one fails, the others are stopped before the failure is passed on. */
async function runAll(workers: readonly Worker[], shutdown: () => void): Promise<void> {
  const runs = workers.map(async (worker) => {
    try {
      await worker.run();
    } finally {
      shutdown();
    }
  });
  await Promise.allSettled(runs);
  await Promise.all(runs);
}
