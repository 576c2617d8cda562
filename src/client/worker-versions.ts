import type { WorkflowService } from '@temporalio/client';
import { status } from '@grpc/grpc-js';
import { temporal } from '@temporalio/proto';

const { WORKER_VERSIONING_MODE_VERSIONED } = temporal.api.enums.v1.WorkerVersioningMode;

/** A version of a worker deployment. */
export interface WorkerVersion {
  readonly deploymentName: string;
  readonly buildId: string;
}

/** What Temporal says of a task queue. */
export type TaskQueueView = Pick<
  temporal.api.workflowservice.v1.DescribeTaskQueueResponse.$Properties,
  'versioningInfo'
> & { readonly pollers: readonly PollerInfo[] };

/** What Temporal says of one that polls. */
export type PollerInfo = temporal.api.taskqueue.v1.PollerInfo.$Properties;

type Routing = Pick<
  temporal.api.deployment.v1.RoutingConfig.$Properties,
  'currentDeploymentVersion' | 'rampingDeploymentVersion' | 'rampingVersionPercentage'
>;

/** The versions that Temporal gives new tasks to: the current one, and one that is ramped up; none without build ids. */
export function routedVersions(routing: Routing | null | undefined): WorkerVersion[] {
  const { currentDeploymentVersion, rampingDeploymentVersion, rampingVersionPercentage } = routing ?? {};
  const isRamped = (rampingVersionPercentage ?? 0) > 0;
  return [toVersion(currentDeploymentVersion), ...(isRamped ? [toVersion(rampingDeploymentVersion)] : [])].filter(
    (version) => version !== undefined,
  );
}

/**
 * Why new tasks of a queue stand still although workers poll it, and what to do; undefined when they do not. `live` are
 * those that poll it.
 */
export function routingProblem(
  namespace: string,
  live: readonly PollerInfo[],
  routing: Routing | null | undefined,
): { readonly found: string; readonly remedy: string } | undefined {
  const versions = live.map(({ deploymentOptions: options }) =>
    options?.workerVersioningMode === WORKER_VERSIONING_MODE_VERSIONED ? toVersion(options) : undefined,
  );
  const routed = routedVersions(routing);
  const [there] = versions.filter((version) => version !== undefined);
  if (routed.length === 0) {
    if (there === undefined || versions.includes(undefined)) return undefined;
    const { deploymentName } = there;
    return {
      found: `all workers are versions of the deployment "${deploymentName}", which has no current version for this task queue: tasks are not given to them`,
      remedy: `Make one of them current: ${setCurrentCommand(namespace, there)}`,
    };
  }
  if (live.length === 0 || routed.some((one) => versions.some((version) => isSame(one, version)))) return undefined;
  const remedy = 'Start workers of that version';
  return {
    found: `new tasks go to ${routed.map(showVersion).join(' and ')}, and no worker of it polls`,
    remedy:
      there === undefined
        ? `${remedy}, with its build id (docs/guides/versions.md).`
        : `${remedy}, or make the one that polls current: ${setCurrentCommand(namespace, there)}`,
  };
}

/**
 * Whether Temporal gives tasks to any version of this deployment; undefined where the server does not say. Rejects when it
 * does not answer.
 */
export async function hasCurrentVersion(
  workflowService: WorkflowService,
  namespace: string,
  deploymentName: string,
): Promise<boolean | undefined> {
  try {
    const { workerDeploymentInfo } = await workflowService.describeWorkerDeployment({ namespace, deploymentName });
    return routedVersions(workerDeploymentInfo?.routingConfig).length > 0;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // A deployment is known once its first worker polled.
    if (code === status.NOT_FOUND) return false;
    if (code === status.UNIMPLEMENTED || code === status.PERMISSION_DENIED) return undefined;
    throw error;
  }
}

/** The command that has Temporal give new tasks to a version. */
export function setCurrentCommand(namespace: string, { deploymentName, buildId }: WorkerVersion): string {
  const where = namespace === 'default' ? '' : ` --namespace ${namespace}`;
  return `temporal worker deployment set-current-version${where} --deployment-name ${deploymentName} --build-id ${buildId} --yes`;
}

/** For people. */
export function showVersion({ deploymentName, buildId }: WorkerVersion): string {
  return `version "${buildId}" of the deployment "${deploymentName}"`;
}

function toVersion(
  version: { deploymentName?: string | null; buildId?: string | null } | null | undefined,
): WorkerVersion | undefined {
  const { deploymentName, buildId } = version ?? {};
  return deploymentName && buildId ? { deploymentName, buildId } : undefined;
}

function isSame(one: WorkerVersion, other: WorkerVersion | undefined): boolean {
  return one.deploymentName === other?.deploymentName && one.buildId === other.buildId;
}
