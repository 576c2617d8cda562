import { parseTaskInput, type TaskPlan } from '../../src/contract/parse-task-input';
import { newRun, newState, type TaskRun, type TaskState } from '../../src/workflows/task/task-run';

/** The run of a task that was just started, outside of a workflow; with other fields of its plan, its state or itself. */
export function taskRun({
  plan,
  state,
  ...run
}: Omit<Partial<TaskRun>, 'plan' | 'state'> & { plan?: Partial<TaskPlan>; state?: Partial<TaskState> } = {}): TaskRun {
  const input = { webAppId: 7, inputs: {} };
  const planned: TaskPlan = { ...parseTaskInput(input).plan!, ...plan };
  const given = { ...newState(planned, { startedAtMs: 0, requestedAtMs: 0 }), ...state };
  return { ...newRun('task:photo-1', input, planned, given), ...run };
}
