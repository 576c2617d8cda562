import type { TaskView } from '../client/task-view';
import { formatClock } from './format';
import { printableLine } from '../domain/text';
import { stateWords, transferLine } from './status-line';

/** A task's status for a person: everything that is known, and nothing that is not. */
export function statusText(view: TaskView, nowMs: number): string {
  const rows: (readonly [string, string | null])[] = [
    ['state', stateLine(view, nowMs)],
    ['app', view.app],
    ['account', view.account],
    ['request id', view.requestId],
    ['service', view.serviceStatus],
    ['waiting for', view.waitingFor],
    ['next', view.nextStep],
    ['asked', countsOf(view)],
    ['trouble', view.problem],
    ['stuck', view.stuck?.message ?? null],
    ...view.retrying.map(({ activity, attempt, lastFailure }): [string, string] => [
      'retrying',
      `${activity}, attempt ${attempt}: ${lastFailure}`,
    ]),
    ...view.stopRequests.map(({ verb, outcome, words }): [string, string] => [verb, `${outcome}: ${words}`]),
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

function stateLine(view: TaskView, nowMs: number): string {
  const { startedAt, endedAt, since, isOver } = view;
  const started = Date.parse(startedAt);
  if (isOver) {
    const took = endedAt === null ? '' : ` after ${formatClock(Date.parse(endedAt) - started)}`;
    return `${stateWords(view)}, over${took} (workflow ${view.execution})`;
  }
  const here = since === null ? '' : ` for ${formatClock(nowMs - Date.parse(since))}`;
  return `${stateWords(view)}${here}, started ${formatClock(nowMs - started)} ago`;
}

function countsOf({ createRequests, polls, failedPolls }: TaskView): string | null {
  if (createRequests === null || polls === null) return null;
  const failed = failedPolls === null || failedPolls === 0 ? '' : ` (${failedPolls} failed)`;
  return `to create ${createRequests} x, for its state ${polls} x${failed}`;
}
