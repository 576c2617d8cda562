import type { MetricMeter } from '@temporalio/common';
import type { InjectedSinks, NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { ActivityDependencies } from '../activities';
import { viewLimits } from '../activities/accounts';
import { countBatches } from '../client/batch/list-batches';
import { countTasks } from '../client/task/list-tasks';
import { Sweeps } from '../client/sweeps';
import type { TemporalAccess } from '../client/temporal-access';
import { count, metrics } from '../contract/metrics';
import type { ReplaySinks } from '../contract/metrics';
import { statesThatWait } from '../core/task-state';
import { type Archive, requireReserve } from '../storage/archive/archive';
import type { ArchiveIdentity } from '../storage/archive/archive-identity';
import { sampleGauges } from './gauges';
import { Readiness } from '../servers/readiness';

/** How often a worker that is ready asks Temporal, and writes and removes a small file in the archive. */
const probeTemporalEveryMs = 10_000;
const probeArchiveEveryMs = 60_000;
/** How long Temporal may take to answer. */
const probeTimeoutMs = 5_000;
/** How many tasks Temporal is asked about when results expire soon; more make no difference to the one who is woken. */
const maxExpiringAsked = 50;

/** Whose readiness is watched. */
interface WatchedWorker {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly archive: Archive;
  readonly archiveIdentity: ArchiveIdentity;
  /** What outputs leave free. */
  readonly reserveBytes: number;
  readonly logger: Logger;
  readonly metricMeter: MetricMeter;
  readonly probeEveryMs: number | undefined;
}

/** Checks, until it is stopped, whether Temporal answers a worker, and whether its archive takes a write, and outputs. */
export function watchReadiness(worker: WatchedWorker): Readiness {
  const { connection, namespace, archive, archiveIdentity, reserveBytes, logger, metricMeter, probeEveryMs } = worker;
  const probes = {
    temporal: {
      everyMs: probeEveryMs ?? probeTemporalEveryMs,
      check: async () => {
        const ask = () => connection.workflowService.describeNamespace({ namespace });
        await connection.withDeadline(Date.now() + probeTimeoutMs, ask);
      },
    },
    archive: {
      everyMs: probeEveryMs ?? probeArchiveEveryMs,
      check: async () => {
        await archiveIdentity.requireSame();
        await archive.check();
        await requireReserve(archive, reserveBytes);
      },
    },
  };
  return new Readiness(probes, { logger, metricMeter });
}

/** Keeps the gauges of a worker as they are; the function that it returns ends that. */
export function startGauges(
  { limits, services, unarchived }: ActivityDependencies,
  { access, meter, logger }: { readonly access: TemporalAccess; readonly meter: MetricMeter; readonly logger: Logger },
): () => void {
  const creates = () => {
    return Object.entries(viewLimits(limits)).map(([account, state]) => [account, state.creates] as const);
  };
  const waitingForPerson = async () => {
    const counts = statesThatWait.map(async (status) => {
      return [status, await countTasks(access, { status, running: true })] as const;
    });
    return Object.fromEntries(await Promise.all(counts));
  };
  const batchesAtBudget = () => countBatches(access, ['BudgetReached', 'DailyBudgetReached']);
  const expiring = async () => {
    const counts = [...services.keys()].map(async (account) => {
      const requestIds = (unarchived?.expiring(account) ?? []).slice(0, maxExpiringAsked);
      // Another worker may have archived them since.
      const tasks = requestIds.length > 0 ? await countTasks(access, { account, requestIds, running: true }) : 0;
      return [account, tasks] as const;
    });
    return Object.fromEntries(await Promise.all(counts));
  };
  const sweeps = new Sweeps(access);
  const sweep = () => sweeps.alarm();
  return sampleGauges(meter, { creates, waitingForPerson, batchesAtBudget, expiring, sweep }, (error) => {
    logger.warn(
      { err: error },
      'tasks and batches that wait for a person, expire or are not safe could not be counted',
    );
  });
}

/** One line for all replays of this time: after a restart there may be hundreds. */
const collectMs = 5_000;

/** Counts and logs replays that take longer than a second. */
export function slowReplaySinks(logger: Logger, meter: MetricMeter): InjectedSinks<ReplaySinks> {
  let tookMs: number[] = [];
  const log = (): void => {
    const longestMs = Math.max(...tookMs);
    const words =
      'workflow tasks run longer than a second, because many histories are replayed: stops and ends are noticed later until that is over; if it stays so, start more workers';
    logger.warn({ replays: tookMs.length, longestMs }, words);
    tookMs = [];
  };
  const slow = (_: unknown, oneMs: number): void => {
    count(meter, metrics.slowReplays, {});
    if (tookMs.push(oneMs) === 1) setTimeout(log, collectMs).unref();
  };
  return { longhaulReplays: { slow: { fn: slow } } };
}
