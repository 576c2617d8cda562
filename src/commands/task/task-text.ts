import type { RetryingActivity } from '../../client/task/pending-work';
import type { TaskView } from '../../client/task/task-view';
import type { UndeliveredWebhook } from '../../client/task/task-webhooks';
import type { TransferProgress } from '../../contract/activities';
import { operatorChoices } from '../../contract/operator-choices';
import type { TaskResult, Timestamps } from '../../contract/task-result';
import { shellWord } from '../../domain/shell-word';
import { isTerminal } from '../../domain/task-state';
import { formatBytes, printableLine } from '../../domain/text';
import { formatMoment, wallClock } from '../../domain/time';
import { formatBar, formatClock, shorten } from '../terminal';

const barWidth = 20;
const nameWidth = 24;

/** A task's state in one line: elapsed time, state, queue position, request id, and its problem if it has one. */
export function statusLine(view: TaskView, elapsedMs: number): string {
  return [`${formatClock(elapsedMs)}  ${formatState(view)}`, ...formatDetails(view)].join(' · ');
}

/** The states that are the service's own, while a task is not over. */
const atService: ReadonlySet<string> = new Set(['Queuing', 'Preparing', 'Running']);

/** The state without the time; it changes only when the state does. */
export function formatState({ status, serviceStatus, queuePosition }: TaskView): string {
  const isWatched = status === 'Watching' && serviceStatus !== null;
  // A heartbeat of the watch by activity is newer than the status that its workflow knows.
  const isOlder = atService.has(status) && serviceStatus !== null && atService.has(serviceStatus);
  const current = isWatched || isOlder ? serviceStatus : status;
  const state = isWatched ? `${status}: ${serviceStatus}` : current;
  if (queuePosition === null || current !== 'Queuing') return state;
  return queuePosition > 0 ? `${state}, ${queuePosition} ahead` : `${state}, next`;
}

/** What follows the last state of a workflow that Temporal ended; of any other the state itself is how it ended. */
export function cutOffText(execution: TaskView['execution']): string {
  if (execution === 'TERMINATED') return ' (terminated)';
  return execution === 'TIMED_OUT' ? ' (timed out)' : '';
}

/** What follows the state on the line. */
export function formatDetails({ requestId, problem, retrying, stuck, note }: TaskView): string[] {
  const [retry] = retrying;
  const problemText = stuck?.message ?? problem ?? (retry && formatRetry(retry)) ?? note;
  return [
    ...(requestId === null ? [] : [`request ${shorten(requestId)}`]),
    ...(problemText === null ? [] : [problemText]),
  ];
}

/**
 * An activity that is tried again.
 *
 * @param nowMs - tells in how long. @default it is not told
 */
export function formatRetry(
  { activity, attempt, lastFailure, isPaused, waitsForTurn, nextAttemptAt }: RetryingActivity,
  nowMs?: number,
): string {
  const why = lastFailure === '' ? '' : `: ${lastFailure}`;
  if (isPaused) {
    return `${activity}, paused by an operator (Unpause, in the Web UI’s Pending Activities); attempt ${attempt}${why}`;
  }
  if (waitsForTurn) return lastFailure;
  const waitMs = nextAttemptAt === null || nowMs === undefined ? 0 : Date.parse(nextAttemptAt) - nowMs;
  return `${activity}, attempt ${attempt}${waitMs > 0 ? ` in ${formatClock(waitMs)}` : ''}${why}`;
}

/**
 * A webhook that is not delivered.
 *
 * @param nowMs - tells in how long it is tried again. @default it is not told
 */
export function formatWebhook(
  { workflowId, isGivenUp, lastFailure, nextAttemptAt }: UndeliveredWebhook,
  nowMs?: number,
): string {
  if (isGivenUp) {
    return `given up: ${lastFailure ?? ''}; to send it again: temporal workflow reset --workflow-id ${shellWord(workflowId)} --type FirstWorkflowTask --reason 'send it again'`;
  }
  if (lastFailure === null) return 'being sent';
  const waitMs = nextAttemptAt === null || nowMs === undefined ? 0 : Date.parse(nextAttemptAt) - nowMs;
  return `not delivered, tried again${waitMs > 0 ? ` in ${formatClock(waitMs)}` : ''}: ${lastFailure}`;
}

