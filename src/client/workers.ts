import { status as grpcStatus } from '@grpc/grpc-js';
import { Client, type WorkflowService } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import type { TemporalConnection } from '../config/temporal-connection';
import { formatDuration } from '../core/time';
import { connectTemporal } from './connect-temporal';
import { readClockAheadMs } from './server-clock';
import { listWorkflows, runningOn, toMs } from './workflow-info';

// The workers of a task queue: which ones poll it, and to which of their versions Temporal gives tasks.

const { WORKER_VERSIONING_MODE_VERSIONED } = temporal.api.enums.v1.WorkerVersioningMode;
const { TASK_QUEUE_TYPE_WORKFLOW } = temporal.api.enums.v1.TaskQueueType;
const { WORKER_STATUS_RUNNING, WORKER_STATUS_SHUTTING_DOWN, WORKER_STATUS_SHUTDOWN } =
  temporal.api.enums.v1.WorkerStatus;

/** A poller that asked longer ago is gone: an idle worker asks again after 60 s at the latest. */
const pollerIsGoneAfterMs = 90_000;
/** Of a worker that asked longer ago than this, the words say that it may have been killed since. */
const isSureMs = 10_000;
/** A worker reports every 20 s (worker/temporal-runtime.ts), by its own clock; by Temporal's, it asks again after 60 s. */
const [isSilentAfterMs, asksAgainAfterMs] = [45_000, 62_000];
/** A request for work of a worker that stops may reach Temporal, or end there, a moment after it said so. */
const lastAskMs = 500;
/** For at most so many workers of a queue it is read whether they said that they stop. */
const maxWorkers = 1_000;

export type PollerInfo = temporal.api.taskqueue.v1.PollerInfo.$Properties;

/** What knows which workers said that they stop. */
export interface WorkerList {
  listWorkers(request: { readonly namespace: string; readonly query: string; readonly pageSize: number }): Promise<{
    readonly workersInfo: readonly Pick<temporal.api.worker.v1.WorkerInfo.$Properties, 'workerHeartbeat'>[];
  }>;
}

export interface QueuePollers {
  /** Those that asked within the time of a long poll, and have not stopped since. */
  readonly live: readonly PollerInfo[];
  /** Identities of those that still wait for work and do not report any more: stopped, hanging or killed just now. */
  readonly silent: readonly string[];
  /** For a person: how many poll and since when the latest has not asked, or when the last one did. */
  readonly found: string;
}

interface SeenQueue {
  readonly namespace: string;
  readonly name: string;
  readonly pollers: readonly PollerInfo[];
  /** By how much this machine's clock is ahead of Temporal's. @default 0 */
  readonly aheadMs?: number | undefined;
}

/** Temporal forgets a poller after minutes: one that stopped says so, one that was killed only does not ask again. */
export async function readPollers(
  workers: WorkerList,
  { namespace, name, pollers, aheadMs = 0 }: SeenQueue,
): Promise<QueuePollers> {
  const nowMs = Date.now() - aheadMs;
  const ageMs = ({ lastAccessTime }: PollerInfo): number => nowMs - (toMs(lastAccessTime) ?? 0);
  const recent = pollers.filter((poller) => ageMs(poller) < pollerIsGoneAfterMs);
  const { stops, reports } = recent.length === 0 ? noReports : await readReports(workers, namespace, name);
  // One with the same identity may have been started since: a container that restarts keeps its host name and its pid.
  const live = recent.filter(
    ({ identity, lastAccessTime }) => (toMs(lastAccessTime) ?? 0) > (stops.get(identity ?? '') ?? 0) + lastAskMs,
  );
  const silent = live.flatMap((poller) => {
    const identity = poller.identity ?? '';
    const isLate = nowMs - (reports.get(identity) ?? nowMs) > isSilentAfterMs;
    return isLate && ageMs(poller) > asksAgainAfterMs ? [identity] : [];
  });
  const ask = live.length === 1 ? 'which asked for work' : 'of which the latest asked for work';
  const lastMs = Math.min(...(live.length > 0 ? live : pollers).map(ageMs));
  const last = `${formatDuration(Math.max(0, lastMs))} ago`;
  // Nothing tells a killed worker from an idle one until then.
  const doubt =
    lastMs > isSureMs ? `; one that was killed since counts for ${formatDuration(pollerIsGoneAfterMs)}` : '';
  if (live.length > 0) {
    return { live, silent, found: `${live.length} at the task queue "${name}", ${ask} ${last}${doubt}` };
  }
  const none = `none polls the task queue "${name}"`;
  if (pollers.length === 0) return { live, silent, found: none };
  const how = recent.length > 0 ? 'was stopped; it had asked for work' : 'asked for work';
  return { live, silent, found: `${none}; the last one ${how} ${last}` };
}

