import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CancelledFailure } from '@temporalio/common';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { Longhaul } from '../../src/client/longhaul';
import type { TaskHandle } from '../../src/client/task/task-handle';
import { sweepDetails } from '../../src/workflows/sweep';
import { ClientEnvironment, smallInput } from '../integration/client/client-environment';
import { browserStartMs, launchBrowser } from '../support/browser';
import { eventually } from '../support/eventually';
import { seen } from '../support/fake-activities';
import { fakeBatchOf, rowEnd } from '../support/fake-batch';
import { TaskEnvironment } from '../support/task-environment';
import { uncertain } from '../support/task-story';

/** The saved views of docs/guides/web-ui.md: a path of the Web UI by what it shows. */
const page = readFileSync(join(__dirname, '../../docs/guides/web-ui.md'), 'utf8');
const savedViews = new Map(
  [...page.matchAll(/^\| ([^|]+?) +\| `(\/namespaces\/default\/workflows\?query=[^`]+)`/gm)].map(
    ([, name = '', path = '']) => [name, path],
  ),
);

const suite = TaskEnvironment.forSuite();
const webUiUrl = (): string => process.env['LONGHAUL_TEST_TEMPORAL_UI'] ?? '';
let environment: ClientEnvironment;
let longhaul: Longhaul;
let browser: Browser;
let context: BrowserContext;
beforeAll(async () => {
  browser = await launchBrowser();
  context = await browser.newContext({ viewport: { width: 1400, height: 1000 } });
  context.setDefaultTimeout(20_000);
  environment = await ClientEnvironment.open();
  await environment.startWorkers();
  const { temporal: client, taskQueue } = environment;
  longhaul = new Longhaul({ client, taskQueue, webUiUrl: webUiUrl() });
}, browserStartMs);
afterAll(async () => {
  await environment.close();
  await browser.close();
});

describe('a task in Temporal’s Web UI', () => {
  it('shows what it is, what it waits for and how to find it, while it runs and when it is done', async () => {
    environment.service.script = [seen('Running')];
    const task = await longhaul.start({
      ...smallInput,
      key: 'seen-in-the-browser',
      tuning: { ...smallInput.tuning, poll: { minMs: 250, maxMs: 500 } },
    });
    await eventually(async () => (await task.status()).status === 'Running', { what: 'a running task' });

    const running = await openPage(task);
    expect(await headline(running)).toMatch(/Running.*task:seen-in-the-browser/s);
    expect(await metadata(running)).toMatch(/App 7 \(seen-in-the-browser\), 1 input/);
    expect(await metadata(running)).toMatch(/2:ImageScale\.width:?\s*512/);
    expect(await metadata(running)).toMatch(
      /Running\s+since .*Request id:?\s*request-1\b.*Next:?\s*archive the outputs/s,
    );
    expect(await searchAttributes(running)).toMatch(/"LonghaulStatus": "Running"/);

    environment.service.script = [seen('Success')];
    await task.result();

    const done = await openPage(task);
    expect(await headline(done)).toMatch(/Completed.*task:seen-in-the-browser/s);
    expect(await metadata(done)).toMatch(/Success\s+since .*Request id:?\s*request-1\b.*Creates sent:?\s*1\b/s);
    expect(await searchAttributes(done)).toMatch(/"LonghaulRequestId": "request-1",\s*"LonghaulStatus": "Success"/);
  });

  it('shows links, pictures and HTML in words from outside as they are written', async () => {
    const hostile = '[click](http://evil.example) http://evil.example <img src="http://evil.example/x.png"> **bold**';
    environment.service.script = [seen('Running', { status: hostile })];
    const task = await longhaul.start({
      ...smallInput,
      key: 'hostile-words',
      inputs: {
        '1:LoadImage.image': { file: `/photos/${hostile}` },
        '2:Text.<a href=http://evil.example>x</a>': hostile,
      },
      tuning: { ...smallInput.tuning, poll: { minMs: 250, maxMs: 500 } },
    });
    await eventually(async () => (await task.status()).serviceStatus === hostile, { what: 'the words in its status' });

    const page = await openPage(task);
    await eventually(async () => (await page.locator('main').innerText()).includes('storeInput'), {
      what: 'the history',
    });
    expect(await foreignElements(page)).toEqual([]);
    const details = await metadata(page);
    expect(details.split('[click](http://evil.example)').length).toBeGreaterThan(2);
    expect(details).toContain('<a href=http://evil.example>x</a>');
    expect(details).toContain('**bold**');
    expect(await foreignElements(page)).toEqual([]);
    environment.service.script = [seen('Success')];
    await task.result();

    // What would be there if the words were Markdown.
    const rendered = await context.newPage();
    await rendered.goto(`${new URL(task.url ?? '').origin}/render?content=${encodeURIComponent(hostile)}`);
    expect((await foreignElements(rendered)).length).toBeGreaterThan(2);
  });
});

describe('what runs, in Temporal’s Web UI', () => {
  it('is interrupted by the signal that its page sends', async () => {
    environment.service.script = [seen('Running')];
    const task = await longhaul.start({
      ...smallInput,
      key: 'interrupted-there',
      tuning: { ...smallInput.tuning, poll: { minMs: 250, maxMs: 500 } },
    });
    await eventually(async () => (await task.status()).status === 'Running', { what: 'a running task' });

    const page = await openPage(task);
    await page.getByText('before the next poll; last seen as Running').first().waitFor();
    await chooseAction(page, 'Send a Signal');
    await visible(page.getByTestId('signal-select-button')).click();
    await visible(page.getByRole('option', { name: /^interrupt\b/ })).click();
    await visible(page.getByRole('button', { name: 'Submit' })).click();

    expect(await task.result()).toMatchObject({ status: 'Canceled' });
    expect(environment.service.calls.verbs).toContain('interrupt');
  });

  it('is stopped with all of its rows, if it is a batch whose cancellation its page requests', async () => {
    const batch = fakeBatchOf(suite.client, 20, { concurrency: 4 });
    await suite.withBatch(batch.activities, batch.input, async (run) => {
      await eventually(() => batch.running.size === 4, { what: 'running rows' });
      batch.end(rowEnd('row-0'));
      const page = await context.newPage();
      await page.goto(`${webUiUrl()}/namespaces/default/workflows/${encodeURIComponent(run.workflowId)}`);
      await page.getByRole('tab', { name: 'User Metadata' }).click();
      await page.locator('main iframe').first().waitFor();
      await takePicture(page, 'batch');
      await page.getByRole('button', { name: 'Request Cancellation' }).click();
      await visible(page.getByTestId('cancel-confirmation-modal').getByTestId('confirm-modal-button')).click();

      await expect(run.result()).rejects.toMatchObject({ cause: expect.any(CancelledFailure) as unknown });
    });
    expect(batch.stopped.length).toBeGreaterThan(0);
    expect(batch.running.size).toBe(0);
  });
});

describe('a task that waits for a person, in Temporal’s Web UI', () => {
  it('is found by the saved view, says so on its first page, and is adopted there', async () => {
    environment.service.createOutcomes = [uncertain];
    environment.service.script = [seen('Success')];
    const task = await longhaul.start({ ...smallInput, key: 'waits-for-a-person' });
    await eventually(async () => (await task.status()).status === 'CreateUncertain', { what: 'an uncertain create' });

    const view = savedViews.get('waits for a person') ?? '';
    const page = await context.newPage();
    await eventually(
      async () => {
        await page.goto(new URL(view, new URL(task.url ?? '').origin).href);
        await page.getByRole('link', { name: 'task:waits-for-a-person' }).first().click({ timeout: 10_000 });
        return true;
      },
      { withinMs: 90_000, what: 'the task in the saved view' },
    );
    await page.getByText('Waits for you: adopt, recreate or abandon. User Metadata tells more').first().waitFor();
    await takePicture(page, 'waits-for-a-person');
    expect(await metadata(page, 'recreate')).toContain('CreateUncertain');
    await takePicture(page, 'user-metadata');
    await chooseAction(page, 'Send an Update');
    await visible(page.getByTestId('update-select-button')).click();
    await visible(page.getByRole('option', { name: 'adopt' })).click();
    await visible(page.locator('.cm-content[contenteditable=true]')).click();
    await page.keyboard.insertText('{"requestId": "request-1"}');
    await visible(page.getByRole('button', { name: 'Submit' })).click();

    expect(await task.result()).toMatchObject({ status: 'Success', requestId: 'request-1' });
  });
});

describe('a sweep in Temporal’s Web UI', () => {
  it('shows each finding and its command whole, for it wraps them', async () => {
    const reason = 'It is Running at the service, is paid for, and no workflow follows it. '.repeat(4);
    const finding = `  ${randomUUID()}, task:order-17, account studio: ${reason}`;
    const command = `    longhaul adopt ${randomUUID()} --account studio --archive pictures/${'folder/'.repeat(20)} --task-queue other`;
    const text = `Running, and followed by no workflow (1):\n${finding}\n${command}\n\n1 not safe.\n`;
    const safe = { archived: 1, followed: 0, nothingToSave: 0, superseded: 0 };
    const result = {
      endedAt: '2026-03-01T12:00:00.000Z',
      safe,
      unsafe: { running: 1 },
      handled: 0,
      text,
      changesSince: null,
      next: null,
    };
    const report = `/srv/archive/.sweeps/${'long-'.repeat(40)}.json`;

    const page = await context.newPage();
    const content = encodeURIComponent(sweepDetails({ ...result, report }));
    await page.goto(`${webUiUrl()}/render?content=${content}`);
    await page.getByText('longhaul adopt').first().waitFor();
    await takePicture(page, 'sweep');
    expect(await page.getByRole('listitem').count()).toBe(4);
    const tooWide =
      '[...document.querySelectorAll("*")].filter((one) => one.scrollWidth > one.clientWidth && one.clientWidth > 0)';
    expect(await page.evaluate<string[]>(`${tooWide}.map((one) => one.tagName)`)).toEqual([]);
  });
});

/** Each dialog is there twice, once for narrow windows. */
function visible(locator: Locator): Locator {
  return locator.filter({ visible: true }).first();
}

async function chooseAction(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'More Actions' }).click();
  await page
    .getByRole('menu', { name: new RegExp(name) })
    .getByText(name)
    .click();
}

/** Of what a person sees, for docs/guides/web-ui.md: with `PICTURES=docs/pictures npm run test:browser`. */
async function takePicture(page: Page, name: string): Promise<void> {
  const folder = process.env['PICTURES'];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `web-ui-${name}.png`) });
}

async function openPage(task: TaskHandle): Promise<Page> {
  const page = await context.newPage();
  await page.goto(task.url ?? '');
  return page;
}

/** Links and pictures of the page and its frames that lead elsewhere. */
async function foreignElements(page: Page): Promise<unknown[]> {
  const found = page.frames().map(async (frame) => {
    const elements = await frame.locator('[href*="evil"], [src*="evil"]:not(iframe)').all();
    return await Promise.all(
      elements.map(async (element) => (await element.getAttribute('href')) ?? (await element.getAttribute('src'))),
    );
  });
  return (await Promise.all(found)).flat();
}

function headline(page: Page): Promise<string> {
  return page.locator('main header').first().innerText();
}

/** Summary, details and current details: the page shows each in a frame of its own. */
async function metadata(page: Page, words = 'Request id'): Promise<string> {
  await page.getByRole('tab', { name: 'User Metadata' }).click();
  const frames = page.locator('main iframe');
  return await eventually(
    async () => {
      const texts = (await frames.all()).map((frame) => frame.contentFrame().locator('body').innerText());
      const text = (await Promise.all(texts)).join('\n');
      return text.includes(words) ? text : '';
    },
    { what: 'the current details' },
  );
}

async function searchAttributes(page: Page): Promise<string> {
  await page.getByRole('tab', { name: 'Search Attributes' }).click();
  const shown = page.locator('main', { hasText: 'LonghaulStatus' });
  await shown.waitFor();
  return await shown.innerText();
}
