import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { temporal } from '@temporalio/proto';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Account } from '../config/accounts';
import type { WorkerConfig } from '../config/worker-config';
import { boundedText } from '../core/text';
import { archiveOf, shortArchiveId, withArchive } from '../contract/task-queues';
import { watchTaskQueue } from '../contract/task-queues';
import { AccountGate } from '../service/account-gate';
import type { CreateLimiterOptions } from '../service/create-limiter';

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = temporal.api.enums.v1.TaskQueueType;

/** Containers may share both host name and process id. */
const processIdentity = `${process.pid}@${hostname()}-${randomBytes(3).toString('hex')}`;

/** Names a worker's requests for work to Temporal, the other workers and `doctor`. */
export function workerIdentity(archiveId: string): string {
  return withArchive(processIdentity, archiveId);
}

/** A line when a limiter closes or opens, not one per task that waits. */
export function openAccountLimits(
  { accounts, slots, uncertainPausesMs }: WorkerConfig,
  logger: Logger,
): ReadonlyMap<string, AccountGate> {
  const mostWaiting = Math.max(1, Math.floor(slots.activities / 2 / accounts.size));
  // With several accounts, none holds all slots.
  const uploadsAtOnce = accounts.size > 1 ? Math.max(1, Math.floor((slots.uploads * 3) / 4)) : slots.uploads;
  const open = ({ name: account, createsPerSecond, pollsPerSecond }: Account): AccountGate => {
    const onChange: CreateLimiterOptions['onChange'] = (change, limiter) => {
      const level = change === 'closed' ? 'warn' : 'info';
      logger[level]({ account, ...limiter }, `create limiter ${change}`);
    };
    const rates = { createsPerSecond, pollsPerSecond, uploadsAtOnce };
    return new AccountGate(rates, { mostWaiting, uncertainPausesMs, onChange });
  };
  return new Map([...accounts].map(([name, account]) => [name, open(account)]));
}

/** How often a worker counts those that share the limits of its accounts. */
const countEveryMs = 20_000;
/** Workers that begin together see each other only once they poll. */
const firstCountsAfterMs = [1_000, 3_000, 7_000];
/** A request for work waits at Temporal for a minute. */
const seenWithinMs = 120_000;
/** So many workers with another archive are named. */
const maxNamed = 10;
/** How long Temporal may take to answer. */
const askTimeoutMs = 5_000;

interface SharingWorker {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly taskQueue: string;
  readonly logger: Logger;
  readonly archiveId: string;
  /** @default 20 s */
  readonly countEveryMs?: number | undefined;
}

/**
 * Divides each account's rates by the workers that Temporal has seen on the task queue, and logs one that keeps another
 * archive. While Temporal does not answer, the last number holds. Returns how to stop.
 */
export async function shareLimits(
  limits: ReadonlyMap<string, AccountGate>,
  worker: SharingWorker,
): Promise<() => void> {
  const seenAtMs = new Map<string, number>();
  let known = 1;
  let isCounted = true;
  let isStopped = false;
  const archive = shortArchiveId(worker.archiveId);
  let others = '';
  const warnOfArchives = (identities: readonly string[]): void => {
    const elsewhere = identities.filter((identity) => {
      return (archiveOf(identity) ?? archive) !== archive;
    });
    if (elsewhere.join() === others) return;
    others = elsewhere.join();
    if (elsewhere.length === 0) return;
    worker.logger.error(
      { others: elsewhere.slice(0, maxNamed).map((one) => boundedText(one, 200)), archive },
      'workers of this task queue keep another archive: a key that is started again may be paid twice; give all of them the same LONGHAUL_ARCHIVE (one that was stopped counts for two minutes)',
    );
  };
  const share = async (): Promise<void> => {
    try {
      const identities = await seeWorkers(worker, seenAtMs);
      isCounted = true;
      warnOfArchives(identities);
      const workers = identities.length;
      if (workers === known) return;
      worker.logger.info({ workers }, 'the limits of accounts are shared by the workers');
      known = workers;
      for (const account of limits.values()) account.shareAmong(workers);
    } catch (error) {
      // Once, however long Temporal does not answer.
      if (isCounted && !isStopped) {
        worker.logger.warn({ err: error, workers: known }, 'the workers of the task queue could not be counted');
      }
      isCounted = false;
    }
  };
  await share();
  const timers = firstCountsAfterMs.map((ms) => setTimeout(() => void share(), ms));
  timers.push(setInterval(() => void share(), worker.countEveryMs ?? countEveryMs));
  return () => {
    isStopped = true;
    for (const timer of timers) clearTimeout(timer);
  };
}

export interface QueueOfKind {
  readonly name: string;
  readonly taskQueueType: temporal.api.enums.v1.TaskQueueType;
}

/** The workers whose requests for work a queue's first partition has. Rejects when Temporal does not answer. */
export async function askPollers(
  { connection, namespace }: { readonly connection: NativeConnection; readonly namespace: string },
  { name, taskQueueType }: QueueOfKind,
): Promise<readonly temporal.api.taskqueue.v1.PollerInfo.$Properties[]> {
  const ask = () => connection.workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType });
  return (await connection.withDeadline(Date.now() + askTimeoutMs, ask)).pollers;
}

/** An answer has the workers of one partition, so several queues and earlier answers count, too. */
async function seeWorkers(worker: SharingWorker, seenAtMs: Map<string, number>): Promise<readonly string[]> {
  const { taskQueue } = worker;
  const queues = [
    { name: taskQueue, taskQueueType: TASK_QUEUE_TYPE_WORKFLOW },
    { name: taskQueue, taskQueueType: TASK_QUEUE_TYPE_ACTIVITY },
    { name: watchTaskQueue(taskQueue), taskQueueType: TASK_QUEUE_TYPE_ACTIVITY },
  ];
  const answers = await Promise.all(queues.map((queue) => askPollers(worker, queue)));
  for (const { identity, lastAccessTime } of answers.flat()) {
    const atMs = Number(lastAccessTime?.seconds ?? 0) * 1_000;
    if (identity != null) seenAtMs.set(identity, Math.max(atMs, seenAtMs.get(identity) ?? 0));
  }
  // By Temporal's clock, which may be hours off this worker's: it asks for work once a minute itself.
  const latestMs = Math.max(0, ...seenAtMs.values());
  seenAtMs.set(workerIdentity(worker.archiveId), latestMs);
  for (const [identity, atMs] of seenAtMs) if (atMs < latestMs - seenWithinMs) seenAtMs.delete(identity);
  return [...seenAtMs.keys()].sort();
}
