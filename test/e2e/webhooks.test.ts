import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';
import { WebhookReceiver } from '../support/webhook-receiver';

const swatch = '5';

let receiver: WebhookReceiver;
let stack: ProcessStack;
beforeAll(async () => {
  [receiver, stack] = await Promise.all([WebhookReceiver.start(), ProcessStack.open()]);
  const file = join(stack.inputs, 'webhooks.json');
  writeFileSync(file, receiver.config);
  stack.env['LONGHAUL_WEBHOOKS_FILE'] = file;
});
afterAll(async () => {
  await stack.close();
  await receiver.close();
});

describe('a worker that is killed while it delivers a webhook', () => {
  it('has it sent again, by another one and under the same id', async () => {
    receiver.status = null;
    const key = randomUUID();
    const worker = await stack.startWorker();
    const queue = ['--task-queue', stack.taskQueue];
    const run = await stack.run('run', swatch, '--key', key, '--webhook', 'orders', '--json', ...queue);
    expect(run.exitCode).toBe(0);
    await eventually(() => receiver.of(`task:${key}`).length === 1, { what: 'the first attempt' });
    process.kill(worker.pid, 'SIGKILL');
    await worker.ended;

    receiver.status = 204;
    await stack.startWorker();
    // Temporal notices after half a minute that the first attempt has not ended.
    await eventually(() => receiver.of(`task:${key}`).length === 2, { withinMs: 90_000, what: 'the second attempt' });
    const [first, second] = receiver.of(`task:${key}`);
    expect(second).toEqual(first);
    const delivery = stack.client.workflow.getHandle(`webhook:task:${key}:${first?.id ?? ''}`);
    expect(await delivery.result()).toMatchObject({ httpStatus: 204, attempt: 2 });
  });
});
