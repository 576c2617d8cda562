import type { Client, WorkflowService } from '@temporalio/client';
import { status } from '@grpc/grpc-js';
import { temporal } from '@temporalio/proto';
import { listWorkflows } from './list-workflows';

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
  const versions = live.map(versionOf);
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
  const isPolled = routed.some(({ deploymentName, buildId }) =>
    versions.some((version) => version?.deploymentName === deploymentName && version.buildId === buildId),
  );
  if (live.length === 0 || isPolled) return undefined;
  const remedy = 'Start workers of that version';
  return {
    found: `new tasks go to ${routed.map(showVersion).join(' and ')}, and no worker of it polls`,
    remedy:
      there === undefined
        ? `${remedy}, with its build id (docs/guides/versions.md).`
        : `${remedy}, or make the one that polls current: ${setCurrentCommand(namespace, there)}`,
  };
}

/** So many versions without workers are named. */
const shownUnserved = 5;
/** As Temporal writes a version: `<deployment>:<build id>`. */
const versionAttribute = 'TemporalWorkerDeploymentVersion';

/**
 * What is pinned to versions that no worker polls for, and what to do; undefined when nothing is. `live` are those that
 * poll the queue. Throws errors of gRPC.
 */
export async function unservedProblem(
  client: Client,
  taskQueue: string,
  live: readonly PollerInfo[],
): Promise<{ readonly found: string; readonly remedy: string } | undefined> {
  const polled = live.map(versionOf).filter((version) => version !== undefined);
  const known = new Set(polled.map(({ deploymentName, buildId }) => `${deploymentName}:${buildId}`));
  const pinned = `TaskQueue = ${JSON.stringify(taskQueue)} AND ExecutionStatus = "Running" AND TemporalWorkflowVersioningBehavior = "Pinned"`;
  const found: string[] = [];
  try {
    while (found.length < shownUnserved) {
      const names = [...known].map((version) => JSON.stringify(version)).join(', ');
      const others = names === '' ? '' : ` AND ${versionAttribute} NOT IN (${names})`;
      const version = await firstVersion(client, `${pinned}${others}`);
      if (version === undefined) break;
      const { count } = await client.workflow.count(`${pinned} AND ${versionAttribute} = ${JSON.stringify(version)}`);
      known.add(version);
      const what = count === 1 ? '1 running workflow is' : `${count} running workflows are`;
      found.push(`${what} pinned to ${showAttribute(version)}, which no worker polls for`);
    }
  } catch (error) {
    // A server without these search attributes pins nothing.
    if (codeOf(error) !== status.INVALID_ARGUMENT) throw error;
  }
  if (found.length === 0) return undefined;
  return {
    found: `${found.join('; ')}: nothing moves there, and a stop has no effect`,
    remedy: 'Start workers of that version again, or move what is pinned to it: docs/guides/versions.md.',
  };
}

/** The version of the newest workflow that a query finds; undefined when it finds none. */
async function firstVersion(client: Client, query: string): Promise<string | undefined> {
  for await (const { attributes } of listWorkflows(client, query, 1)) return attributes.get(versionAttribute);
  return undefined;
}

function showAttribute(version: string): string {
  const [deploymentName = '', buildId] = version.split(/:(.*)/s, 2);
  return buildId === undefined ? `version "${version}"` : showVersion({ deploymentName, buildId });
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
    const code = codeOf(error);
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

/** The version that polls; undefined for a worker without a build id. */
function versionOf({ deploymentOptions: options }: PollerInfo): WorkerVersion | undefined {
  return options?.workerVersioningMode === WORKER_VERSIONING_MODE_VERSIONED ? toVersion(options) : undefined;
}

/** The status of an error of gRPC, which the SDK's client may have wrapped. */
function codeOf(error: unknown): unknown {
  const { cause } = error instanceof Error ? error : {};
  return [error, cause].map((each) => (each instanceof Error && 'code' in each ? each.code : undefined)).find(Boolean);
}

function toVersion(
  version: { deploymentName?: string | null; buildId?: string | null } | null | undefined,
): WorkerVersion | undefined {
  const { deploymentName, buildId } = version ?? {};
  return deploymentName && buildId ? { deploymentName, buildId } : undefined;
}
