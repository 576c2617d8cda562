import { Client, type Connection } from '@temporalio/client';
import { temporal as temporalProto } from '@temporalio/proto';
import type { TemporalConnection } from '../config/temporal-connection';
import { problemText } from '../contract/problem';
import { searchAttributes } from '../contract/search-attributes';
import { overloadAdvice, stuckAdvice } from '../contract/task-advice';
import { archiveOf, archiveTaskQueue, transferTaskQueue, watchTaskQueue } from '../contract/task-queues';
import { errorMessage } from '../core/text';
import { formatDuration } from '../core/time';
import { connectTemporal } from './connect-temporal';
import { LonghaulError, taskQueueOption } from './errors';
import {
  attributeType,
  isNotAllowed,
  type OperatorConnection,
  registerSearchAttributes,
  searchAttributeGaps,
} from './search-attribute-check';
import { findLateRows } from './batch/late-rows';
import { clockRemedy, maxClockApartMs, readClockAheadMs } from './server-clock';
import { Sweeps } from './sweeps';
import { pendingProblem } from './task/pending-work';
import { toClientError } from './temporal-access';
import { type Problem, readPollers, routedVersions, routingProblem, showVersion, unservedProblem } from './workers';
import { describeWorkflow, listWorkflows, overloadFilter, runningOn, stuckFilter } from './workflow-info';

export interface Finding {
  readonly check: string;
  readonly isOk: boolean;
  readonly found: string;
  /** Null when nothing needs doing. */
  readonly remedy: string | null;
}

export interface DiagnoseOptions {
  readonly temporal: TemporalConnection;
  readonly taskQueue: string;
  readonly fix: boolean;
  /** Only what the first worker needs: Temporal, the namespace, the search attributes. @default false */
  readonly setupOnly?: boolean;
}

/** After the retention, Temporal does not know what became of a task. */
const shortRetentionMs = 7 * 24 * 3_600_000;
const shownStuck = 5;
const [lookedAtCreates, shownProblems] = [20, 3];
const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = temporalProto.api.enums.v1.TaskQueueType;

/** A text when all is well. */
type Outcome = string | Problem;

async function runCheck(
  check: string,
  { address, namespace }: TemporalConnection,
  probe: () => Promise<Outcome | readonly Finding[]>,
): Promise<Finding[]> {
  try {
    const found = await probe();
    return typeof found === 'string' || 'found' in found ? [finding(check, found)] : [...found];
  } catch (error) {
    // An error of this client already says what to do.
    const known = toClientError(error, { address, namespace, workflowId: '' });
    const remedy = known instanceof LonghaulError ? null : `Ask the operators of Temporal at ${address}.`;
    return [{ check, isOk: false, found: errorMessage(known), remedy }];
  }
}

function finding(check: string, found: Outcome): Finding {
  return typeof found === 'string' ? { check, isOk: true, found, remedy: null } : { check, isOk: false, ...found };
}

