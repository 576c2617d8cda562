import { formatTimestamp } from '../timestamp';
import type { StoredOutput, Task } from './task';

/** Which of the two tables of section 2.4 an `audit_status` is taken from, and which cost field of 2.5 is added. */
export type ViewPlace = 'query' | 'callback';

/** `audit_status` by place: the two documents number the same states differently (section 2.4). */
const AUDIT_STATUS = { query: { passed: 2, error: 4 }, callback: { passed: 1, error: 3 } } as const;

/** An output item on the wire (section 2.4). */
export interface OutputItemView {
  object_url: string;
  output_ext: string;
  cost_time: number;
  audit_status: number;
  error_type: string;
  error_msg?: string;
  error_message?: string;
}

/** What a view needs to know besides the task itself. */
export interface ViewFacts {
  readonly expiresAtMs: number;
  /** Tasks ahead in the queue, -1 when unknown. */
  readonly countAhead: number;
}

/** The data of the detail endpoint (section 2.3). */
export function detailView(task: Task, facts: ViewFacts): Record<string, unknown> {
  return {
    type: 'API',
    status: task.status,
    ...timestampsView(task, facts.expiresAtMs),
    ...(task.status === 'Queuing' && { queue_info: { queue_count: facts.countAhead } }),
    cost_times: costTimesView(task, 'query'),
    group_id: task.groupId,
    ...(task.errorMessage !== undefined && { error_message: task.errorMessage }),
    // The same time as in cost_times, in seconds (sections 2.3 and 2.5).
    ...(task.runningAtMs !== undefined && { inference_cost_time: Math.floor(task.inferenceMs / 1000) }),
  };
}

/** The body of a callback (section 6), and the data of a synchronous create's answer. */
export function resultView(
  task: Task,
  place: ViewPlace,
  facts: { readonly expiresAtMs: number; readonly outputs: readonly OutputItemView[] },
): Record<string, unknown> {
  return {
    type: 'API',
    status: task.status,
    ...timestampsView(task, facts.expiresAtMs),
    ...(task.runningAtMs !== undefined && { running_at: formatTimestamp(task.runningAtMs) }),
    request_id: task.requestId,
    outputs: facts.outputs,
    cost_times: costTimesView(task, place),
    ...(task.errorMessage !== undefined && { error_message: task.errorMessage }),
  };
}

/** Timestamps common to detail and callback; what has not happened yet is absent, only `ended_at` is null instead. */
function timestampsView(task: Task, expiresAtMs: number): Record<string, string | null> {
  return {
    created_at: formatTimestamp(task.createdAtMs),
    updated_at: formatTimestamp(task.updatedAtMs),
    ...(task.executedAtMs !== undefined && { executed_at: formatTimestamp(task.executedAtMs) }),
    ended_at: task.endedAtMs === undefined ? null : formatTimestamp(task.endedAtMs),
    expired_at: formatTimestamp(expiresAtMs),
  };
}

/** The `cost_times` of a task (section 2.5), empty until it has ended. */
function costTimesView(task: Task, place: ViewPlace): Record<string, number> {
  if (task.endedAtMs === undefined) return {};
  const runningMs = task.runningAtMs === undefined ? 0 : task.endedAtMs - task.runningAtMs;
  const totalMs = task.endedAtMs - task.createdAtMs;
  const preparedMs = task.executedAtMs === undefined ? 0 : (task.runningAtMs ?? task.endedAtMs) - task.executedAtMs;
  return {
    inference_cost_time: task.inferenceMs,
    running_cost_time: runningMs,
    total_cost_time: totalMs,
    real_cpu_cost_time: task.inferenceMs,
    real_total_cost_time: totalMs,
    ...(place === 'query' ? { real_gpu_cost_time: 0 } : { real_svc_cost_time: preparedMs + runningMs }),
  };
}

/** The output items of an ended task: what was kept, then one item with the error of a failed one (section 3). */
export async function outputsView(
  task: Task,
  place: ViewPlace,
  link: (output: StoredOutput) => Promise<string>,
): Promise<OutputItemView[]> {
  if (task.status !== 'Success' && task.status !== 'Failed') return [];
  const kept = await Promise.all(
    task.outputs.map(async (output) => ({
      object_url: await link(output),
      output_ext: output.ext,
      cost_time: output.costTimeMs,
      audit_status: AUDIT_STATUS[place].passed,
      error_type: 'NOT_ERROR',
    })),
  );
  return task.status === 'Success' ? kept : [...kept, errorItem(task, place)];
}

function errorItem(task: Task, place: ViewPlace): OutputItemView {
  const message = task.errorMessage ?? '';
  return {
    object_url: '',
    output_ext: '',
    cost_time: (task.endedAtMs ?? task.createdAtMs) - (task.executedAtMs ?? task.createdAtMs),
    audit_status: AUDIT_STATUS[place].error,
    error_type: 'EXECUTION_ERROR',
    // The table names the field error_msg, the example error_message (section 2.4).
    error_msg: message,
    error_message: message,
  };
}