interface WorkerReports {
  /** When they said that they stop, in milliseconds since 1970, by identity; none that runs is among them. */
  readonly stops: ReadonlyMap<string, number>;
  /** When those that run reported last, by their own clocks. */
  readonly reports: ReadonlyMap<string, number>;
}
const noReports: WorkerReports = { stops: new Map(), reports: new Map() };

async function readReports(workers: WorkerList, namespace: string, queue: string): Promise<WorkerReports> {
  const [stops, reports] = [new Map<string, number>(), new Map<string, number>()];
  try {
    const query = `TaskQueue = ${JSON.stringify(queue)}`;
    const { workersInfo } = await workers.listWorkers({ namespace, query, pageSize: maxWorkers });
    for (const { workerHeartbeat } of workersInfo) {
      const { workerIdentity, status, heartbeatTime } = workerHeartbeat ?? {};
      if (workerIdentity == null) continue;
      const isStopping = status === WORKER_STATUS_SHUTTING_DOWN || status === WORKER_STATUS_SHUTDOWN;
      const seen = status === WORKER_STATUS_RUNNING ? reports : isStopping ? stops : undefined;
      seen?.set(workerIdentity, Math.max(toMs(heartbeatTime) ?? 0, seen.get(workerIdentity) ?? 0));
    }
    for (const identity of reports.keys()) stops.delete(identity);
  } catch {
    // A server that keeps no list of workers, or not for this client: what is known is when each asked for work.
  }
  return { stops, reports };
}

/** Those that poll for workflows. Throws errors of gRPC. */
async function readWorkflowPollers(client: Client, name: string): Promise<QueuePollers> {
  const { workflowService, options } = client;
  const { namespace } = options;
  const taskQueueType = TASK_QUEUE_TYPE_WORKFLOW;
  const { pollers } = await workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType });
  const found = await readPollers(workflowService, { namespace, name, pollers });
  if (found.live.length > 0 || pollers.length === 0) return found;
  // All of them may be gone, or this machine's clock is wrong.
  return await readPollers(workflowService, { namespace, name, pollers, aheadMs: await readClockAheadMs(client) });
}

/** Throws errors of gRPC. */
export async function areWorkflowsServed(client: Client, name: string): Promise<boolean> {
  return (await readWorkflowPollers(client, name)).live.length > 0;
}

/** Running workflows that are pinned to versions of which no worker polls. Throws errors of gRPC. */
export async function countUnserved(client: Client, taskQueue: string): Promise<number> {
  const { live } = await readWorkflowPollers(client, taskQueue);
  const unserved = await findUnserved(client, taskQueue, live);
  return unserved.reduce((sum, { count }) => sum + count, 0);
}

/** Those of the task queues whose workflows no worker runs, each once. Throws where Temporal does not answer. */
export async function findUnservedQueues(
  temporal: TemporalConnection,
  taskQueues: readonly string[],
): Promise<readonly string[]> {
  const connection = await connectTemporal(temporal);
  try {
    const client = new Client({ connection, namespace: temporal.namespace });
    const names = [...new Set(taskQueues)];
    const served = await Promise.all(names.map((name) => areWorkflowsServed(client, name)));
    return names.filter((_, index) => served[index] === false);
  } finally {
    await connection.close();
  }
}

export interface WorkerVersion {
  readonly deploymentName: string;
  readonly buildId: string;
}

export interface Problem {
  readonly found: string;
  readonly remedy: string;
}

type Routing = Pick<
  temporal.api.deployment.v1.RoutingConfig.$Properties,
  'currentDeploymentVersion' | 'rampingDeploymentVersion' | 'rampingVersionPercentage'
>;

/** The current version, and one that is ramped up; none without build ids. */
export function routedVersions(routing: Routing | null | undefined): WorkerVersion[] {
  const { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage } = routing ?? {};
  const ramped = (rampingVersionPercentage ?? 0) > 0 ? rampingDeploymentVersion : undefined;
  return [toVersion(currentDeploymentVersion), toVersion(ramped)].filter((version) => version !== undefined);
}

/** Why new tasks of a queue stand still although these workers poll it; undefined when they do not. */
export function routingProblem(
  namespace: string,
  live: readonly PollerInfo[],
  routing: Routing | null | undefined,
): Problem | undefined {
  const versions = live.map(versionOf);
  const routed = routedVersions(routing);
  const [there] = versions.filter((version) => version !== undefined);
  if (routed.length === 0) {
    if (there === undefined || versions.includes(undefined)) return undefined;
    return {
      found: `all workers are versions of the deployment "${there.deploymentName}", which has no current version for this task queue: tasks are not given to them`,
      remedy: `Make one of them current: ${setCurrentCommand(namespace, there)}`,
    };
  }
  const polled = versions.map((version) => version && showVersion(version));
  if (live.length === 0 || routed.some((version) => polled.includes(showVersion(version)))) return undefined;
  const other =
    there === undefined
      ? ', with its build id (docs/guides/versions.md).'
      : `, or make the one that polls current: ${setCurrentCommand(namespace, there)}`;
  return {
    found: `new tasks go to ${routed.map(showVersion).join(' and ')}, and no worker of it polls`,
    remedy: `Start workers of that version${other}`,
  };
}