/** In the order of need; checks that depend on a failed one are left out. Changes nothing, unless `fix` is set. */
export async function diagnose({ temporal, taskQueue, fix, setupOnly = false }: DiagnoseOptions): Promise<Finding[]> {
  let connection: Connection | undefined;
  const reached = await runCheck('Temporal', temporal, async () => {
    connection = await connectTemporal(temporal);
    const { serverVersion } = await connection.workflowService.getSystemInfo({});
    return `version ${serverVersion} answers at ${temporal.address}`;
  });
  if (connection === undefined) return reached;
  const opened = connection;
  try {
    if (reached.some(({ isOk }) => !isOk)) return reached;
    const namespace = await runCheck('Namespace', temporal, async () => {
      const { config } = await opened.workflowService.describeNamespace({ namespace: temporal.namespace });
      const retentionS = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
      return [namespaceFinding(temporal.namespace, retentionS * 1_000)];
    });
    if (namespace.some(({ isOk }) => !isOk)) return [...reached, ...namespace];
    const attributes = await checkSearchAttributes(opened, temporal, fix);
    const findings = [...reached, ...namespace, attributes];
    const client = new Client({ connection: opened, namespace: temporal.namespace });
    const sweeps = new Sweeps({ client, address: temporal.address, taskQueue, webUiUrl: null });
    const installsSweep = setupOnly && attributes.isOk;
    const sweep = (): Promise<Finding[]> => runCheck('Sweep', temporal, () => checkSweep(sweeps, installsSweep));
    if (setupOnly) return [...findings, ...(installsSweep ? await sweep() : [])];
    // First: with a clock that is wrong, no age below means anything.
    let aheadMs: number | undefined;
    const clock = async (): Promise<Outcome> => clockOutcome((aheadMs = await readClockAheadMs(client)));
    findings.push(...(await runCheck('Clock', temporal, clock)));
    findings.push(...(await checkWorkers(client, temporal, taskQueue, aheadMs)));
    findings.push(...(await runCheck(stuckCheck, temporal, () => findStuck(client, taskQueue))));
    findings.push(...(await runCheck('Creates', temporal, () => findHeldUpCreates(client, taskQueue))));
    findings.push(...(await runCheck('Late rows', temporal, () => lateRows(client, taskQueue, aheadMs))));
    return [...findings, ...(await sweep())];
  } finally {
    await opened.close();
  }
}

/** @internal exported for tests: a short retention is no problem, but comes with advice */
export function namespaceFinding(namespace: string, retentionMs: number): Finding {
  const fine = finding('Namespace', `"${namespace}" keeps ended tasks for ${formatDuration(retentionMs)}`);
  if (retentionMs >= shortRetentionMs) return fine;
  const command = `temporal operator namespace update --namespace ${namespace} --retention 30d`;
  return { ...fine, remedy: `Let it keep them for 30 days, say: ${command}.` };
}

/** Endpoints of Temporal Cloud: of a namespace, and of a region. */
const cloudHost = /\.(tmprl\.cloud|api\.temporal\.io)(:\d+)?$/i;

/** @internal exported for tests, which give it a connection without operator service */
export async function checkSearchAttributes(
  connection: OperatorConnection,
  temporal: TemporalConnection,
  fix: boolean,
): Promise<Finding> {
  const { namespace } = temporal;
  const [checked] = await runCheck('Search attributes', temporal, async () => {
    const { missing, mistyped } = await searchAttributeGaps(connection, namespace);
    if (mistyped.length > 0) {
      const remedy = `Remove them (temporal operator search-attribute remove --name ${mistyped[0] ?? ''}), then run "longhaul doctor --setup"; or use another namespace.`;
      const types = mistyped.map((name) => `${attributeType(name)}: ${name}`).join(', ');
      return { found: `registered, but not as ${types}`, remedy };
    }
    if (missing.length === 0) return 'all registered';
    const names = missing.join(', ');
    const isCloud = cloudHost.test(temporal.address);
    if (isCloud) {
      const options = missing.map((name) => `--search-attribute ${name}=${attributeType(name)}`).join(' ');
      const remedy = `Temporal Cloud lets its own tool register them: tcld namespace search-attributes add --namespace ${namespace} ${options}`;
      return { found: `missing: ${names}`, remedy };
    }
    if (!fix) return { found: `missing: ${names}`, remedy: 'Run "longhaul doctor --setup".' };
    try {
      await registerSearchAttributes(connection, namespace, missing);
      return `registered now: ${names}`;
    } catch (error) {
      if (!isNotAllowed(error)) throw error;
      const options = missing.map((name) => `--name ${name} --type ${attributeType(name)}`).join(' ');
      const remedy = `Have an operator run: temporal operator search-attribute create --namespace ${namespace} ${options}`;
      return { found: `missing: ${names}; Temporal does not let this client register them`, remedy };
    }
  });
  return checked ?? finding('Search attributes', '');
}

