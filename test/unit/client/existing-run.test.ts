import { type PreviousCreate, planRetry, type RetryPlan } from '../../../src/client/existing-run';
import { failureTypes } from '../../../src/contract/failure-types';
import type { TaskEnding } from '../../../src/contract/batch/batch-rows';
import type { TaskInput } from '../../../src/contract/task-input';
import type { TaskResult } from '../../../src/contract/task-result';

const input: TaskInput = {
  webAppId: 7,
  inputs: { '2:ImageScale.width': 512 },
  account: 'studio',
  archive: 'campaign',
  deadlines: { total: '1h' },
  webhook: 'orders',
};
const takeOver: TaskInput = {
  ...{ adopt: { requestId: 'r-1' }, createNumber: 2 },
  ...{ account: 'studio', archive: 'campaign', deadlines: { total: '1h' }, webhook: 'orders' },
};

function run(known: Partial<PreviousCreate> = {}): PreviousCreate {
  return { createNumber: 2, requestId: 'r-1', ...known };
}

function ended(status: TaskResult['status'], requestId: string | null = 'r-1'): TaskEnding {
  const counts = { outputCount: 0, outputBytes: 0, failedOutputs: [], failedOutputCount: 0 };
  const nothing = { outputs: [], ...counts, manifest: null, costTimes: {}, cost: null, timestamps: {} };
  return { kind: 'result', result: { workflowId: 'task:a', requestId, status, ...nothing } };
}

function failed(type: string, details: unknown = {}): TaskEnding {
  return { kind: 'failure', type, message: 'no', details };
}

const keep: RetryPlan = { action: 'keep' };
const sameCreate: RetryPlan = { action: 'start', input: { ...input, createNumber: 2 }, createNumber: 2 };
const nextCreate: RetryPlan = { action: 'start', input: { ...input, createNumber: 3 }, createNumber: 3 };
const adopt: RetryPlan = { action: 'start', input: takeOver, createNumber: 2 };

describe('a retry', () => {
  it.each<[string, PreviousCreate, TaskEnding, RetryPlan]>([
    ['a success', run(), ended('Success'), keep],
    ['a stop before the create', run({ requestId: null }), ended('Canceled', null), sameCreate],
    ['a cancellation before the create', run({ requestId: null }), { kind: 'canceled' }, sameCreate],
    ['a rejected task', run({ requestId: null }), failed(failureTypes.TaskRejected), sameCreate],
    ['an unusable input', run({ requestId: null }), failed(failureTypes.InputUnusable), sameCreate],
    ['an abandoned uncertainty', run({ requestId: null }), failed(failureTypes.CreateUncertain), sameCreate],
    [
      'a workflow cut off before the create',
      run({ requestId: null }),
      { kind: 'cutOff', message: 'terminated' },
      sameCreate,
    ],
    ['a task canceled at the service', run(), ended('Canceled'), nextCreate],
    ['a confirmed stop', run(), { kind: 'canceled' }, nextCreate],
    ['a failed task', run(), failed(failureTypes.TaskFailed), nextCreate],
    [
      'a deadline whose stop is confirmed',
      run(),
      failed(failureTypes.DeadlineExceeded, { result: { status: 'Canceled' } }),
      nextCreate,
    ],
    ['results that expired', run(), failed(failureTypes.ResultLost), nextCreate],
    ['a success without outputs', run(), failed(failureTypes.SuccessNoOutputs), nextCreate],
    ['a deadline of an activity', run(), failed(failureTypes.DeadlineExceeded), adopt],
    ['an unconfirmed stop', run(), failed(failureTypes.StopUnconfirmed), adopt],
    ['an abandoned archive', run(), failed(failureTypes.ArchiveIncomplete, { result: { status: 'Success' } }), adopt],
    ['a request id that the service did not know', run(), failed(failureTypes.TaskNotFound), sameCreate],
    ['a terminated workflow', run(), { kind: 'cutOff', message: 'terminated' }, adopt],
    ['a failure without a type', run(), failed(''), adopt],
    [
      'a task whose id stands in the failure only',
      run({ requestId: null }),
      failed('', { result: { requestId: 'r-1' } }),
      adopt,
    ],
  ])('of %s does what costs nothing that was not asked for', (_, former, ending, expected) => {
    expect(planRetry(input, former, ending)).toEqual(expected);
  });

  it('of an adopted task adopts it again', () => {
    const adopted: TaskInput = { adopt: { requestId: 'r-9' } };

    expect(planRetry(adopted, run(), failed(failureTypes.TaskFailed))).toEqual({
      action: 'start',
      input: adopted,
      createNumber: 2,
    });
  });
});
