import { randomUUID } from 'node:crypto';
import { pollRows } from '../../../src/activities/batch/running-rows';
import { Longhaul } from '../../../src/client/longhaul';
import { TemporalRowTasks } from '../../../src/client/batch/row-tasks';
import type { PollRowsResult } from '../../../src/contract/batch/batch-activities';
import { searchAttributes } from '../../../src/contract/search-attributes';
import { rowWorkflowId } from '../../../src/contract/workflow-ids';
import { eventually } from '../../support/eventually';
import { fastTuning } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { ActivityEnvironment } from '../../support/activity-environment';

let stack: TaskStack;
let longhaul: Longhaul;
beforeAll(async () => {
  stack = await TaskStack.open();
  longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
});
afterAll(() => stack.close());

async function listed(options: Parameters<Longhaul['list']>[0]): Promise<string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of longhaul.list(options)) ids.push(workflowId);
  return ids;
}

/** The live details of a task, as the Web UI asks for them. */
async function pageOf(workflowId: string): Promise<string> {
  const { currentDetails } = await stack.client.workflow
    .getHandle(workflowId)
    .query<{ readonly currentDetails: string }>('__temporal_workflow_metadata');
  return currentDetails;
}

describe('rows that wait for a person', () => {
  it('are listed by their batch, without those that go on by themselves', async () => {
    const batch = `b-${randomUUID()}`;
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
    for (const key of ['in-doubt', 'done']) {
      const task = await stack.client.workflow.start('task', {
        taskQueue: stack.taskQueue,
        workflowId: rowWorkflowId(batch, key),
        typedSearchAttributes: [{ key: searchAttributes.batch, value: batch }],
        args: [{ webAppId: 5, inputs: {}, batch: { id: batch, key }, tuning: fastTuning }],
      });
      if (key === 'done') await task.result();
      else await eventually(async () => (await longhaul.task(task.workflowId).status()).status === 'CreateUncertain');
    }
    await eventually(async () => (await listed({ batch })).length === 2, { what: 'both rows to be listed' });
    await eventually(async () => (await listed({ batch, problem: 'NeedsPerson' })).length === 1);
    expect(await listed({ batch, problem: 'NeedsPerson' })).toEqual([rowWorkflowId(batch, 'in-doubt')]);
    const rowTasks = new TemporalRowTasks({
      ...{ client: stack.client, taskQueue: stack.taskQueue },
      ...{ address: 'the test’s', webUiUrl: null },
    });
    const keys = ['in-doubt', 'done'];
    const poll = new ActivityEnvironment();
    const attempt = (): Promise<PollRowsResult> => pollRows({ rowTasks }, { id: batch, keys });
    const { ended, states }: PollRowsResult = await poll.run(attempt);
    expect(ended.map(({ key }) => key)).toEqual(['done']);
    expect(states).toEqual({ CreateUncertain: 1 });

    const done = await longhaul.task(rowWorkflowId(batch, 'done')).status();
    const page = await pageOf(rowWorkflowId(batch, 'done'));
    expect(page).toContain(`- **Row of:** \`batch:${batch}\`\n`);
    const [, filter = ''] = /Rows of its batch:\*\* list with `(.*)`/.exec(page) ?? [];
    expect((await stack.client.workflow.count(filter)).count).toBe(2);
    const { outputs, manifest } = await longhaul.task(rowWorkflowId(batch, 'done')).result();
    expect(outputs.length).toBeGreaterThan(0);
    for (const place of [...outputs.map(({ path }) => path), manifest]) expect(page).toContain(`\`${place}\``);

    const requestIds = [done.requestId ?? '', '00000000-0000-4000-8000-000000000000'];
    expect(await listed({ requestIds })).toEqual([rowWorkflowId(batch, 'done')]);
    expect(await listed({ requestIds, running: true })).toEqual([]);
    await stack.client.workflow.getHandle(rowWorkflowId(batch, 'in-doubt')).terminate('the test is over');
  });
});
