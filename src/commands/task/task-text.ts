import type { RetryingActivity } from '../../client/task/pending-work';
import type { TaskView } from '../../client/task/task-view';
import type { TransferProgress } from '../../contract/activities';
import { type Fact, operatorChoices, taskFacts } from '../../contract/task-advice';
import type { TaskResult, Timestamps } from '../../contract/task-result';
import { formatBytes, printableLine } from '../../core/text';
import { formatMoment, wallClock } from '../../core/time';
import { formatBar, formatClock, shorten } from '../terminal';

const barWidth = 20;
const nameWidth = 24;

/** Elapsed time, state, queue position, request id, and a problem. */
export function statusLine(view: TaskView, elapsedMs: number): string {
  return [`${formatClock(elapsedMs)}  ${formatState(view)}`, ...formatDetails(view)].join(' · ');
}

/** The service's own states of a task that is not over. */
const atService: ReadonlySet<string> = new Set(['Queuing', 'Preparing', 'Running']);

/** Without the time: changes only when the state does. */
export function formatState({ status, serviceStatus, queuePosition }: TaskView): string {
  const isWatched = status === 'Watching' && serviceStatus !== null;
  // A heartbeat of the watch by activity is newer than the status that its workflow knows.
  const isOlder = atService.has(status) && serviceStatus !== null && atService.has(serviceStatus);
  const current = isWatched || isOlder ? serviceStatus : status;
  const state = isWatched ? `${status}: ${serviceStatus}` : current;
  if (queuePosition === null || current !== 'Queuing') return state;
  return queuePosition > 0 ? `${state}, ${queuePosition} ahead` : `${state}, next`;
}

/** Follows the last state of a workflow that Temporal ended; of others the state says how it ended. */
export function cutOffText(execution: TaskView['execution']): string {
  if (execution === 'TERMINATED') return ' (terminated)';
  return execution === 'TIMED_OUT' ? ' (timed out)' : '';
}

export function formatDetails({ requestId, problem, retrying, stuck, note }: TaskView): string[] {
  const [retry] = retrying;
  const problemText = stuck?.message ?? problem ?? (retry && formatRetry(retry)) ?? note;
  return [
    ...(requestId === null ? [] : [`request ${shorten(requestId)}`]),
    ...(problemText === null ? [] : [problemText]),
  ];
}

/** @param nowMs - tells in how long. @default it is not told */
export function formatRetry(
  { activity, attempt, lastFailure, isPaused, waitsForTurn, nextAttemptAt }: RetryingActivity,
  nowMs?: number,
): string {
  const why = lastFailure === '' ? '' : `: ${lastFailure}`;
  if (isPaused) {
    return `${activity}, paused by an operator until "longhaul retry-now", or Unpause in the Web UI; attempt ${attempt}${why}`;
  }
  if (waitsForTurn) return lastFailure;
  const waitMs = nextAttemptAt === null || nowMs === undefined ? 0 : Date.parse(nextAttemptAt) - nowMs;
  return `${activity}, attempt ${attempt}${waitMs > 0 ? ` in ${formatClock(waitMs)}` : ''}${why}`;
}

/** A transfer in one line, with a bar where the length is known. */
export function transferLine({ transfer, name, bytes, totalBytes }: TransferProgress): string {
  const verb = transfer === 'upload' ? 'uploading' : 'archiving';
  const baseName = name.split(/[/\\]/).at(-1) ?? name;
  const head = `  ${verb} ${shorten(baseName, nameWidth).padEnd(nameWidth + 1)}`;
  if (totalBytes === null || totalBytes <= 0) return `${head} ${formatBytes(bytes)}`;
  return `${head} ${formatBar(Math.min(1, bytes / totalBytes), barWidth)} of ${formatBytes(totalBytes)}`;
}

export function statusText(view: TaskView, nowMs: number): string {
  const ago = (iso: string): string => `as of ${formatClock(Math.max(0, nowMs - Date.parse(iso)))} ago`;
  const choices = view.isOver ? [] : operatorChoices(view.status, view.workflowId);
  const facts: readonly Fact[] = [
    ['state', stateLine(view, nowMs)],
    ['app', view.app],
    ['account', view.account],
    ...taskFacts(view, (iso) => (view.isOver ? `as of ${wallClock(iso)} UTC` : ago(iso))),
    ['adopted by', view.adoptedBy],
    ['tags', view.tags.join(', ')],
    ['problem', view.problem],
    ...choices.map(({ command, meaning }): Fact => ['to decide', `${command}  # ${meaning}`]),
    ['others', othersText(view)],
    ['stuck', view.stuck?.message ?? null],
    ...view.retrying.map((retry): Fact => [retry.waitsForTurn ? 'its turn' : 'retrying', formatRetry(retry, nowMs)]),
    ...view.stopRequests.map(({ verb, outcome, words }): Fact => [verb, `${outcome}: ${words}`]),
    ['note', view.note],
    ['page', view.url],
  ];
  return [
    printableLine(view.workflowId),
    ...factLines(facts),
    ...view.transfers.map((transfer) => printableLine(transferLine(transfer))),
  ].join('\n');
}

function factLines(facts: readonly Fact[]): string[] {
  return facts.flatMap(([name, value]) =>
    value === null || value === '' ? [] : [`  ${name.padEnd(13)}${printableLine(value)}`],
  );
}

export function choiceLines(status: string, workflowId: string): string[] {
  return operatorChoices(status, workflowId).map(({ command, meaning }) => `  ${command}   # ${meaning}`);
}

const maxOthers = 5;

/** Any other uncertain create of the app may have made the task that is found; null where there is none. */
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

const shortHashLength = 16;
/** The others are about the service's record. */
const milestones: readonly string[] = ['createdAt', 'executedAt', 'runningAt', 'endedAt'];

export function resultText(result: TaskResult): string {
  const { workflowId, requestId, status, timestamps } = result;
  const facts: readonly Fact[] = [
    ['request id', requestId ?? 'none: nothing was created, nothing is paid'],
    ...outputRows(result),
    ['time line', timeLine(timestamps)],
  ];
  return [`${status}  ${printableLine(workflowId)}`, ...factLines(facts)].join('\n');
}

export function outcomeLines({ result, failure }: TaskOutcome): string[] {
  return factLines([['failure', failure && `${failure.type}: ${failure.message}`], ...outputRows(result ?? {})]);
}

export interface TaskOutcome {
  readonly result: Partial<TaskResult> | null;
  readonly failure: { readonly type: string; readonly message: string } | null;
}

function outputRows(result: Partial<TaskResult>): readonly Fact[] {
  const { outputs = [], outputCount = 0, manifest = null, failedOutputs = [], failedOutputCount = 0 } = result;
  return [
    ...outputs.map(({ path, bytes, sha256, errorType, index }, position): Fact => {
      const error = errorType === 'NOT_ERROR' ? '' : `, ${errorType}`;
      const size = `${formatBytes(bytes)}, sha256 ${sha256.slice(0, shortHashLength)}${error}`;
      return [`output ${index ?? position}`, `${path}  (${size})`];
    }),
    ...moreRow(outputCount - outputs.length, 'outputs'),
    ...failedOutputs.map(({ index, errorType, message }): Fact => {
      return [`failed ${index}`, `at the service: ${[errorType, message].filter(Boolean).join(', ')}`];
    }),
    ...moreRow(failedOutputCount - failedOutputs.length, 'failed outputs'),
    ['manifest', manifest],
  ];
}

function moreRow(count: number, what: string): readonly Fact[] {
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