/** A transfer in one line, with a bar where the length is known. */
export function transferLine({ transfer, name, bytes, totalBytes }: TransferProgress): string {
  const verb = transfer === 'upload' ? 'uploading' : 'archiving';
  const head = `  ${verb} ${shorten(baseName(name), nameWidth).padEnd(nameWidth + 1)}`;
  if (totalBytes === null || totalBytes <= 0) return `${head} ${formatBytes(bytes)}`;
  return `${head} ${formatBar(Math.min(1, bytes / totalBytes), barWidth)} of ${formatBytes(totalBytes)}`;
}

function baseName(file: string): string {
  return file.split(/[/\\]/).at(-1) ?? file;
}

/** A task's status as text, with every known field. */
export function statusText(view: TaskView, nowMs: number): string {
  const rows: (readonly [string, string | null])[] = [
    ['state', stateLine(view, nowMs)],
    ['app', view.app],
    ['account', view.account],
    ['request id', view.requestId],
    ['adopted by', view.adoptedBy],
    ['tags', view.tags.join(', ')],
    ['service', serviceLine(view, nowMs)],
    ['waiting for', view.waitingFor],
    ['next', view.nextStep],
    ['asked', requestCounts(view)],
    ['problem', view.problem],
    ...choiceRows(view),
    ['others', othersText(view)],
    ['stuck', view.stuck?.message ?? null],
    ...view.retrying.map((retry): [string, string] => [
      retry.waitsForTurn ? 'its turn' : 'retrying',
      formatRetry(retry, nowMs),
    ]),
    ...view.stopRequests.map(({ verb, outcome, words }): [string, string] => [verb, `${outcome}: ${words}`]),
    ...(view.webhooks ?? []).map((webhook): [string, string] => ['webhook', formatWebhook(webhook, nowMs)]),
    ['note', view.note],
    ['page', view.url],
  ];
  return [
    printableLine(view.workflowId),
    ...rows.flatMap(([name, value]) =>
      value === null || value === '' ? [] : [`  ${name.padEnd(13)}${printableLine(value)}`],
    ),
    ...view.transfers.map((transfer) => printableLine(transferLine(transfer))),
  ].join('\n');
}

/** The commands that answer what it waits for. */
function choiceRows({ status, workflowId, isOver }: TaskView): (readonly [string, string])[] {
  if (isOver) return [];
  return operatorChoices(status, workflowId).map(({ command, meaning }) => ['to decide', `${command}  # ${meaning}`]);
}

const maxOthers = 5;

/** The other uncertain creates of the app, any of which may have made the task that is found; null where there is none. */
export function othersText({ otherUncertain }: TaskView): string | null {
  const [first, ...rest] = otherUncertain.map(
    ({ workflowId, sentAt }) => `${workflowId} (sent ${formatMoment(sentAt)})`,
  );
  if (first === undefined) return null;
  const named = [first, ...rest.slice(0, maxOthers - 1)];
  const more = rest.length < maxOthers ? '' : ` and ${rest.length + 1 - maxOthers} more`;
  return `uncertain, too: ${named.join(', ')}${more}; compare inputs and times of the task before you adopt it`;
}

function stateLine(view: TaskView, nowMs: number): string {
  const { startedAt, endedAt, since, isOver } = view;
  const started = Date.parse(startedAt);
  if (isOver) {
    const took = endedAt === null ? '' : ` after ${formatClock(Date.parse(endedAt) - started)}`;
    return `${formatState(view)}${cutOffText(view.execution)}, over${took}`;
  }
  const here = since === null ? '' : ` for ${formatClock(nowMs - Date.parse(since))}`;
  return `${formatState(view)}${here}, started ${formatClock(nowMs - started)} ago`;
}

function serviceLine({ serviceStatus, serviceStatusAt, isOver }: TaskView, nowMs: number): string | null {
  if (serviceStatus === null || serviceStatusAt === null) return serviceStatus;
  // Its end is final; of any other state it is not known what became of it.
  if (isOver)
    return isTerminal(serviceStatus) ? serviceStatus : `${serviceStatus}, as of ${wallClock(serviceStatusAt)} UTC`;
  return `${serviceStatus}, as of ${formatClock(Math.max(0, nowMs - Date.parse(serviceStatusAt)))} ago`;
}

