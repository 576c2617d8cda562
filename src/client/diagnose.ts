import { Client, type Connection } from '@temporalio/client';
import { temporal as temporalProto } from '@temporalio/proto';
import type { TemporalConnection } from '../config/temporal-connection';
import { archiveTaskQueue, transferTaskQueue, watchTaskQueue } from '../contract/task-queues';
import { searchAttributes } from '../contract/search-attributes';
import { archiveOf } from '../contract/worker-identity';
import { formatDuration } from '../core/time';
import { errorMessage } from '../core/text';
import { connectTemporal } from './connect-temporal';
import { LonghaulError, taskQueueOption } from './errors';
import {
  isNotAllowed,
  type OperatorConnection,
  attributeType,
  registerSearchAttributes,
  searchAttributeGaps,
} from './search-attribute-check';
import { listWorkflows } from './list-workflows';
import { describeWorkflow, overloadFilter, overloadWords, stuckFilter, stuckRemedy } from './workflow-info';
import { readHeldUp } from './task/pending-work';
import { readPollers } from './queue-pollers';
import { toClientError } from './temporal-access';
import {
  type PollerInfo,
  routedVersions,
  routingProblem,
  showVersion,
  type TaskQueueView,
  unservedProblem,
} from './worker-versions';

/** The result of one check. */
export interface Finding {
  readonly check: string;
  readonly isOk: boolean;
  /** What was found. */
  readonly found: string;
  /** What to do about it; null when nothing needs doing. */
  readonly remedy: string | null;
}

/** What {@link diagnose} checks. */
export interface DiagnoseOptions {
  readonly temporal: TemporalConnection;
  readonly taskQueue: string;
  /** Register search attributes that are missing. */
  readonly fix: boolean;
  /** Only what the first worker needs: Temporal, the namespace, the search attributes. @default false */
  readonly setupOnly?: boolean;
}

/** Within the retention Temporal knows what became of a task; a week passes quickly. */
const shortRetentionMs = 7 * 24 * 3_600_000;
/** So many stuck workflows are named. */
const shownStuck = 5;
/** So many tasks that wait for their create are asked why, and so many answers are shown. */
const [lookedAtCreates, shownProblems] = [20, 3];
const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = temporalProto.api.enums.v1.TaskQueueType;

/**
 * Checks everything that a task needs of Temporal, in the order in which it is needed. Checks that depend on a failed
 * one are left out. Changes nothing, unless `fix` is set.
 */
export async function diagnose(options: DiagnoseOptions): Promise<Finding[]> {
  const { temporal, taskQueue, fix, setupOnly = false } = options;
  let connection: Connection;
  try {
    connection = await connectTemporal(temporal);
  } catch (error) {
    return [failed('Temporal', error, temporal)];
  }
  try {
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    const reached = fine('Temporal', `version ${serverVersion} answers at ${temporal.address}`);
    const namespace = await checkNamespace(connection, temporal);
    if (!namespace.isOk) return [reached, namespace];
    const attributes = await checkSearchAttributes(connection, temporal, fix);
    if (setupOnly) return [reached, namespace, attributes];
    const client = new Client({ connection, namespace: temporal.namespace });
    const workers = await checkWorkers(client, temporal, taskQueue);
    const stuck = await checkStuck(client, temporal, taskQueue);
    return [reached, namespace, attributes, ...workers, ...stuck, await checkCreates(client, temporal, taskQueue)];
  } finally {
    await connection.close();
  }
}

async function checkNamespace(connection: Connection, temporal: TemporalConnection): Promise<Finding> {
  const { namespace } = temporal;
  try {
    const { config } = await connection.workflowService.describeNamespace({ namespace });
    const retentionS = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
    return namespaceFinding(namespace, retentionS * 1_000);
  } catch (error) {
    return failed('Namespace', error, temporal);
  }
}

/** @internal exported for tests: a short retention is no problem, but comes with advice */
export function namespaceFinding(namespace: string, retentionMs: number): Finding {
  const found = `"${namespace}" keeps ended tasks for ${formatDuration(retentionMs)}`;
  if (retentionMs >= shortRetentionMs) return fine('Namespace', found);
  const command = `temporal operator namespace update --namespace ${namespace} --retention 30d`;
  return { ...fine('Namespace', found), remedy: `Let it keep them for 30 days, say: ${command}.` };
}

