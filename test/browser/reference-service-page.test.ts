import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import sharp from 'sharp';
import type { Browser, Page } from 'playwright-core';
import type { ReferenceService } from '../../reference-service/start-reference-service';
import { PlainClient } from '../integration/reference-service/plain-client';
import { launchBrowser } from '../support/browser';
import { eventually } from '../support/eventually';
import { startService } from '../support/start-reference-service';

let service: ReferenceService;
let client: PlainClient;
let browser: Browser;
let page: Page;
const problems: string[] = [];

beforeAll(async () => {
  service = await startService({ slots: 1 });
  client = new PlainClient(service);
  browser = await launchBrowser();
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto(service.url);
});

afterAll(async () => {
  // Side by side: a browser that does not close must not keep the service.
  await Promise.all([browser.close(), service.stop()]);
});

/** Runs what a person copies, in a shell with the key; resolves with the reply. */
async function runCommand(command: string): Promise<unknown> {
  const env = { ...process.env, LONGHAUL_API_KEY: service.apiKey };
  return JSON.parse((await promisify(execFile)('bash', ['-c', command], { env })).stdout) as unknown;
}

describe('the page of the reference service', () => {
  it('shows every app with its input keys', async () => {
    await page.locator('.app').first().waitFor();

    expect(await page.locator('.app').count()).toBe(service.apps.size);
    expect(await page.locator('#apps').textContent()).toContain('2:LayerColor: Levels.black_point');
    const titles = await page.locator('.app strong').allTextContents();
    expect(titles).toEqual([...service.apps.values()].map(({ webAppId, name }) => `App ${webAppId}: ${name}`));
    expect(await page.locator('#no-tasks').isVisible()).toBe(true);
  });

  it('shows tasks in their states as they change, and the picture of a finished one', async () => {
    const photo = await sharp({ create: { width: 60, height: 40, channels: 3, background: '#cc6600' } })
      .png()
      .toBuffer();
    const { url } = await client.upload('photo.png', photo);
    const finished = await client.createTask(1, { '1:LoadImage.image': url });
    await client.waitFor(finished, 'Success');
    const running = await client.createTask(5, { '2:Wait.seconds': 600 });
    await client.waitFor(running, 'Running');
    const waiting = await client.createTask(5, {});
    const failed = await client.createTask(5, {}, { 'X-Reference-Scenario': 'hold' });
    service.fail(failed, 'no <b>film</b>');
    const card = (requestId: string): Promise<string | null> =>
      page.locator('.task', { hasText: requestId }).textContent();
    await page.locator('.task', { hasText: failed }).waitFor();

    expect(await card(running)).toContain('Running');
    expect(await card(running)).toContain(`App 5: ${service.apps.get(5)?.name ?? ''}`);
    expect(await card(waiting)).toMatch(/Queuing.*0 ahead/);
    expect(await card(failed)).toContain('no <b>film</b>');
    const picture = page.locator('.task', { hasText: finished }).locator('img');
    await picture.scrollIntoViewIfNeeded();
    expect(await eventually(() => page.evaluate<number>("document.querySelector('.task img').naturalWidth"))).toBe(768);

    await client.stop('interrupt', running);
    await client.waitFor(waiting, 'Success');
    await eventually(async () => (await card(waiting))?.includes('Success'));
    expect(await card(running)).toContain('Canceled');
  });

  it('has a create of each app to copy that the service takes, with its inputs, defaults and limits', async () => {
    const { id } = await client.upload(
      'lamp.png',
      await sharp({ create: { width: 8, height: 8, channels: 3, background: '#fff' } })
        .png()
        .toBuffer(),
    );
    await page.locator('.upload', { hasText: 'lamp.png' }).waitFor();
    const commands = await page.locator('.app pre').allTextContents();
    expect(commands.length).toBe(service.apps.size);
    for (const command of commands) {
      expect(await runCommand(command.replaceAll('ID OF AN UPLOAD', String(id)))).toEqual({
        requestId: expect.any(String) as unknown,
      });
    }
  });

  it('has no error on its console and no secret in its text', async () => {
    expect(problems).toEqual([]);
    expect(await page.content()).not.toContain(service.apiKey);
    expect(await page.content()).not.toContain('Signature');
  });
});
