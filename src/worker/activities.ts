import type { MetricMeter } from '@temporalio/common';
import { activityInfo } from '@temporalio/activity';
import type { Logger } from 'pino';
import {
  type ActivityDependencies,
  createActivities,
  createBatchActivities,
  createSweepActivities,
  createWebhookActivities,
  createWebhookAgent,
  type WebhookDependencies,
} from '../activities';
import { DailyBudgets } from '../activities/daily-budgets';
import { UnarchivedResults } from '../activities/metrics';
import { SharedUploads } from '../activities/shared-uploads';
import { TemporalAccountDays } from '../client/account-days';
import { Longhaul } from '../client/longhaul';
import { TemporalRowTasks } from '../client/batch/row-tasks';
import { findFollower, findUncertainCreates, findWorkflowsOf } from '../client/task/related-tasks';
import type { TemporalAccess } from '../client/temporal-access';
import { serviceOptions } from '../config/accounts';
import type { WorkerConfig } from '../config/worker-config';
import type { Activities } from '../contract/activities';
import type { BatchActivities } from '../contract/batch/batch-activities';
import { isSweepNow, type SweepActivities } from '../contract/sweep';
import type { WebhookActivities } from '../contract/webhook';
import type { FindingView } from '../reconcile/finding-view';
import { sweep } from '../reconcile/sweep';
import { ServiceClient } from '../service';
import type { ArchiveIdentity } from '../storage/archive/archive-identity';
import { openArchive } from '../storage/archive/open-archive';
import { ConnectionRule } from '../storage/connection-rule';
import { createDownloadAgent } from '../storage/download';
import { maxFileBytes, type SourceRules } from '../storage/input/input-source';
import { createArchiveClient } from '../storage/s3/s3-client';
import { spoolFolder } from '../storage/spool';
import type { WorkerTraces } from './worker-traces';
import { openAccountLimits } from './limits';
import { keyGauge, requestLog } from './telemetry';

export type AllActivities = Activities & BatchActivities & SweepActivities & WebhookActivities;

/** The id is known once Temporal was asked for that of the tasks. */
type WorkingDependencies = WorkerDependencies & { readonly archiveIdentity: ArchiveIdentity };

/** How long the search for the workflow that follows a task may take. */
const followerTimeoutMs = 3_000;
/** How long a query of a sweep waits for its turn; then the task counts as not answered for. */
const sweepPatienceMs = 60_000;

export function allActivities(
  dependencies: WorkingDependencies,
  { prices }: WorkerConfig,
  access: TemporalAccess,
  logger: Logger,
): AllActivities {
  const days = new TemporalAccountDays(access);
  const dailyBudgets = new DailyBudgets({ limits: prices.dailyBudgets, prices, days });
  return {
    ...createActivities({ ...dependencies, dailyBudgets, ...followerFinders(access) }),
    ...createBatchActivities({ ...dependencies, dailyBudgets, rowTasks: new TemporalRowTasks(access) }),
    ...createSweepActivities(sweeper(dependencies, access, logger)),
    ...createWebhookActivities(dependencies),
  };
}

/** A caller waits for the answer. */
function followerFinders({
  client,
  taskQueue,
}: TemporalAccess): Pick<ActivityDependencies, 'findFollower' | 'findWorkflowsOf' | 'findUncertainCreates'> {
  const inTime = <T>(ask: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + followerTimeoutMs, ask);
  return {
    findFollower: ({ requestId, account }) => inTime(() => findFollower(client, requestId, account)),
    findWorkflowsOf: ({ requestId, account }) => inTime(() => findWorkflowsOf(client, requestId, account)),
    findUncertainCreates: (account, webAppId) =>
      inTime(() => findUncertainCreates(client, { taskQueue, account, app: String(webAppId) })),
  };
}