/** @internal exported for tests, which give it a connection without operator service */
export async function checkSearchAttributes(
  connection: OperatorConnection,
  temporal: TemporalConnection,
  fix: boolean,
): Promise<Finding> {
  const check = 'Search attributes';
  const { namespace } = temporal;
  try {
    const { missing, mistyped } = await searchAttributeGaps(connection, namespace);
    if (mistyped.length > 0) {
      const remedy = `Remove them (temporal operator search-attribute remove --name ${mistyped[0] ?? ''}), then run "longhaul doctor --setup"; or use another namespace.`;
      return {
        check,
        isOk: false,
        found: `registered, but not as ${mistyped.map((name) => `${attributeType(name)}: ${name}`).join(', ')}`,
        remedy,
      };
    }
    if (missing.length === 0) return fine(check, 'all registered');
    const names = missing.join(', ');
    const isCloud = cloudHost.test(temporal.address);
    const remedy = isCloud ? cloudCommand(namespace, missing) : 'Run "longhaul doctor --setup".';
    if (!fix || isCloud) return { check, isOk: false, found: `missing: ${names}`, remedy };
    try {
      await registerSearchAttributes(connection, namespace, missing);
    } catch (error) {
      if (!isNotAllowed(error)) throw error;
      const found = `missing: ${names}; Temporal does not let this client register them`;
      return { check, isOk: false, found, remedy: operatorCommand(namespace, missing) };
    }
    return fine(check, `registered now: ${names}`);
  } catch (error) {
    return failed(check, error, temporal);
  }
}

/** Endpoints of Temporal Cloud: of a namespace, and of a region. */
const cloudHost = /\.(tmprl\.cloud|api\.temporal\.io)(:\d+)?$/i;

function cloudCommand(namespace: string, names: readonly string[]): string {
  const attributes = names.map((name) => `--search-attribute ${name}=${attributeType(name)}`).join(' ');
  return `Temporal Cloud lets its own tool register them: tcld namespace search-attributes add --namespace ${namespace} ${attributes}`;
}

function operatorCommand(namespace: string, names: readonly string[]): string {
  const attributes = names.map((name) => `--name ${name} --type ${attributeType(name)}`).join(' ');
  return `Have an operator run: temporal operator search-attribute create --namespace ${namespace} ${attributes}`;
}

async function checkWorkers(client: Client, temporal: TemporalConnection, taskQueue: string): Promise<Finding[]> {
  const { workflowService } = client;
  const { namespace } = temporal;
  const queues = [
    { check: 'Workers for workflows', name: taskQueue, taskQueueType: TASK_QUEUE_TYPE_WORKFLOW },
    { check: 'Workers for activities', name: taskQueue, taskQueueType: TASK_QUEUE_TYPE_ACTIVITY },
    { check: 'Workers for transfers', name: transferTaskQueue(taskQueue), taskQueueType: TASK_QUEUE_TYPE_ACTIVITY },
    { check: 'Workers for archives', name: archiveTaskQueue(taskQueue), taskQueueType: TASK_QUEUE_TYPE_ACTIVITY },
    { check: 'Workers for watches', name: watchTaskQueue(taskQueue), taskQueueType: TASK_QUEUE_TYPE_ACTIVITY },
  ] as const;
  const findings = await Promise.all(
    queues.map(async ({ check, name, taskQueueType }) => {
      try {
        const seen = await workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType });
        const { live, found } = await readPollers(workflowService, { namespace, name, pollers: seen.pollers });
        const isOk = live.length > 0;
        const remedy = isOk ? null : `Start a worker: longhaul worker${taskQueueOption(taskQueue)}.`;
        const workers: Finding = { check, isOk, found, remedy };
        if (taskQueueType !== TASK_QUEUE_TYPE_WORKFLOW) return [workers];
        // What is pinned to a version whose workers were stopped too early stands still, although others poll.
        const unserved = await unservedProblem(client, name, live);
        return [
          workers,
          ...archiveFindings(live),
          ...versionFindings(namespace, live, seen),
          ...(unserved === undefined ? [] : [{ check: 'Versions that tasks are pinned to', isOk: false, ...unserved }]),
        ];
      } catch (error) {
        return [failed(check, error, temporal)];
      }
    }),
  );
  return findings.flat();
}

/** Create records in one archive protect nothing that workers with another one start. */
function archiveFindings(live: readonly PollerInfo[]): Finding[] {
  const archives = new Set(live.flatMap(({ identity }) => archiveOf(identity ?? '') ?? []));
  if (archives.size < 2) return [];
  return [
    {
      check: 'Archive of the workers',
      isOk: false,
      found: `${archives.size} archives are kept by the workers of this task queue; a key that is started again may be paid twice`,
      remedy: 'Give all of them the same LONGHAUL_ARCHIVE, and restart those that have another.',
    },
  ];
}

