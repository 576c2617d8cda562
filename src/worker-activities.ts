import type { Client } from '@temporalio/client';
import type { Logger } from 'pino';
import {
  type ActivityDependencies,
  createActivities,
  createBatchActivities,
  createSweepActivities,
  createWebhookActivities,
  type WebhookDependencies,
} from './activities';
import { DailyBudgets } from './activities/daily-budgets';
import { TemporalAccountDays } from './client/account-days';
import { Longhaul } from './client/longhaul';
import { TemporalRowTasks } from './client/batch/row-tasks';
import { findFollower, findWorkflowsOf } from './client/start-task';
import type { TemporalAccess } from './client/temporal-access';
import type { WorkerConfig } from './config/worker-config';
import type { Activities } from './contract/activities';
import type { BatchActivities } from './contract/batch/batch-activities';
import type { SweepActivities } from './contract/sweep';
import type { WebhookActivities } from './contract/webhook';
import type { FindingView } from './reconcile/finding-view';
import { sweep } from './reconcile/sweep';

/** Whatever a worker runs for workflows. */
export type AllActivities = Activities & BatchActivities & SweepActivities & WebhookActivities;

/** How long the search for the workflow that follows a task may take. */
const followerTimeoutMs = 3_000;
/** How long a query of a sweep waits for its turn; after that the task counts as not answered for. */
const sweepPatienceMs = 60_000;

/** Of tasks, batches, sweeps and webhooks, with what they ask Temporal for. */
export function allActivities(
  dependencies: ActivityDependencies & WebhookDependencies,
  { prices }: WorkerConfig,
  access: TemporalAccess,
  logger: Logger,
): AllActivities {
  const days = new TemporalAccountDays(access);
  const dailyBudgets = new DailyBudgets({ limits: prices.dailyBudgets, prices, days });
  return {
    ...createActivities({ ...dependencies, dailyBudgets, ...followerFinders(access.client) }),
    ...createBatchActivities({ ...dependencies, dailyBudgets, rowTasks: new TemporalRowTasks(access) }),
    ...createSweepActivities(sweeper(dependencies, access, logger)),
    ...createWebhookActivities(dependencies),
  };
}

/** A caller waits for the answer, so Temporal may not take long over it. */
function followerFinders(client: Client): Pick<ActivityDependencies, 'findFollower' | 'findWorkflowsOf'> {
  const inTime = <T>(ask: () => Promise<T>): Promise<T> => client.withDeadline(Date.now() + followerTimeoutMs, ask);
  return {
    findFollower: ({ requestId, account }) => inTime(() => findFollower({ client }, requestId, account)),
    findWorkflowsOf: ({ requestId, account }) => inTime(() => findWorkflowsOf({ client }, requestId, account)),
  };
}

/** Sweeps share the rate of queries with the tasks that are watched. */
function sweeper(
  { services, archive, limits }: ActivityDependencies,
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
      return limits.get(account)?.polls.runInLine(query, sweepPatienceMs, options.signal) ?? query();
    };
    const parts = { longhaul, services, archive, taskQueue, inTurn };
    const result = await sweep(parts, plan, { ...options, onFinding });
    const { unsafe, handled, report } = result;
    logger.info({ unsafe, handled, report }, 'sweep ended');
    return result;
  };
}
