import { Longhaul } from '../../src/client/longhaul';
import type { TaskResult } from '../../src/contract/task-result';
import { FakeService, seen } from '../support/fake-activities';
import { executionOf, type RunningTask, TaskEnvironment, whenStatusIs } from '../support/task-environment';

const spent = {
  costTimes: { inference_cost_time: 1_200, total_cost_time: 3_400 },
  timestamps: {
    createdAt: { iso: '2026-01-01T00:00:00.000Z', raw: '2026-01-01 08:00:00' },
    runningAt: { iso: null, raw: 'soon' },
  },
};

const environment = TaskEnvironment.forSuite();

/** What the client returns of a task that this ended while it ran, and Temporal's word for that. */
async function endedBy(
  end: (task: RunningTask) => Promise<unknown>,
): Promise<{ result: TaskResult; execution: string }> {
  const service = new FakeService({ script: [seen('Running')] });
  service.onVerb = () => {
    service.script = [seen('Canceled', spent)];
    return { taken: true };
  };
  return await environment.withTask(service.activities, { inputs: {} }, async (task) => {
    await whenStatusIs(task, 'Running');
    await end(task);
    const execution = await executionOf(task);
    const result = await new Longhaul({ client: environment.client }).task(task.workflowId).result();
    return { result, execution };
  });
}

describe('the result of a task that was stopped', () => {
  it('tells what it cost and when, as that of one that was interrupted', async () => {
    const stopped = await endedBy((task) => task.cancel());
    const interrupted = await endedBy((task) => task.signal('interrupt'));
    expect(stopped.execution).toBe('CANCELLED');
    expect(interrupted.execution).toBe('COMPLETED');
    expect(stopped.result).toMatchObject({ status: 'Canceled', requestId: 'request-1', outputs: [], ...spent });
    const own = { workflowId: '', startedAt: '' };
    expect({ ...stopped.result, ...own }).toEqual({ ...interrupted.result, ...own });
  });
});
