import type { MetricMeter } from '@temporalio/common';
import type { InjectedSinks, NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { ActivityDependencies } from '../activities';
import { accountKey, viewLimits } from '../activities/accounts';
import { checkService } from '../activities/create-request';
import { findLateRows } from '../client/batch/late-rows';
import { countBatches } from '../client/batch/list-batches';
import { readClockAheadMs } from '../client/server-clock';
import { Sweeps } from '../client/sweeps';
import { countTasks } from '../client/task/list-tasks';
import { askTemporal, type TemporalAccess } from '../client/temporal-access';
import { overloadFilter, runningOn, stuckFilter } from '../client/workflow-info';
import { countUnserved } from '../client/workers';
import { type Account, serviceRemedy } from '../config/accounts';
import { count, metrics, type ReplaySinks, setGauge } from '../contract/metrics';
import { findingKinds } from '../core/reconcile';
import { statesThatWait } from '../core/task-state';
import { Readiness, temporalProbe } from '../servers/health';
import type { RequestObserver } from '../service';
import { type Archive, requireReserve } from '../storage/archive/archive';
import type { ArchiveIdentity } from '../storage/archive/archive-identity';

/** How often a worker that is ready writes and removes a small file in the archive. */
const probeArchiveEveryMs = 60_000;

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

/** Checks, until it is stopped, whether Temporal answers, and whether the archive takes a write, and outputs. */
export function watchReadiness(worker: WatchedWorker): Readiness {
  const { connection, namespace, archive, archiveIdentity, reserveBytes, probeEveryMs } = worker;
  const checkArchive = async (): Promise<void> => {
    await archiveIdentity.requireSame();
    await archive.check();
    await requireReserve(archive, reserveBytes);
  };
  const probes = {
    temporal: temporalProbe(connection, namespace, probeEveryMs),
    archive: { everyMs: probeEveryMs ?? probeArchiveEveryMs, check: checkArchive },
  };
  return new Readiness(probes, worker);
}

/** How often limits are read, and how often Temporal is asked: a few requests of every worker. */
const limitsEveryMs = 5_000;
const namespaceEveryMs = 60_000;
const troublesTimeoutMs = 30_000;
/** How many tasks Temporal is asked about when results expire soon; more make no difference to the one who is woken. */
const maxExpiringAsked = 50;

/** What a sweep that was asked for found is told so much later. */
const afterSweepMs = 10_000;

export interface GaugeSources {
  readonly limits: ActivityDependencies['limits'];
  readonly services: ActivityDependencies['services'];
  readonly keySettings?: ActivityDependencies['keySettings'];
  readonly unarchived?: ActivityDependencies['unarchived'];
  readonly access: TemporalAccess;
  readonly meter: MetricMeter;
  readonly logger: Logger;
}

/**
 * Gauges of the worker's limits and of the namespace. What cannot be read keeps its last value. Returns how to stop.
 */
export function startGauges(sources: GaugeSources): () => void {
  const { limits, services, keySettings, meter, logger } = sources;
  const readLimits = (): void => {
    for (const [account, { creates }] of Object.entries(viewLimits(limits))) {
      const closedBy = creates.cause === 'service' && creates.isForNow ? 'busy' : creates.cause;
      for (const cause of ['account', 'service', 'busy'] as const) {
        const isClosed = creates.isHoldingBack && closedBy === cause;
        setGauge(meter, metrics.limiterClosed, { account, cause }, isClosed ? 1 : 0);
      }
      setGauge(meter, metrics.createsHeldBack, { account }, creates.waiting);
    }
  };
  const recheckRefused = async (): Promise<void> => {
    const checks = [...limits].map(async ([account, { creates }]) => {
      const service = services.get(account);
      if (service !== undefined)
        await creates.recheck(() => checkService(service, accountKey({ keySettings }, account)));
    });
    await Promise.all(checks);
  };
  const sweeps = new Sweeps(sources.access);
  let again: NodeJS.Timeout | undefined;
  let isAsking = false;
  const readNamespace = async (isFollowUp = false): Promise<void> => {
    if (isAsking) return;
    isAsking = true;
    const parts = [
      countTasksOf(sources),
      askTemporal(sources.access, '', () => countTroubles(sources), troublesTimeoutMs),
    ];
    const sweep = readSweep(sources, sweeps).then((isTriggered) => {
      if (isTriggered && !isFollowUp) again = setTimeout(() => void readNamespace(true), afterSweepMs).unref();
    });
    for (const part of await Promise.allSettled([...parts, sweep])) {
      if (part.status === 'fulfilled') continue;
      logger.warn(
        { err: part.reason as unknown },
        'a part of what the metrics tell of the namespace could not be counted',
      );
    }
    isAsking = false;
  };
  readLimits();
  void readNamespace();
  const lookAtLimits = (): void => {
    readLimits();
    // A check that fails is a refusal like others, and throws nothing.
    void recheckRefused();
  };
  const timers = [setInterval(lookAtLimits, limitsEveryMs), setInterval(() => void readNamespace(), namespaceEveryMs)];
  for (const timer of timers) timer.unref();
  return () => {
    for (const timer of timers) clearInterval(timer);
    clearTimeout(again);
  };
}

async function countTasksOf({ services, unarchived, access, meter }: GaugeSources): Promise<void> {
  const waiting = statesThatWait.map(async (status) => {
    setGauge(meter, metrics.waitForPerson, { status }, await countTasks(access, { status, running: true }));
  });
  await Promise.all(waiting);
  setGauge(meter, metrics.batchesAtBudget, {}, await countBatches(access, ['BudgetReached', 'DailyBudgetReached']));
  const expiring = [...services.keys()].map(async (account) => {
    const requestIds = (unarchived?.expiring(account) ?? []).slice(0, maxExpiringAsked);
    // Another worker may have archived them since.
    const tasks = requestIds.length > 0 ? await countTasks(access, { account, requestIds, running: true }) : 0;
    setGauge(meter, metrics.expiring, { account }, tasks);
  });
  await Promise.all(expiring);
}

/** What stands still without a failure of its own. */
async function countTroubles({ access, meter, logger }: GaugeSources): Promise<void> {
  const { client, taskQueue } = access;
  const aheadMs = await readClockAheadMs(client);
  if (aheadMs !== undefined) setGauge(meter, metrics.clockApart, {}, Math.round(Math.abs(aheadMs) / 1_000));
  const late = await findLateRows(client, taskQueue, aheadMs ?? 0);
  const lateRows = late.reduce((sum, { count: rows }) => sum + rows, 0);
  setGauge(meter, metrics.rowsLate, {}, lateRows);
  for (const { shown: rows, ...batch } of late)
    logger.warn({ ...batch, rows }, 'rows run far longer than others of their batch');
  setGauge(meter, metrics.unserved, {}, await countUnserved(client, taskQueue));
  for (const [problem, filter] of [
    ['failed', stuckFilter],
    ['timed_out', overloadFilter],
  ] as const) {
    const { count: stuck } = await client.workflow.count(`${runningOn(taskQueue)} AND ${filter}`);
    setGauge(meter, metrics.stuck, { problem }, stuck);
  }
}

/** Returns whether a sweep was asked for just now. */
async function readSweep({ meter }: GaugeSources, sweeps: Sweeps): Promise<boolean> {
  const sweep = await sweeps.alarm();
  for (const kind of findingKinds) setGauge(meter, metrics.notSafe, { kind }, sweep?.unsafe[kind] ?? 0);
  const dueMs = Date.parse(sweep?.dueAt ?? '') || 0;
  setGauge(meter, metrics.sweepDue, {}, Math.floor(dueMs / 1_000));
  return sweep?.isTriggered === true;
}

const refusedKeyEveryMs = 60_000;

/** Logs each request at the level `debug`, and once a minute that the service refuses the key of an account. */
export function requestLog(logger: Logger, of: Pick<Account, 'name' | 'settings'>): RequestObserver {
  const account = of.name;
  let nextMs = 0;
  return (end) => {
    logger.debug({ account, ...end }, 'request to the service');
    if (end.keyRefused !== true || performance.now() < nextMs) return;
    nextMs = performance.now() + refusedKeyEveryMs;
    logger.warn(
      { account, ...end, remedy: serviceRemedy(of, 'UNAUTHORIZED') },
      'the service refuses the API key of the account',
    );
  };
}

/** By the service's last answer. */
export function keyGauge(meter: MetricMeter, account: string): RequestObserver {
  let known: boolean | undefined;
  return (end) => {
    const isRefused = end.keyRefused === true;
    if (end.status === null || isRefused === known) return;
    known = isRefused;
    setGauge(meter, metrics.keyRefused, { account }, known ? 1 : 0);
  };
}

/** One line for all replays of this time: a restart may cause hundreds. */
const collectMs = 5_000;
/** A replay that takes longer delays every other workflow of its worker. */
const slowReplayMs = 1_000;
/** After a restart each workflow is replayed once; within this time a cache that is large enough sees none twice. */
const replayWindowMs = 60_000;

/** Counts replays; logs slow ones, and once a minute that there were more than the worker's cache holds. */
export function replaySinks(logger: Logger, meter: MetricMeter, cachedWorkflows: number): InjectedSinks<ReplaySinks> {
  let slowMs: number[] = [];
  let window = { sinceMs: -Infinity, replays: 0 };
  const logSlow = (): void => {
    const longestMs = Math.max(...slowMs);
    const words =
      'workflow tasks run longer than a second, because many histories are replayed: stops and ends are noticed later until that is over; if it stays so, start more workers';
    logger.warn({ replays: slowMs.length, longestMs }, words);
    slowMs = [];
  };
  const ended = (_: unknown, tookMs: number): void => {
    const isSlow = tookMs > slowReplayMs;
    count(meter, metrics.replays, { slow: isSlow ? 'yes' : 'no' });
    if (isSlow && slowMs.push(tookMs) === 1) setTimeout(logSlow, collectMs).unref();
    const nowMs = performance.now();
    if (nowMs - window.sinceMs > replayWindowMs) window = { sinceMs: nowMs, replays: 0 };
    window.replays += 1;
    if (window.replays !== cachedWorkflows + 1) return;
    const words =
      'more workflows run than the cache of this worker holds, so that steps replay whole histories: polls, stops and ends are late; raise cachedWorkflows in LONGHAUL_SLOTS, start more workers, or use watch: activity';
    logger.warn({ cachedWorkflows }, words);
  };
  return { longhaulReplays: { ended: { fn: ended } } };
}