function clockOutcome(aheadMs: number | undefined): Outcome {
  if (aheadMs === undefined) return 'Temporal does not tell this client its time';
  const apart = formatDuration(Math.abs(aheadMs));
  if (Math.abs(aheadMs) <= maxClockApartMs) return `${apart} apart from Temporal’s`;
  const found = `this machine’s is ${apart} ${aheadMs > 0 ? 'ahead of' : 'behind'} Temporal’s`;
  return { found, remedy: clockRemedy };
}

async function lateRows(client: Client, taskQueue: string, aheadMs = 0): Promise<Outcome> {
  const late = await findLateRows(client, taskQueue, aheadMs);
  if (late.length === 0) return 'no row of a running batch is late';
  const words = late.map(({ batch, count, shown, afterMs }) => {
    const names = `${shown.join(', ')}${count > shown.length ? ` and ${count - shown.length} more` : ''}`;
    return `${count} of the batch ${batch} are at the service for longer than ${formatDuration(afterMs)}, unlike others: ${names}`;
  });
  const remedy = 'Ask the service about them. "longhaul stop ID" ends one; without it, its deadline for a run does.';
  return { found: words.join('; '), remedy };
}

/** @param installs - has one run every hour where none is scheduled. */
async function checkSweep(sweeps: Sweeps, installs: boolean): Promise<Outcome> {
  if (installs) {
    return (await sweeps.installMissing()) ? 'one runs every hour from now on' : 'one is scheduled';
  }
  const { installed, last } = await sweeps.status();
  if (installed === null) {
    const found = 'none is scheduled: a task that somebody terminates is paid for, and nothing says so';
    return { found, remedy: 'longhaul sweep install --every 1h' };
  }
  const remedy = 'longhaul sweep status says more.';
  // Nothing makes safe what is lost.
  const { lost = 0, ...others } = last?.unsafe ?? {};
  const unsafe = Object.values(others).reduce((sum, count) => sum + count, 0);
  if (unsafe > 0) return { found: `the last one found ${unsafe} tasks that are not safe`, remedy };
  if (installed.isPaused) return 'paused in Temporal';
  if (installed.dueAt !== null && Date.parse(installed.dueAt) > Date.now()) {
    return lost > 0
      ? `the last one found nothing unsafe but ${lost} results that are lost`
      : 'nothing unsafe was found';
  }
  return { found: 'none has ended in time', remedy };
}

async function checkWorkers(
  client: Client,
  temporal: TemporalConnection,
  taskQueue: string,
  aheadMs: number | undefined,
): Promise<Finding[]> {
  const { workflowService } = client;
  const { namespace } = temporal;
  const queues = [
    ['Workers for workflows', taskQueue, TASK_QUEUE_TYPE_WORKFLOW],
    ['Workers for activities', taskQueue, TASK_QUEUE_TYPE_ACTIVITY],
    ['Workers for transfers', transferTaskQueue(taskQueue), TASK_QUEUE_TYPE_ACTIVITY],
    ['Workers for archives', archiveTaskQueue(taskQueue), TASK_QUEUE_TYPE_ACTIVITY],
    ['Workers for watches', watchTaskQueue(taskQueue), TASK_QUEUE_TYPE_ACTIVITY],
  ] as const;
  const checkQueue = ([check, name, taskQueueType]: (typeof queues)[number]) =>
    runCheck(check, temporal, async () => {
      const seen = await workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType });
      const queue = { namespace, name, pollers: seen.pollers, aheadMs };
      const { live, silent, found } = await readPollers(workflowService, queue);
      const remedy = `Start a worker: longhaul worker${taskQueueOption(taskQueue)}.`;
      const stopped = {
        found: `${found}; stopped, hanging or killed, for it does not report any more: ${silent.join(', ')}`,
        remedy: 'Restart that process. If it was killed, this ends within 90 s.',
      };
      // Of a process that polls all five it is said once.
      const isOfWorkflows = taskQueueType === TASK_QUEUE_TYPE_WORKFLOW;
      const polled = isOfWorkflows && silent.length > 0 ? stopped : found;
      const workers = finding(check, live.length > 0 ? polled : { found, remedy });
      if (!isOfWorkflows) return [workers];
      // Create records in one archive protect nothing that workers with another one start.
      const archives = new Set(live.flatMap(({ identity }) => archiveOf(identity ?? '') ?? []));
      const split = archives.size > 1 && {
        found: `${archives.size} archives are kept by the workers of this task queue; a key that is started again may be paid twice`,
        remedy: 'Give all of them the same LONGHAUL_ARCHIVE, and restart those that have another.',
      };
      // With build ids, Temporal gives new tasks to the current version alone, whoever polls.
      const routed = routedVersions(seen.versioningInfo).map(showVersion).join(' and ');
      const routing = routingProblem(namespace, live, seen.versioningInfo) ?? (routed && `new tasks go to ${routed}`);
      // What is pinned to a version whose workers were stopped too early stands still, although others poll.
      const unserved = await unservedProblem(client, name, live);
      return [
        workers,
        ...(split ? [finding('Archive of the workers', split)] : []),
        ...(routing ? [finding('Version of the workers', routing)] : []),
        ...(unserved ? [finding('Versions that tasks are pinned to', unserved)] : []),
      ];
    });
  return (await Promise.all(queues.map(checkQueue))).flat();
}

