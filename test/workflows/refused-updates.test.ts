import { Worker } from '@temporalio/worker';
import { statusQuery } from '../../src/contract/task-messages';
import { eventually } from '../support/eventually';
import { FakeService, seen } from '../support/fake-activities';
import { workflowBundle } from '../support/product-build';
import { runChainOf } from '../support/run-chain';
import { fastTuning, TaskEnvironment, whenStatusIs } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();
const limits = Array.from({ length: 16 }, (_, index) => 30 + index);

describe('messages that leave no event: refused updates, unknown signals, and queries while a poll ends', () => {
  it.concurrent.each(limits)('end no run that a replay would not end (at %i events)', async (limit) => {
    const service = new FakeService({ script: [seen('Queuing')] });
    const tuning = { ...fastTuning, poll: { minMs: 100, maxMs: 300 }, continueAsNewAfterEvents: limit };
    await environment.withTask(service.activities, { inputs: {}, tuning }, async (task) => {
      await whenStatusIs(task, 'Queuing');
      const chain = () => runChainOf(environment.client, task.workflowId, task.firstExecutionRunId);
      const sendAll = async (): Promise<void> => {
        for (const times of [1, 2, 3]) {
          await task.signal('unknown');
          for (let n = 0; n < times; n += 1) await expect(task.executeUpdate('rearchive')).rejects.toThrow();
          await task.query(statusQuery);
        }
      };
      const untilFive = async (): Promise<boolean> => {
        await sendAll();
        return (await chain()).length > 5;
      };
      await eventually(untilFive, { withinMs: 60_000, everyMs: 0 });
      const ended = (await chain()).slice(0, 5);
      const histories = ended.map(({ events }) => ({ workflowId: task.workflowId, history: { events: [...events] } }));
      for await (const { error } of Worker.runReplayHistories({ workflowBundle: await workflowBundle() }, histories))
        expect(error).toBeUndefined();
    });
  });
});
