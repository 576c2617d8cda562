import { log, metricMeter, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { type FailureType, mayExistUnfollowed } from '../../contract/failure-types';
import { metrics, record } from '../../contract/metrics';
import { rowsOfBatch, taskSearchAttributes } from '../../contract/search-attributes';
import { stateProblem } from '../../contract/state-problem';
import { isOpenRequest, operatorChoices, taskFacts } from '../../contract/task-advice';
import type { TaskStatus } from '../../contract/task-messages';
import { afterEnd } from '../../core/stop-request';
import type { LonghaulStatus } from '../../core/task-state';
import { formatBytes, markdownText } from '../../core/text';
import { formatMoment } from '../../core/time';
import { formatMoney } from '../../money/money';
import type { TaskRun } from './task-run';

export function note({ state }: TaskRun, status: LonghaulStatus, waitingFor: string, nextStep: string): void {
  const isFirst = state.waitingFor === '';
  state.waitingFor = waitingFor;
  state.nextStep = nextStep;
  if (!isFirst && status === state.status) return;
  // The first step counts from the start, whenever a worker took it up.
  if (!isFirst) {
    const nowMs = Date.now();
    record(metricMeter, metrics.taskState, { state: state.status }, (nowMs - state.sinceMs) / 1_000);
    state.sinceMs = nowMs;
  }
  state.status = status;
  log.info('state', { status, requestId: state.requestId, waitingFor });
}

/**
 * As {@link note}, and in lists of tasks.
 *
 * @param failure - the type of the failure that the task ends with.
 */
export function show(
  run: TaskRun,
  status: LonghaulStatus,
  waitingFor: string,
  nextStep: string,
  failure?: FailureType,
): void {
  note(run, status, waitingFor, nextStep);
  const { typedSearchAttributes: upserted } = workflowInfo();
  const attributes = taskSearchAttributes({ ...run.plan, status, requestId: run.state.requestId, failure });
  const changed = attributes.filter(({ key, value }) => upserted.get(key) !== value);
  // An upsert is an event and a billable action; the start may have set them.
  if (changed.length > 0) upsertSearchAttributes(changed);
}

/** @param nextStep - what is left to do for a person. */
export function showEnd(run: TaskRun, status: LonghaulStatus, nextStep: string, failure?: FailureType): void {
  run.isOver = true;
  run.mayRun = mayExistUnfollowed.some((type) => type === failure);
  show(run, status, 'nothing', nextStep, failure);
}

export function taskStatus({ workflowId, state, isOver, mayRun }: TaskRun): TaskStatus {
  const { status, serviceStatusAtMs, problem: words } = state;
  const since = new Date(state.sinceMs).toISOString();
  const isHeldBack = state.turnInMs !== undefined;
  return {
    workflowId,
    status,
    since,
    startedAt: new Date(state.requestedAtMs).toISOString(),
    serviceStatusAt: serviceStatusAtMs === undefined ? undefined : new Date(serviceStatusAtMs).toISOString(),
    requestId: state.requestId,
    serviceStatus: state.serviceStatus,
    queuePosition: state.queuePosition,
    polls: state.polls,
    failedPolls: state.failedPolls,
    createRequests: state.createRequests,
    waitingFor: state.waitingFor,
    nextStep: state.nextStep,
    problem: isOver ? null : stateProblem({ workflowId, status, since, words, isHeldBack }),
    stopRequests: state.stopRequests.map((request) => {
      const { verb, askedAtMs, outcome, words } = isOver ? afterEnd(request, mayRun) : request;
      return { verb, askedAt: new Date(askedAtMs).toISOString(), outcome, words };
    }),
  };
}

const watchedStates: readonly string[] = ['Queuing', 'Preparing', 'Running', 'Watching'];
const maxNamed = 5;
const maxNameLength = 100;
const maxPathLength = 300;

export function taskDetails(run: TaskRun): string {
  const { plan, state, isOver, archived } = run;
  const { batch } = plan;
  const { cost, inputs } = state;
  const status = taskStatus(run);
  const isWatchedByActivity = plan.watch === 'activity' && !isOver && watchedStates.includes(status.status);
  const known = {
    ...status,
    polls: isWatchedByActivity ? null : status.polls,
    createRequests: status.status === 'Creating' ? null : status.createRequests,
  };
  const unknownCost = isOver && state.requestId !== null ? 'not known: there is no price for its app' : null;
  const facts = [
    ...taskFacts(known, (iso) => `as of ${formatMoment(iso)}`),
    ['queries', isWatchedByActivity ? 'counted by the pending activity watchTask, in its heartbeat' : null],
    ['cost', cost === null ? unknownCost : formatMoney(cost)],
    ['to stop it', isOver ? null : howToStop(status)],
    ['row of', batch && `batch:${batch.id}`],
    ['problem', state.problem],
  ] as const;
  const choices = isOver ? [] : operatorChoices(status.status, status.workflowId);
  const inputBytes = inputs.reduce((sum, { bytes }) => sum + bytes, 0);
  const outputs = archived?.outputs.slice(0, maxNamed).map(({ path }) => path) ?? [];
  return [
    `### ${status.status}`,
    `since ${formatMoment(status.since)}`,
    ...section(
      '**For you to decide**, with More Actions, Send an Update; or in a terminal:',
      choices.map(({ update, argument, command, meaning }) => {
        return `\`${update}\`${argument === null ? '' : ` with \`${argument}\``}, or \`${command}\`: ${meaning}`;
      }),
    ),
    '',
    ...facts.flatMap(([name, value]) => {
      return value === null ? [] : [`- **${name.charAt(0).toUpperCase()}${name.slice(1)}:** ${markdownText(value)}`];
    }),
    ...(batch === null ? [] : [`- **Rows of its batch:** list with ${markdownText(rowsOfBatch(batch.id))}`]),
    ...section(
      '**Requests to end it**',
      status.stopRequests.map(({ verb, askedAt, words }) => {
        return `\`${verb}\` at ${formatMoment(askedAt)}: ${markdownText(words)}`;
      }),
    ),
    ...section(`**Uploaded inputs:** ${inputs.length}, ${formatBytes(inputBytes)}`, [
      ...inputs.slice(0, maxNamed).map(({ name, bytes }) => {
        return `${markdownText(name, maxNameLength)}, ${formatBytes(bytes)}`;
      }),
      ...moreLine(inputs.length - maxNamed),
    ]),
    ...(archived === null
      ? []
      : ['', `**Archived outputs:** ${archived.outputCount}, ${formatBytes(archived.outputBytes)}`]),
    ...section(null, [
      ...outputs.map((path) => markdownText(path, maxPathLength)),
      ...moreLine((archived?.outputCount ?? 0) - outputs.length),
      ...(archived?.manifest == null ? [] : [`manifest: ${markdownText(archived.manifest, maxPathLength)}`]),
    ]),
  ].join('\n');
}

function section(title: string | null, entries: readonly string[]): string[] {
  if (entries.length === 0) return [];
  return [...(title === null ? [] : ['', title]), '', ...entries.map((entry) => `- ${entry}`)];
}

function moreLine(count: number): string[] {
  return count > 0 ? [`and ${count} more`] : [];
}

function howToStop({ status, stopRequests }: TaskStatus): string {
  switch (status) {
    case 'PreparingInputs':
      return 'Request Cancellation; nothing is created yet, so nothing is paid';
    case 'Creating':
      return 'Request Cancellation: a create that was not sent yet is not sent, and nothing is paid; after Terminate, one that was sent runs on at the service and is paid';
    case 'CreateUncertain':
      return 'decide first; after Request Cancellation this workflow ends as StopUnconfirmed, and a task that exists is paid';
    case 'Archiving':
    case 'ArchiveIncomplete':
      return 'it is over at the service, so a stop changes nothing there; after Terminate its outputs are not archived';
    default: {
      const isAsked = stopRequests.some((request) => request.verb === 'stop' && isOpenRequest(request));
      const how = status === 'Stopping' || isAsked ? 'it is asked already' : 'Request Cancellation';
      return `${how}; after Terminate it runs on at the service and is paid`;
    }
  }
}