const stuckCheck = 'Stuck tasks and batches';

async function findStuck(client: Client, taskQueue: string): Promise<readonly Finding[]> {
  const running = runningOn(taskQueue);
  const [stuck, overloaded] = await Promise.all(
    [stuckFilter, overloadFilter].map(async (filter) => await countAndName(client, `${running} AND ${filter}`)),
  );
  const findings: Finding[] = [];
  if (stuck !== undefined) {
    const more = stuck.count - stuck.shown.length;
    const named = `${stuck.shown.join(', ')}${more > 0 ? ` and ${more} more (longhaul list --problem Stuck)` : ''}`;
    const found = `${stuck.count} make no progress, because their workflow tasks fail: ${named}`;
    // It may have gone on since it was listed.
    const described = await describeWorkflow(client, stuck.shown[0] ?? '').catch(() => undefined);
    findings.push(finding(stuckCheck, { found, remedy: problemText(described?.problem ?? stuckAdvice()) }));
  }
  if (overloaded !== undefined) {
    const found = `${overloaded.count} make no progress, because their workflow tasks time out, such as ${overloaded.shown.join(', ')}`;
    findings.push(finding(stuckCheck, { found, remedy: problemText(overloadAdvice) }));
  }
  const none =
    'none: no workflow task fails again and again, as Temporal lists it a minute or two after the first failure';
  return findings.length > 0 ? findings : [finding(stuckCheck, none)];
}

/** Undefined where there is none. */
async function countAndName(
  client: Client,
  query: string,
): Promise<{ readonly count: number; readonly shown: readonly string[] } | undefined> {
  const { count } = await client.workflow.count(query);
  if (count === 0) return undefined;
  const shown: string[] = [];
  for await (const { workflowId } of listWorkflows(client, query, shownStuck)) {
    if (shown.push(workflowId) >= shownStuck) break;
  }
  return { count, shown };
}

/** What refuses one create mostly refuses all of its account: they wait, and nothing fails. */
async function findHeldUpCreates(client: Client, taskQueue: string): Promise<Outcome> {
  const query = `${runningOn(taskQueue)} AND ${searchAttributes.status.name} = "Creating"`;
  const problems = new Set<string>();
  let looked = 0;
  for await (const { workflowId } of listWorkflows(client, query, lookedAtCreates)) {
    const { pendingActivities } = await describeWorkflow(client, workflowId);
    const problem = await pendingProblem(client, pendingActivities);
    if (problem !== null && problem.code !== 'HeldBack') problems.add(problem.message);
    if ((looked += 1) >= lookedAtCreates) break;
  }
  if (problems.size === 0) return 'none that was looked at is held up';
  const remedy = 'Nothing is lost: they are sent once that is settled. longhaul list --problem names the tasks.';
  return { found: `held up: ${[...problems].slice(0, shownProblems).join('; ')}`, remedy };
}
