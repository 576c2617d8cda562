import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Longhaul } from '../../../src/client/longhaul';
import type { BatchEventData, TaskEventData, WebhookEvent } from '../../../src/contract/webhook';
import { eventually } from '../../support/eventually';
import { preparedRowFile } from '../../support/prepared-row-file';
import { fastTuning, failureOf } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';
import { type ReceivedWebhook, WebhookReceiver } from '../../support/webhook-receiver';

const swatch = 5;
const webhook = 'orders';
const tuning = fastTuning;

const folder = temporaryFolder();
let receiver: WebhookReceiver;
let stack: TaskStack;
let longhaul: Longhaul;
beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  const [webhooks, prices] = [join(folder.path, 'webhooks.json'), join(folder.path, 'prices.json')];
  writeFileSync(webhooks, receiver.config);
  writeFileSync(prices, JSON.stringify({ prices: [{ webAppId: swatch, currency: 'EUR', perTask: '0.02' }] }));
  const env = {
    ...{ LONGHAUL_WEBHOOKS_FILE: webhooks, LONGHAUL_PRICES_FILE: prices, LONGHAUL_INPUT_ROOTS: folder.path },
  };
  stack = await TaskStack.open({ env });
  longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
});
afterAll(async () => {
  await stack.close();
  await receiver.close();
  folder.remove();
});
beforeEach(() => {
  receiver.status = 204;
});

/** The webhook of a workflow, once it was received and taken; of several attempts the last. */
async function delivered(workflowId: string): Promise<ReceivedWebhook> {
  const received = await eventually(() => receiver.of(workflowId).at(-1), { what: `the webhook of ${workflowId}` });
  if (received === undefined) throw new Error('nothing was received');
  await stack.client.workflow.getHandle(`webhook:${workflowId}:${received.id}`).result();
  return received;
}

type DataOf<Type extends WebhookEvent['type']> = Type extends `task.${string}` ? TaskEventData : BatchEventData;

function dataOf<Type extends WebhookEvent['type']>({ event }: ReceivedWebhook, type: Type): DataOf<Type> {
  if (event.type !== type) throw new Error(`it is ${event.type}, not ${type}`);
  return event.data as DataOf<Type>;
}

describe('a receiver of a real worker', () => {
  it('gets the success of a task once, signed, with what it needs to ask for the rest', async () => {
    const task = await longhaul.start({ webAppId: swatch, inputs: {}, tuning, webhook }, { tags: ['customer:42'] });
    const result = await task.result();
    const data = dataOf(await delivered(task.workflowId), 'task.completed');
    const { requestId, outputCount, outputBytes, manifest, cost } = result;
    expect(data).toMatchObject({ requestId, outputCount, outputBytes, manifest, cost, tags: ['customer:42'] });
    expect(cost).toEqual({ currency: 'EUR', micros: 20_000 });
    expect(await longhaul.task(data.key).result()).toEqual(result);
    expect(receiver.of(task.workflowId)).toHaveLength(1);
  });

  it('gets a failure at the service, and a stop', async () => {
    stack.service.scenarios.add({ endpoint: 'create', scenario: { name: 'fail', message: 'out of paint' } });
    const failed = await longhaul.start({ webAppId: swatch, inputs: {}, tuning, webhook });
    await failureOf(stack.client.workflow.getHandle(failed.workflowId));
    expect(dataOf(await delivered(failed.workflowId), 'task.failed')).toMatchObject({
      ...{ status: 'Failed', failure: { type: 'TaskFailed' } },
    });

    const inputs = { '2:Wait.seconds': 3_600 };
    const stopped = await longhaul.start({ webAppId: swatch, inputs, tuning, webhook });
    await eventually(async () => (await stopped.status()).requestId !== null);
    await stack.client.workflow.getHandle(stopped.workflowId).cancel();
    const { requestId } = dataOf(await delivered(stopped.workflowId), 'task.canceled');
    expect(requestId).toBe((await stopped.status()).requestId);
  });

  it('that is down at first gets the same again under the same id, while the task is over already', async () => {
    receiver.status = 500;
    const task = await longhaul.start({ webAppId: swatch, inputs: {}, tuning, webhook });
    await task.result();
    await eventually(() => receiver.of(task.workflowId).length > 0);
    receiver.status = 200;
    await delivered(task.workflowId);
    const received = await eventually(() => {
      const all = receiver.of(task.workflowId);
      return all.length > 1 ? all : undefined;
    });
    expect(new Set(received?.map((one) => JSON.stringify(one))).size).toBe(1);
  });

  it('that is gone for good ends the delivery as failed, until it is sent again', async () => {
    receiver.status = 410;
    const task = await longhaul.start({ webAppId: swatch, inputs: {}, tuning, webhook });
    await task.result();
    const failed = `WorkflowType = "webhook" AND ExecutionStatus = "Failed" AND WorkflowId STARTS_WITH "webhook:${task.workflowId}"`;
    const givenUp = await eventually(async () => {
      for await (const delivery of stack.client.workflow.list({ query: failed })) return delivery;
      return undefined;
    });
    const workflowExecution = { workflowId: givenUp?.workflowId ?? '' };
    const handle = stack.client.workflow.getHandle(workflowExecution.workflowId);
    await expect(handle.result()).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/^Not delivered: .*HTTP 410: its receiver is gone for good$/) as string },
    });

    receiver.status = 200;
    const { events } = await handle.fetchHistory();
    const first = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
    const { workflowService, options } = stack.client;
    await workflowService.resetWorkflowExecution({
      ...{ namespace: options.namespace, workflowExecution, requestId: task.workflowId, reason: 'send it again' },
      workflowTaskFinishEventId: first?.eventId ?? null,
    });
    await delivered(task.workflowId);
  });

  it('gets the end of a batch once, and nothing of its rows', async () => {
    const rowsOfFile = ['a', 'b'].map((key) => ({ key, webAppId: swatch, inputs: { '1:EmptyImage.width': 8 } }));
    const id = `two-${stack.taskQueue.slice(-8)}`;
    const rows = await preparedRowFile(folder.path, id, rowsOfFile);
    const batch = await longhaul.startBatch({ id, rows, webhook });
    const { csv, jsonl } = await batch.result();
    const data = dataOf(await delivered(`batch:${id}`), 'batch.completed');
    expect(data).toMatchObject({ batchId: id, ending: 'completed', rows: 2, success: 2, results: { csv, jsonl } });
    expect(data.costs).toEqual([{ currency: 'EUR', micros: 40_000 }]);
    const ofBatch = receiver.received.filter(({ event }) => event.data.workflowId.startsWith(`batch:${id}`));
    expect(ofBatch).toHaveLength(1);
  });
});