function requestCounts({ createRequests, polls, failedPolls }: TaskView): string | null {
  if (createRequests === null || polls === null) return null;
  const failed = failedPolls === null || failedPolls === 0 ? '' : ` (${failedPolls} failed)`;
  return `to create ${createRequests} x, for its state ${polls} x${failed}`;
}

const shortHashLength = 16;
/** The timestamps that are shown; the others are about the service's record. */
const milestones: readonly string[] = ['createdAt', 'executedAt', 'runningAt', 'endedAt'];

/** A task's result for a person: what it is, where the outputs are, and how long each step took. */
export function resultText(result: TaskResult): string {
  const { workflowId, requestId, status, timestamps } = result;
  const rows: (readonly [string, string])[] = [
    ['request id', requestId ?? 'none: nothing was created, nothing is paid'],
    ...outputRows(result),
    ...(timeLine(timestamps) === '' ? [] : [['time line', timeLine(timestamps)] as const]),
  ];
  return [`${status}  ${printableLine(workflowId)}`, ...rows.map(([name, value]) => resultLine(name, value))].join(
    '\n',
  );
}

/** What a task that is over left, and why it failed. */
export function outcomeLines(
  outcome: {
    readonly result: Partial<TaskResult> | null;
    readonly failure: { readonly type: string; readonly message: string } | null;
  } | null,
): string[] {
  const { result = null, failure = null } = outcome ?? {};
  const rows = [
    ...(failure === null ? [] : [['failure', `${failure.type}: ${failure.message}`] as const]),
    ...outputRows(result ?? {}),
  ];
  return rows.map(([name, value]) => `  ${name.padEnd(13)}${printableLine(value)}`);
}

function resultLine(name: string, value: string): string {
  return `  ${name.padEnd(11)}${printableLine(value)}`;
}

function outputRows(result: Partial<TaskResult>): (readonly [string, string])[] {
  // Results of earlier versions have not all of it.
  const { outputs = [], manifest = null, failedOutputs = [], failedOutputCount = 0 } = result;
  const { outputCount = outputs.length } = result;
  return [
    ...outputs.map(({ path, bytes, sha256, errorType, index }, position): readonly [string, string] => {
      const errorSuffix = errorType === 'NOT_ERROR' ? '' : `, ${errorType}`;
      const facts = `${formatBytes(bytes)}, sha256 ${sha256.slice(0, shortHashLength)}${errorSuffix}`;
      return [`output ${index ?? position}`, `${path}  (${facts})`];
    }),
    ...moreRow(outputCount - outputs.length, 'outputs'),
    ...failedOutputs.map(({ index, errorType, message }): readonly [string, string] => {
      return [`failed ${index}`, `at the service: ${[errorType, message].filter(Boolean).join(', ')}`];
    }),
    ...moreRow(failedOutputCount - failedOutputs.length, 'failed outputs'),
    ...(manifest === null ? [] : [['manifest', manifest] as const]),
  ];
}

function moreRow(count: number, what: string): readonly (readonly [string, string])[] {
  return count > 0 ? [['and more', `${count} ${what}; the manifest has all`]] : [];
}

/** `2026-03-01T12:00:00Z created, +0:02 executed, +0:09 ended`. */
function timeLine(timestamps: Timestamps): string {
  const known = Object.entries(timestamps).flatMap(([name, { iso }]) => {
    return iso !== null && milestones.includes(name) ? [{ name, atMs: Date.parse(iso), iso }] : [];
  });
  known.sort((a, b) => a.atMs - b.atMs || milestones.indexOf(a.name) - milestones.indexOf(b.name));
  const [first] = known;
  if (first === undefined) return '';
  return known
    .map(({ name, atMs, iso }) => {
      const when = atMs === first.atMs && name === first.name ? iso : `+${formatClock(atMs - first.atMs)}`;
      return `${when} ${name.replace(/At$/, '')}`;
    })
    .join(', ');
}