const shownUnserved = 5;
/** As Temporal writes a version: `<deployment>:<build id>`. */
const versionAttribute = 'TemporalWorkerDeploymentVersion';

/** What is pinned to versions that none of these pollers is of. Throws errors of gRPC. */
async function findUnserved(
  client: Client,
  taskQueue: string,
  live: readonly PollerInfo[],
): Promise<readonly { readonly version: string; readonly count: number }[]> {
  const polled = live.map(versionOf).filter((version) => version !== undefined);
  const known = new Set(polled.map(({ deploymentName, buildId }) => `${deploymentName}:${buildId}`));
  const pinned = `${runningOn(taskQueue)} AND TemporalWorkflowVersioningBehavior = "Pinned"`;
  const found: { readonly version: string; readonly count: number }[] = [];
  try {
    while (found.length < shownUnserved) {
      const names = [...known].map((version) => JSON.stringify(version)).join(', ');
      const others = names === '' ? '' : ` AND ${versionAttribute} NOT IN (${names})`;
      const newest = await listWorkflows(client, `${pinned}${others}`, 1).next();
      const version = newest.done ? undefined : newest.value.attributes.get(versionAttribute);
      if (version === undefined) break;
      const { count } = await client.workflow.count(`${pinned} AND ${versionAttribute} = ${JSON.stringify(version)}`);
      known.add(version);
      found.push({ version, count });
    }
  } catch (error) {
    // A server without these search attributes pins nothing.
    if (codeOf(error) !== grpcStatus.INVALID_ARGUMENT) throw error;
  }
  return found;
}

/** Undefined when nothing is pinned to versions that none of these pollers is of. Throws errors of gRPC. */
export async function unservedProblem(
  client: Client,
  taskQueue: string,
  live: readonly PollerInfo[],
): Promise<Problem | undefined> {
  const unserved = await findUnserved(client, taskQueue, live);
  if (unserved.length === 0) return undefined;
  const words = unserved.map(({ version, count }) => {
    const [deploymentName = '', buildId] = version.split(/:(.*)/s, 2);
    const shown = buildId === undefined ? `version "${version}"` : showVersion({ deploymentName, buildId });
    const what = count === 1 ? '1 running workflow is' : `${count} running workflows are`;
    return `${what} pinned to ${shown}, which no worker polls for`;
  });
  return {
    found: `${words.join('; ')}: nothing moves there, and a stop has no effect`,
    remedy: 'Start workers of that version again, or move what is pinned to it: docs/guides/versions.md.',
  };
}

/** Undefined where the server does not say. Rejects when it does not answer. */
export async function hasCurrentVersion(
  workflowService: WorkflowService,
  namespace: string,
  deploymentName: string,
): Promise<boolean | undefined> {
  try {
    const { workerDeploymentInfo } = await workflowService.describeWorkerDeployment({ namespace, deploymentName });
    return routedVersions(workerDeploymentInfo?.routingConfig).length > 0;
  } catch (error) {
    const code = codeOf(error);
    // A deployment is known once its first worker polled.
    if (code === grpcStatus.NOT_FOUND) return false;
    if (code === grpcStatus.UNIMPLEMENTED || code === grpcStatus.PERMISSION_DENIED) return undefined;
    throw error;
  }
}

export function setCurrentCommand(namespace: string, { deploymentName, buildId }: WorkerVersion): string {
  const where = namespace === 'default' ? '' : ` --namespace ${namespace}`;
  return `temporal worker deployment set-current-version${where} --deployment-name ${deploymentName} --build-id ${buildId} --yes`;
}

export function showVersion({ deploymentName, buildId }: WorkerVersion): string {
  return `version "${buildId}" of the deployment "${deploymentName}"`;
}

function versionOf({ deploymentOptions: options }: PollerInfo): WorkerVersion | undefined {
  return options?.workerVersioningMode === WORKER_VERSIONING_MODE_VERSIONED ? toVersion(options) : undefined;
}

function toVersion(
  version: { deploymentName?: string | null; buildId?: string | null } | null | undefined,
): WorkerVersion | undefined {
  const { deploymentName, buildId } = version ?? {};
  return deploymentName && buildId ? { deploymentName, buildId } : undefined;
}

/** The SDK's client may have wrapped it. */
function codeOf(error: unknown): unknown {
  const { cause } = error instanceof Error ? error : {};
  return [error, cause].map((each) => (each instanceof Error && 'code' in each ? each.code : undefined)).find(Boolean);
}
