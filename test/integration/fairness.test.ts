import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { BatchHandle } from '../../src/client/batch/batch-handle';
import { Longhaul } from '../../src/client/longhaul';
import { prepareRows, readRows, rowFileAt } from '../../src/rows';
import { eventually } from '../support/eventually';
import { startHttpServer, type TestHttpServer } from '../support/start-http-server';
import { fastTuning } from '../support/task-environment';
import { photoFolder, TaskStack } from '../support/task-stack';
import { temporaryFolder } from '../support/temporary-folder';

/** The reference service's app that hands a file back. */
const courier = 11;
const fileInput = '1:LoadFile.file';

const folder = temporaryFolder();
let inputs: TestHttpServer;
let stack: TaskStack;
let longhaul: Longhaul;
let photo: Buffer;
/** The inputs whose bytes are held back, in the order in which they were asked for. */
const held: ServerResponse[] = [];
let isHeld = true;

beforeAll(async () => {
  photo = await readFile(join(photoFolder, 'chelsea.png'));
  inputs = await startHttpServer((_request, response) => {
    if (isHeld) held.push(response);
    else response.end(photo);
  });
  const accounts = join(folder.path, 'accounts.json');
  const key = { apiKey: 'key-of-a-reference-account' };
  writeFileSync(accounts, JSON.stringify({ large: key, small: key }));
  stack = await TaskStack.open({
    service: { slots: 50, accounts: [{ id: 'local', ...key }] },
    env: {
      LONGHAUL_INPUT_HOSTS: new URL(inputs.url).host,
      LONGHAUL_ACCOUNTS_FILE: accounts,
      LONGHAUL_INPUT_ROOTS: folder.path,
      // An upload at a time: all others wait in Temporal's queue, in its order.
      LONGHAUL_SLOTS: 'uploads=1',
    },
  });
  longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
});
afterAll(async () => {
  release();
  await inputs.close();
  await stack.close();
  folder.remove();
});
beforeEach(() => {
  isHeld = true;
});

function release(): void {
  isHeld = false;
  for (const response of held.splice(0)) response.end(photo);
}

async function startBatch(id: string, rowCount: number): Promise<BatchHandle> {
  const file = join(folder.path, `${id}.jsonl`);
  const lines = Array.from({ length: rowCount }, (_, index) => {
    const input = { [fileInput]: { file: `${inputs.url}/${id}-${index}.png` } };
    const row = { key: `row-${index}`, account: 'large', webAppId: courier, inputs: input, tuning: fastTuning };
    return `${JSON.stringify(row)}\n`;
  });
  writeFileSync(file, lines.join(''));
  const { rows } = await prepareRows(readRows(rowFileAt(file), {}), { folder: folder.path, name: id });
  if (rows === null) throw new Error('no row is good');
  return await longhaul.startBatch({ id, rows, concurrency: rowCount });
}

/** Until so many of a batch's tasks, or of one name, wait for the slot. */
async function queued(filter: string, count: number): Promise<void> {
  const query = `TaskQueue = "${stack.taskQueue}" AND WorkflowType = "task" AND ${filter} AND ExecutionStatus = "Running"`;
  const waiting = async (): Promise<boolean> => {
    let uploads = 0;
    for await (const { workflowId } of stack.client.workflow.list({ query })) {
      const { raw } = await stack.client.workflow.getHandle(workflowId).describe();
      uploads += raw.pendingActivities?.length ?? 0;
    }
    return uploads === count;
  };
  await eventually(waiting, { withinMs: 60_000, everyMs: 200, what: `${count} uploads of ${filter} to be queued` });
}

const asked = (prefix: string): string[] =>
  inputs.requests.flatMap(({ url }) => (url.startsWith(`/${prefix}`) ? [url.slice(1)] : []));

it('a task that someone waits for uploads its input before all rows of a batch that wait for a slot', async () => {
  const batch = await startBatch('many', 12);
  await queued('LonghaulBatch = "many"', 12);
  await eventually(() => held.length === 1, { what: 'the first upload to hold the slot' });
  const single = await longhaul.start({
    ...{ key: 'single', account: 'large', webAppId: courier, tuning: fastTuning },
    inputs: { [fileInput]: { file: `${inputs.url}/many-and-one.png` } },
  });
  await queued('WorkflowId = "task:single"', 1);
  release();
  expect(await single.result()).toMatchObject({ status: 'Success' });
  expect(await batch.result()).toMatchObject({ success: 12 });
  // The slot was taken by a row, and the next place may have been handed out already.
  expect(asked('many').indexOf('many-and-one.png')).toBeLessThanOrEqual(2);
});

it('a small batch, and an account with one task, wait for a share of the slots and not for all of a large one', async () => {
  const large = await startBatch('large', 20);
  await queued('LonghaulBatch = "large"', 20);
  const small = await startBatch('larger', 3);
  await queued('LonghaulBatch = "larger"', 3);
  release();
  expect(await small.result()).toMatchObject({ success: 3 });
  expect(await large.result()).toMatchObject({ success: 20 });
  const last = asked('large').findLastIndex((name) => name.startsWith('larger-'));
  // In turns: the third of the small one comes at about the sixth place, and the last one at 22 without fairness.
  expect(last).toBeLessThan(14);
});
