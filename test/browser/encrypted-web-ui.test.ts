import { randomUUID } from 'node:crypto';
import { Client } from '@temporalio/client';
import type { Browser } from 'playwright-core';
import { Longhaul } from '../../src/client/longhaul';
import { startCodecServer } from '../../src/servers/codec-server';
import { clientDataConverter } from '../../src/client/codec/data-converter';
import type { ListeningServer } from '../../src/servers/listening-server';
import { createLogger } from '../../src/worker/logger';
import { ClientEnvironment, smallInput } from '../integration/client/client-environment';
import { browserStartMs, launchBrowser } from '../support/browser';
import { codecKeys, newCodecKey } from '../support/codec-keys';
import { eventually } from '../support/eventually';
import { seen } from '../support/fake-activities';

const keys = codecKeys({ k1: newCodecKey() });
const prompt = 'a letter to the mayor of a small town';

let environment: ClientEnvironment;
let browser: Browser;
let longhaul: Longhaul;
let server: ListeningServer;
const log: string[] = [];
const webUi = process.env['LONGHAUL_TEST_TEMPORAL_UI'] ?? '';

beforeAll(async () => {
  browser = await launchBrowser();
  environment = await ClientEnvironment.open();
  await environment.startWorkers(keys);
  const { connection } = environment.temporal;
  const client = new Client({ connection, dataConverter: clientDataConverter(keys) });
  longhaul = new Longhaul({ client, taskQueue: environment.taskQueue, webUiUrl: webUi });
  server = await startCodecServer({
    config: {
      ...{ codecKeys: keys, host: '127.0.0.1', port: 0, tokens: null, mayEncode: false, logLevel: 'info' },
      origins: [new URL(webUi).origin],
    },
    logger: createLogger({ level: 'trace', destination: { write: (line) => void log.push(line) } }),
  });
}, browserStartMs);
afterAll(async () => {
  server.close();
  await server.closed;
  await environment.close();
  await browser.close();
});

describe('a task whose payloads are encrypted, in Temporal’s Web UI', () => {
  it('shows its prompt, its result and its details once the page knows the codec server, and not before', async () => {
    environment.service.script = [seen('Success')];
    const task = await longhaul.start({ ...smallInput, key: randomUUID(), inputs: { '2:Text.text': prompt } });
    await task.result();
    const context = await browser.newContext({ viewport: { width: 1400, height: 1000 } });
    const page = await context.newPage();
    await page.goto(task.url ?? '');
    await page.getByText('archiveOutputs').first().waitFor();
    expect(await page.locator('main').innerText()).not.toContain(prompt);
    expect(log.join('')).not.toContain('codec request');

    await page.getByTestId('data-encoder-status').click();
    await page.getByText('Use my browser setting').click();
    const dialog = page.locator('dialog#data-encoder-settings');
    await dialog.getByRole('textbox').first().fill(`http://127.0.0.1:${server.port}`);
    await dialog.getByTestId('confirm-modal-button').click();
    await page.reload();

    await eventually(async () => (await page.locator('main').innerText()).includes(prompt), {
      what: 'the prompt on the page',
    });
    expect(await page.locator('main').innerText()).toContain('"requestId": "request-1"');
    expect(log.join('')).toContain('"outcome":"decoded","httpStatus":200,"namespace":"default"');
    await page.getByRole('tab', { name: 'User Metadata' }).click();
    const frames = page.locator('main iframe');
    await eventually(async () => {
      const texts = (await frames.all()).map((frame) => frame.contentFrame().locator('body').innerText());
      return (await Promise.all(texts)).join('\n').includes(prompt);
    });
    await context.close();
  });
});
