import { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import type { TemporalConnection } from '../config/temporal-connection';
import { formatDuration } from '../core/time';
import { connectTemporal } from './connect-temporal';
import type { PollerInfo } from './worker-versions';

const { TASK_QUEUE_TYPE_WORKFLOW } = temporal.api.enums.v1.TaskQueueType;
const { WORKER_STATUS_RUNNING, WORKER_STATUS_SHUTTING_DOWN, WORKER_STATUS_SHUTDOWN } =
  temporal.api.enums.v1.WorkerStatus;

/** A poller that asked longer ago than a long poll lasts is gone: an idle worker asks again after 60 s at the latest. */
const pollerIsGoneAfterMs = 90_000;
/** Of a worker that asked longer ago than this, the words say that it may have been killed since. */
const isSureMs = 10_000;
/** A request for work of a worker that stops may reach Temporal, or end there, a moment after it said so. */
const lastAskMs = 500;
/** Of so many workers of a queue it is read whether they said that they stop. */
const maxWorkers = 1_000;

/** Of Temporal's service, what knows which workers said that they stop. */
export interface WorkerList {
  listWorkers(request: {
    readonly namespace: string;
    readonly query: string;
    readonly pageSize: number;
  }): Promise<{ readonly workersInfo: readonly WorkerInfo[] }>;
}

type WorkerInfo = Pick<temporal.api.worker.v1.WorkerInfo.$Properties, 'workerHeartbeat'>;

/** Who polls a task queue, as Temporal knows it. */
export interface QueuePollers {
  /** Those that asked within the time of a long poll, and have not stopped since. */
  readonly live: readonly PollerInfo[];
  /** For a person: how many poll and since when the latest has not asked, or when the last one did. */
  readonly found: string;
}

/**
 * Tells pollers that live from those that are gone. Temporal forgets a poller some minutes after its last request for
 * work; one that stopped in an orderly way says so, and one that was killed is missed only when it does not ask again.
 */
export async function readPollers(
  workers: WorkerList,
  queue: { readonly namespace: string; readonly name: string; readonly pollers: readonly PollerInfo[] },
): Promise<QueuePollers> {
  const { namespace, name, pollers } = queue;
  const recent = pollers.filter((poller) => ageMs(poller) < pollerIsGoneAfterMs);
  const stops = recent.length === 0 ? new Map<string, number>() : await readStops(workers, namespace, name);
  // One with the same identity may have been started since: a container that restarts keeps its host name and its pid.
  const live = recent.filter(
    ({ identity, lastAccessTime }) => toMs(lastAccessTime) > (stops.get(identity ?? '') ?? 0) + lastAskMs,
  );
  const ask = live.length === 1 ? 'which asked for work' : 'of which the latest asked for work';
  const lastMs = Math.min(...(live.length > 0 ? live : pollers).map(ageMs));
  const last = `${formatDuration(Math.max(0, lastMs))} ago`;
  // Nothing tells a killed worker from an idle one until then.
  const doubt =
    lastMs > isSureMs ? `; one that was killed since counts for ${formatDuration(pollerIsGoneAfterMs)}` : '';
  if (live.length > 0) return { live, found: `${live.length} at the task queue "${name}", ${ask} ${last}${doubt}` };
  const none = `none polls the task queue "${name}"`;
  if (pollers.length === 0) return { live, found: none };
  const how = recent.length > 0 ? 'was stopped; it had asked for work' : 'asked for work';
  return { live, found: `${none}; the last one ${how} ${last}` };
}

/** Whether workers are there that run the workflows of this task queue. Throws errors of gRPC. */
export async function areWorkflowsServed(
  { workflowService, options: { namespace } }: Pick<Client, 'workflowService' | 'options'>,
  name: string,
): Promise<boolean> {
  const { pollers } = await workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name },
    taskQueueType: TASK_QUEUE_TYPE_WORKFLOW,
  });
  const { live } = await readPollers(workflowService, { namespace, name, pollers });
  return live.length > 0;
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

/** When workers of a queue said that they stop, in milliseconds since 1970, by identity; none that runs is among them. */
async function readStops(workers: WorkerList, namespace: string, queue: string): Promise<ReadonlyMap<string, number>> {
  const stops = new Map<string, number>();
  try {
    const query = `TaskQueue = ${JSON.stringify(queue)}`;
    const { workersInfo } = await workers.listWorkers({ namespace, query, pageSize: maxWorkers });
    const heartbeats = workersInfo.flatMap(({ workerHeartbeat }) => workerHeartbeat ?? []);
    for (const { workerIdentity, status, heartbeatTime } of heartbeats) {
      if (workerIdentity == null || (status !== WORKER_STATUS_SHUTTING_DOWN && status !== WORKER_STATUS_SHUTDOWN))
        continue;
      stops.set(workerIdentity, Math.max(toMs(heartbeatTime), stops.get(workerIdentity) ?? 0));
    }
    for (const { workerIdentity, status } of heartbeats) {
      if (workerIdentity != null && status === WORKER_STATUS_RUNNING) stops.delete(workerIdentity);
    }
  } catch {
    // A server that keeps no list of workers, or not for this client: what is known is when each asked for work.
  }
  return stops;
}

function ageMs({ lastAccessTime }: PollerInfo): number {
  return Date.now() - toMs(lastAccessTime);
}

function toMs(time: PollerInfo['lastAccessTime']): number {
  return Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1e6;
}