/** Sweeps share the rate of queries with the tasks that are watched. */
function sweeper(
  { services, archive, archiveIdentity, limits }: WorkingDependencies,
  { client, taskQueue }: TemporalAccess,
  logger: Logger,
): Parameters<typeof createSweepActivities>[0] {
  // Its client is the worker's own, of Temporal's variables.
  const longhaul = new Longhaul({ client, taskQueue }, undefined, {});
  const onFinding = (finding: FindingView): void => {
    logger.warn({ finding }, 'not safe');
  };
  return async (plan, options) => {
    const inTurn = <T>(account: string, query: () => Promise<T>): Promise<T> => {
      const { signal } = options;
      return limits.get(account)?.polls.runInLine(query, sweepPatienceMs, { signal }) ?? query();
    };
    const parts = { longhaul, services, archive, archiveIdentity, taskQueue, inTurn };
    const isNow = isSweepNow(activityInfo().workflowExecution?.workflowId ?? '', taskQueue);
    const last = isNow ? null : ((await longhaul.sweeps.last())?.next ?? null);
    const result = await sweep(parts, { plan, last }, { ...options, onFinding });
    const { unsafe, handled, changesSince, report } = result;
    logger.info({ unsafe, handled, changesSince, report }, 'sweep ended');
    return result;
  };
}

/** Slower inputs and outputs give their slot to others. */
const minimumRate = { bytesPerSecond: 4_096, windowMs: 60_000 };

type WorkerDependencies = ActivityDependencies & WebhookDependencies;

/** {@link closeDependencies} closes their connections. */
export function openDependencies(
  config: WorkerConfig,
  observers: { readonly logger: Logger; readonly meter: MetricMeter; readonly traces?: WorkerTraces | undefined },
): WorkerDependencies {
  const { logger, meter, traces } = observers;
  const { accounts, archive, callback } = config;
  const services = [...accounts.values()].map((account) => {
    const { name } = account;
    const [log, watchKey] = [requestLog(logger, account), keyGauge(meter, name)];
    const service = new ServiceClient({
      ...serviceOptions(account),
      onRequest: (end) => {
        log(end);
        watchKey(end);
      },
      traceRequest: traces?.traceRequests(name),
    });
    return [name, service] as const;
  });
  const place = openArchive(archive);
  // While tokens are changed, the first is the new one.
  const token = (): string => callback?.tokens[0]?.reveal() ?? '';
  const webhooks = [...config.webhooks.values()].map(({ name, url, secrets }) => {
    return [name, { url, secrets: () => secrets.map((secret) => secret.reveal()) }] as const;
  });
  const serviceHosts = [...accounts.values()].map(({ serviceUrl }) => new URL(serviceUrl).hostname);
  return {
    services: new Map(services),
    keySettings: new Map([...accounts.values()].map(({ name, settings }) => [name, settings.apiKey])),
    limits: openAccountLimits(config, logger),
    allowed: config.allowed,
    archive: place,
    sharedUploads: new SharedUploads(place),
    unarchived: new UnarchivedResults(),
    sources: sourceRules(config),
    uploadConnections: new ConnectionRule({ hosts: config.storageHosts, serviceHosts }),
    outputLimits: { ...config.outputs, minimumRate },
    prices: config.prices,
    downloads: createDownloadAgent(new ConnectionRule({ hosts: config.storageHosts, serviceHosts })),
    archiveSlots: config.slots.archives,
    accountPatienceMs: config.accountPatienceMs,
    webhooks: new Map(webhooks),
    connections: createWebhookAgent(),
    traces: traces?.activities,
    callback: callback === null ? undefined : { url: callback.url, token, headerPrefix: callback.headerPrefix },
  };
}

function sourceRules(config: WorkerConfig): SourceRules {
  const { inputRoots, inputHosts, inputBuckets, isS3PathStyle } = config;
  const objects = { client: createArchiveClient(isS3PathStyle), places: inputBuckets };
  return {
    inputRoots,
    inputHosts,
    maxBytes: maxFileBytes,
    get spoolFolder() {
      return spoolFolder();
    },
    minimumRate,
    objects: inputBuckets.length > 0 ? objects : undefined,
  };
}

export async function closeDependencies({ services, downloads, connections }: WorkerDependencies): Promise<void> {
  await Promise.all([...services.values()].map((service) => service.close()));
  await downloads.close();
  await connections.close();
}
