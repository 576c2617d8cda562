import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { WebhookEvent } from '../../../src/contract/webhook';
import { codeBlocks, markdownPages } from '../../support/markdown';
import { temporaryFolder } from '../../support/temporary-folder';
import { WebhookReceiver } from '../../support/webhook-receiver';

const run = promisify(execFile);
const folder = temporaryFolder();
const [program, event, settings] = ['send-webhook.mjs', 'event.json', 'webhooks.json'].map((name) =>
  join(folder.path, name),
) as [string, string, string];
let receiver: WebhookReceiver;

/** The one block of the guide in this language that has these characters. */
function block(language: string, within: string): string {
  const pages = markdownPages('docs/guides').filter(({ path }) => path.endsWith('/webhooks.md'));
  const found = pages.flatMap(codeBlocks).filter((one) => one.language === language && one.code.includes(within));
  expect(found).toHaveLength(1);
  return found[0]?.code ?? '';
}

async function send(...more: string[]): Promise<string> {
  const env = { PATH: process.env['PATH'], LONGHAUL_WEBHOOKS_FILE: settings };
  return (await run(process.execPath, [program, 'orders', event, ...more], { env })).stdout.trim();
}

beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  writeFileSync(program, block('js', 'webhook-signature'));
  writeFileSync(event, block('json', '"task.completed"'));
  writeFileSync(settings, receiver.config);
});
afterAll(async () => {
  await receiver.close();
  folder.remove();
});

describe('the program of the guide that sends a webhook', () => {
  it('has its signature verified and its event taken, and sends the same id again', async () => {
    const [id = '', status] = (await send()).split(': ');
    const again = await send(id);

    expect(status).toBe('HTTP 204');
    expect(again).toBe(`${id}: HTTP 204`);
    expect(receiver.received.map((one) => one.id)).toEqual([id, id]);
    expect(receiver.received[0]?.event).toEqual(JSON.parse(block('json', '"task.completed"')) as WebhookEvent);
  });

  it('ends with the names that there are where it is given another, or none', async () => {
    const env = { PATH: process.env['PATH'], LONGHAUL_WEBHOOKS_FILE: settings };
    const before = receiver.received.length;
    for (const [args, name] of [
      [['order', event], 'order'],
      [[], 'undefined'],
    ] as const) {
      await expect(run(process.execPath, [program, ...args], { env })).rejects.toMatchObject({
        code: 2,
        stderr: `There is no webhook "${name}"; there are: orders.\n`,
      });
    }
    expect(receiver.received).toHaveLength(before);
  });

  it('signs with both secrets while they are changed, so that a receiver with the old one takes it', async () => {
    const before = receiver.received.length;
    const { orders } = JSON.parse(receiver.config) as { orders: { url: string; secrets: string[] } };
    const secrets = [`whsec_${randomBytes(32).toString('base64')}`, ...orders.secrets];
    writeFileSync(settings, JSON.stringify({ orders: { ...orders, secrets } }));

    await expect(send()).resolves.toMatch(/: HTTP 204$/);
    expect(receiver.received).toHaveLength(before + 1);
  });
});
