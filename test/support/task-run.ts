import * as v from 'valibot';
import { defaultTuning, type TaskPlan } from '../../src/contract/parse-task-input';
import { deadlinesSchema } from '../../src/contract/task-input';
import { unseenTask } from '../../src/domain/task-state';
import type { TaskRun, TaskState } from '../../src/workflows/task/task-run';

/** The run of a task that was just started, outside of a workflow; with other fields of its plan, its state or itself. */
export function taskRun({
  plan,
  state,
  ...run
}: Omit<Partial<TaskRun>, 'plan' | 'state'> & { plan?: Partial<TaskPlan>; state?: Partial<TaskState> } = {}): TaskRun {
  return {
    workflowId: 'task:photo-1',
    input: { webAppId: 7, inputs: {} },
    plan: {
      account: 'default',
      archiveFolder: '',
      watch: 'timer',
      webhook: null,
      batch: null,
      deadlinesMs: v.parse(deadlinesSchema, {}),
      tuning: defaultTuning,
      adoptRequestId: null,
      webAppId: 7,
      values: {},
      files: [],
      suppressPreviewOutput: null,
      onUncertain: 'hold',
      uncertainWaitMs: null,
      createNumber: 1,
      ...plan,
    },
    createDigest: undefined,
    inputDigest: undefined,
    choices: undefined,
    state: {
      ...unseenTask(0),
      startedAtMs: 0,
      requestedAtMs: 0,
      status: 'PreparingInputs',
      sinceMs: 0,
      waitingFor: '',
      nextStep: '',
      requestId: null,
      createNumber: 1,
      createRequests: 0,
      inputs: [],
      parkedMs: 0,
      acceptedAtMs: null,
      cost: null,
      stopRequests: [],
      breachedDeadline: null,
      candidates: [],
      isCancellationRequested: false,
      isWokenUp: false,
      ...state,
    },
    canEndAsCanceled: true,
    awaited: [],
    decision: undefined,
    candidatesArrived: 0,
    isWarned: false,
    archived: null,
    isOver: false,
    mayRun: false,
    ...run,
  };
}
