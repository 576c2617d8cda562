import { ApplicationFailure, CancelledFailure, metricMeter } from '@temporalio/workflow';
import { count, metrics, record } from '../../contract/metrics';
import type { TaskResult } from '../../contract/task-result';
import type { TaskEnd } from './continue-as-new-state';
import type { TaskRun } from './task-run';

type MeasuredTask = Pick<TaskRun, 'plan' | 'state'>;

/** Counts a task that has a result. Nothing is counted when Temporal replays it. */
export function countResult(task: MeasuredTask, { status }: TaskResult): void {
  countEnd(task, status);
}

/** Counts a task that ends with a failure; one that goes on as a new run has not ended. */
export function countFailure(task: MeasuredTask, error: unknown): void {
  if (error instanceof CancelledFailure) countEnd(task, 'Canceled');
  else if (error instanceof ApplicationFailure) countEnd(task, error.type ?? 'Failed');
}

function countEnd(task: MeasuredTask, end: string): void {
  const { plan, state } = task;
  count(metricMeter, metrics.taskEnds, { account: accountLabel(task), end });
  const status = end === 'Success' || end === 'Canceled' ? end : 'Failed';
  if (plan.batch !== null) count(metricMeter, metrics.rowEnds, { status });
  const { cost } = state;
  if (cost != null) {
    count(
      metricMeter,
      metrics.cost,
      { account: accountLabel(task), currency: cost.currency, end: status },
      cost.micros,
    );
  }
}

/** From the end at the service until it was seen; both ends by clocks of their own. */
export function recordEndSeen({ plan }: MeasuredTask, { timestamps }: TaskEnd): void {
  const endedMs = Date.parse(timestamps['endedAt']?.iso ?? '');
  if (Number.isNaN(endedMs)) return;
  record(metricMeter, metrics.endNotice, { watch: plan.watch }, (Date.now() - endedMs) / 1_000);
}

/** Clients choose the names of accounts; only one that the service has answered for becomes a label. */
function accountLabel({ plan, state }: MeasuredTask): string {
  return state.serviceStatus === null ? 'unknown' : plan.account;
}
