import { Worker } from '@temporalio/worker';
import { eventually } from '../support/eventually';
import { FakeService, seen } from '../support/fake-activities';
import { workflowBundle } from '../support/product-build';
import { runChainOf } from '../support/run-chain';
import { fastTuning, TaskEnvironment, whenStatusIs } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();
const limits = [40, 41, 42, 43, 44, 45];

describe('an update that is refused', () => {
  // It comes in a workflow task that leaves no event, between those of two polls: one of six limits lies there.
  it.each(limits)('ends no run that a replay would not end (at %i events)', async (limit) => {
    const service = new FakeService({ script: [seen('Queuing')] });
    const tuning = { ...fastTuning, poll: { minMs: 300, maxMs: 300 }, continueAsNewAfterEvents: limit };
    await environment.withTask(service.activities, { inputs: {}, tuning }, async (task) => {
      await whenStatusIs(task, 'Queuing');
      const chain = () => runChainOf(environment.client, task.workflowId, task.firstExecutionRunId);
      const untilThree = async (): Promise<boolean> => {
        await expect(task.executeUpdate('rearchive')).rejects.toThrow();
        return (await chain()).length >= 3;
      };
      await eventually(untilThree, { withinMs: 60_000, everyMs: 0 });
      const ended = (await chain()).slice(0, 2);
      const histories = ended.map(({ events }) => ({ workflowId: task.workflowId, history: { events: [...events] } }));
      for await (const { error } of Worker.runReplayHistories({ workflowBundle: await workflowBundle() }, histories))
        expect(error).toBeUndefined();
    });
  });
});