/** With build ids, Temporal gives new tasks to the current version alone, whoever polls. */
function versionFindings(namespace: string, live: readonly PollerInfo[], { versioningInfo }: TaskQueueView): Finding[] {
  const check = 'Version of the workers';
  const problem = routingProblem(namespace, live, versioningInfo);
  if (problem !== undefined) return [{ check, isOk: false, ...problem }];
  const routed = routedVersions(versioningInfo);
  return routed.length === 0 ? [] : [fine(check, `new tasks go to ${routed.map(showVersion).join(' and ')}`)];
}

/** Workflows whose workflow tasks fail or time out are listed as running. */
async function checkStuck(
  client: Client,
  temporal: TemporalConnection,
  taskQueue: string,
): Promise<readonly Finding[]> {
  const check = 'Stuck tasks and batches';
  const running = `TaskQueue = ${JSON.stringify(taskQueue)} AND ExecutionStatus = "Running"`;
  try {
    const [stuck, overloaded] = await Promise.all(
      [stuckFilter, overloadFilter].map(async (filter) => await countAndName(client, `${running} AND ${filter}`)),
    );
    const findings: Finding[] = [];
    if (stuck !== undefined) {
      const more = stuck.more > 0 ? ` and ${stuck.more} more (longhaul list --stuck)` : '';
      const found = `${stuck.count} make no progress, because their workflow tasks fail: ${stuck.shown.join(', ')}${more}`;
      findings.push({ check, isOk: false, found, remedy: stuckRemedy(stuck.shown[0] ?? '') });
    }
    if (overloaded !== undefined) {
      const found = `${overloaded.count} make no progress, because their workflow tasks time out, such as ${overloaded.shown.join(', ')}`;
      findings.push({ check, isOk: false, found, remedy: overloadWords });
    }
    if (findings.length > 0) return findings;
    return [
      fine(
        check,
        'none: no workflow task fails again and again, as Temporal lists it a minute or two after the first failure',
      ),
    ];
  } catch (error) {
    return [failed(check, error, temporal)];
  }
}

/** Undefined where there is none. */
async function countAndName(
  client: Client,
  query: string,
): Promise<{ readonly count: number; readonly shown: readonly string[]; readonly more: number } | undefined> {
  const { count } = await client.workflow.count(query);
  if (count === 0) return undefined;
  const shown: string[] = [];
  for await (const { workflowId } of listWorkflows(client, query, shownStuck)) {
    shown.push(workflowId);
    if (shown.length >= shownStuck) break;
  }
  return { count, shown, more: count - shown.length };
}

/** What refuses one create mostly refuses those of its account: all of them wait, and nothing fails. */
async function checkCreates(client: Client, temporal: TemporalConnection, taskQueue: string): Promise<Finding> {
  const check = 'Creates';
  const ofStatus = `${searchAttributes.status.name} = "Creating"`;
  const query = `TaskQueue = ${JSON.stringify(taskQueue)} AND ExecutionStatus = "Running" AND ${ofStatus}`;
  try {
    const problems = new Set<string>();
    let looked = 0;
    for await (const { workflowId } of listWorkflows(client, query, lookedAtCreates)) {
      const { pendingActivities } = await describeWorkflow(client, workflowId);
      const heldUp = await readHeldUp(client, pendingActivities);
      if (heldUp !== undefined) problems.add(heldUp.words);
      if ((looked += 1) >= lookedAtCreates) break;
    }
    if (problems.size === 0) return fine(check, 'none that was looked at is held up');
    const remedy = 'Nothing is lost: they are sent once that is settled. longhaul list --held-up names the tasks.';
    return { check, isOk: false, found: `held up: ${[...problems].slice(0, shownProblems).join('; ')}`, remedy };
  } catch (error) {
    return failed(check, error, temporal);
  }
}

function fine(check: string, found: string): Finding {
  return { check, isOk: true, found, remedy: null };
}

/** An error of this client already says what to do. */
function failed(check: string, error: unknown, { address, namespace }: TemporalConnection): Finding {
  const known = toClientError(error, { address, namespace, workflowId: '' });
  const found = errorMessage(known);
  const remedy = known instanceof LonghaulError ? null : `Ask the operators of Temporal at ${address}.`;
  return { check, isOk: false, found, remedy };
}
