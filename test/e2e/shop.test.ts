import { createHash, randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';
import { lastingPorts } from '../../tools/free-port';
import { supervise, type SupervisedProcess } from '../../tools/supervise';

const root = join(__dirname, '../..');
const example = join(root, 'examples/backend');
const order = randomUUID();

interface Order {
  readonly status: string;
  readonly event: string | null;
}

describe('the shop of the examples', () => {
  let stack: ProcessStack;
  let shop: SupervisedProcess;
  let url: string;
  const ask = (method: string, path: string): Promise<Response> => fetch(`${url}${path}`, { method });

  beforeAll(async () => {
    const [port = 0] = await lastingPorts(1);
    url = `http://127.0.0.1:${port}`;
    stack = await ProcessStack.open();
    const webhooks = readFileSync(join(example, 'webhooks.json'), 'utf8');
    const { shop: webhook } = JSON.parse(webhooks) as { shop: { secrets: string[] } };
    const file = join(stack.inputs, 'webhooks.json');
    writeFileSync(file, webhooks.replace(':3000', `:${port}`));
    stack.env['LONGHAUL_WEBHOOKS_FILE'] = file;
    await stack.startWorker();
    shop = await supervise({
      command: process.execPath,
      args: ['--import', require.resolve('tsx'), join(example, 'shop.ts')],
      env: { ...stack.env, PORT: String(port), TASK_QUEUE: stack.taskQueue, WEBHOOK_SECRET: webhook.secrets[0] },
    });
    await eventually(async () => (await ask('GET', '/').catch(() => undefined)) !== undefined, { withinMs: 60_000 });
  });
  afterAll(() => stack.close());

  it('takes an order once, gets its webhook, hands out its picture, stops nothing that is over, and lists it', async () => {
    expect((await ask('PUT', `/orders/${order}`)).status).toBe(201);
    expect((await ask('PUT', `/orders/${order}`)).status).toBe(200);

    const picture = await ask('GET', `/pictures/${order}`);
    expect(picture.headers.get('content-type')).toBe('image/png');
    const sha256 = createHash('sha256')
      .update(Buffer.from(await picture.arrayBuffer()))
      .digest('hex');
    const { outputs } = await stack.longhaul.task(`order-${order}`).result();
    expect(outputs[0]?.sha256).toBe(sha256);

    const view = await eventually(
      async () => {
        const found = (await (await ask('GET', `/orders/${order}`)).json()) as Order;
        return found.event === null ? undefined : found;
      },
      { withinMs: 30_000, what: 'the webhook' },
    );
    expect(view).toMatchObject({ status: 'Success', problem: null, event: 'task.completed' });
    expect(await (await ask('DELETE', `/orders/${order}`)).json()).toEqual({ asked: false });
    await eventually(async () => (await (await ask('GET', '/orders')).text()).includes(`order-${order}`));
  });

  it('says of an order that it does not know that there is none, and refuses a webhook that no worker signed', async () => {
    expect((await ask('GET', `/orders/${randomUUID()}`)).status).toBe(404);
    expect((await ask('POST', '/hooks')).status).toBe(401);
  });

  it('answers what it was asked and ends, at SIGTERM', async () => {
    stack.service.scenarios.add({
      endpoint: 'create',
      scenario: { name: 'refuse', reason: 'rateLimited' },
      times: 1_000,
    });
    const waiting = randomUUID();
    await ask('PUT', `/orders/${waiting}`);
    const asked = ask('GET', `/pictures/${waiting}`);
    await eventually(
      async () => ((await (await ask('GET', `/orders/${waiting}`)).json()) as Order).status === 'Creating',
    );

    const ended = shop.stop();

    expect((await asked).status).toBe(503);
    await ended;
    expect((await shop.ended).code).toBe(0);
    await stack.longhaul.task(`order-${waiting}`).stop();
  });
});
