import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseCreateRecord } from '../../../src/archive/create-record';
import { Longhaul } from '../../../src/client/longhaul';
import { createRecordName } from '../../../src/contract/workflow-ids';
import { ServiceClient } from '../../../src/service';
import { whenListedAsEnded } from '../../support/listed-end';
import { fastTuning, whenStatusIs } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { compareAll } from './compare-all';

const swatch = { webAppId: 5, inputs: {} };

let stack: TaskStack;
let client: ServiceClient;
beforeAll(async () => {
  stack = await TaskStack.open();
  client = new ServiceClient({ baseUrl: stack.service.url, apiKey: () => stack.service.apiKey });
});
afterAll(async () => {
  await client.close();
  await stack.close();
});

it('a create is not settled with the task that another workflow created, and is with one that another adopted', async () => {
  const { taskQueue, archive } = stack;
  const longhaul = new Longhaul({ client: stack.client, taskQueue });
  const other = await stack.start(swatch);
  const created = (await other.result()).requestId ?? '';
  stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'drop-reply' } });
  const task = await stack.start(swatch);
  await whenStatusIs(task, 'CreateUncertain');
  const own = stack.service.ledger.entries({ endpoint: 'create' }).at(-1)?.requestId ?? '';
  await task.terminate('by hand');
  const adopted = await longhaul.adopt(own, { tuning: fastTuning });
  await adopted.result();
  await whenListedAsEnded(stack.client, task.workflowId, 'TERMINATED');
  await whenListedAsEnded(stack.client, other.workflowId, 'COMPLETED');
  await whenListedAsEnded(stack.client, adopted.workflowId, 'COMPLETED');
  const settle = (requestId: string) => {
    const settlements = [{ workflowId: task.workflowId, createNumber: 1, requestId }];
    return compareAll({ longhaul, client, archive, taskQueue }, { settlements });
  };
  const recorded = async (): Promise<unknown> =>
    parseCreateRecord(await readFile(join(archive, createRecordName(task.workflowId, 1))));

  await expect(settle(created)).rejects.toThrow(
    `--settle: The task ${created} was created by ${other.workflowId}/1, by its create record; check the id`,
  );
  expect(await recorded()).toMatchObject({ requestId: null });
  await settle(own);
  expect(await recorded()).toMatchObject({ requestId: own });
});
