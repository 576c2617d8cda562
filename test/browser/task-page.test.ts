import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { type KnownTask, writeTaskPage } from '../../src/results/task-page';
import { FolderArchive } from '../../src/storage/archive/folder-archive';
import { archiveTask } from '../support/archived-batch';
import { browserStartMs, launchBrowser } from '../support/browser';
import { eventually } from '../support/eventually';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const archive = new FolderArchive(join(folder.path, 'archive'));
const hostile = '<script>document.title = "taken"</script>';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
  await archiveOutputs();
}, browserStartMs);
afterAll(async () => {
  await browser.close();
  folder.remove();
});

/** A picture, a film, a sound and a text; one output failed at the service and one is missing. */
async function archiveOutputs(): Promise<void> {
  const picture = { create: { width: 640, height: 480, channels: 3, background: '#cc6600' } } as const;
  const contents = {
    '0 #1.png': await sharp(picture).png().toBuffer(),
    ...{ '1.mp4': Buffer.from('film'), '2.mp3': Buffer.from('sound'), '3.txt': Buffer.from('words') },
  };
  const outputs = [];
  for (const [file, content] of Object.entries(contents)) {
    const { bytes, sha256 } = await archive.put(`request-1/${file}`, Readable.from([content]));
    outputs.push({ file, bytes, sha256 });
  }
  const manifest = {
    complete: false,
    inputs: [
      {
        ...{ keys: ['1:LoadImage.image'], file: '/srv/photos/rocket.jpg', name: 'rocket.jpg', bytes: 2_048 },
        ...{ sha256: 'ab', resourceId: 1 },
      },
    ],
    values: { '2:ImageScale.width': 640, '3:Text.text': hostile, [`4:Text.${'long'.repeat(40)}`]: 'x'.repeat(400) },
    costTimes: { total_cost_time: 8_123 },
    cost: { currency: 'EUR', micros: 44_369 },
    timestamps: {
      createdAt: { iso: '2026-03-01T04:00:01.000Z', raw: '2026-03-01 12:00:01' },
      runningAt: { iso: '2026-03-01T04:00:05.000Z', raw: '2026-03-01 12:00:05' },
    },
  };
  const missing = [
    { errorType: 'NODE_FAILED', errorMessage: hostile },
    { problem: 'the link ended', errorType: 'NOT_ERROR' },
  ];
  await archiveTask(archive, { requestId: 'request-1', files: {}, more: [...outputs, ...missing], manifest });
}

const finished: KnownTask = {
  ...{ workflowId: 'task:order-17', state: 'Success', status: 'Success', waits: null, failure: null, remarks: [] },
  ...{ app: '5', account: 'default', requestId: 'request-1', manifest: archive.locate('request-1/manifest.json') },
  ...{ startedAt: '2026-03-01T04:00:00.000Z', endedAt: '2026-03-01T04:00:12.000Z' },
  ...{ timestamps: {}, costTimes: {}, cost: null, inputs: [], outputs: [], outputCount: 0, missing: [] },
  manifestNames: ['request-1/manifest.json'],
};
const waiting: KnownTask = {
  ...finished,
  ...{ state: 'Running', status: 'CreateUncertain', waits: 'CreateUncertain', requestId: null, endedAt: null },
  ...{ manifest: null, manifestNames: [], remarks: [['Waits for', 'a person’s decision']] },
  inputs: [{ key: '3:Text.text', value: hostile, isFile: false, bytes: null }],
};
const failed: KnownTask = {
  ...waiting,
  ...{ state: 'Failed', status: 'Failed', waits: null, failure: { type: 'TaskFailed', message: hostile } },
};
const kinds = { finished, waiting, failed };

interface PageView {
  readonly task: KnownTask;
  readonly embed?: boolean;
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
}

let pages = 0;

/** The page in a window of its own; what its console says and what it asks for is an error. */
async function withPage(
  { task, embed = false, width = 1_440, colorScheme = 'light' }: PageView,
  use: (page: Page) => Promise<void>,
): Promise<void> {
  const file = join(folder.path, 'mail', `page-${(pages += 1)}.html`);
  const webUi = 'http://127.0.0.1:8233/namespaces/default';
  await writeTaskPage(archive, task, { file, embed, webUi, now: new Date('2026-03-01T04:10:00Z') });
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  const problems: string[] = [];
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => problems.push(message.text()));
  page.on('dialog', () => problems.push('a dialog'));
  page.on('request', (request) => {
    if (!/^(file|data):/.test(request.url())) problems.push(`asked for ${request.url()}`);
  });
  try {
    await page.goto(pathToFileURL(file).href);
    await page.locator('h1').waitFor();
    await keepPicture(page);
    await use(page);
    expect(problems).toEqual([]);
  } finally {
    await page.close();
  }
}

/** For a person who wants to look at the pages: `PICTURES=FOLDER`. */
async function keepPicture(page: Page): Promise<void> {
  const place = process.env['PICTURES'];
  if (place === undefined) return;
  await mkdir(place, { recursive: true });
  await writeFile(join(place, `${pages}.png`), await page.screenshot({ fullPage: true }));
}

describe('the page of a task', () => {
  it('shows the outputs by their kind, the inputs, the times, the cost, and leads to the Web UI', async () => {
    await withPage({ task: finished }, async (page) => {
      expect(await page.title()).toBe('order-17 – Longhaul task');
      const head = await page.locator('.tiles').innerText();
      for (const figure of ['Succeeded', '12.0 s', '4.0 s', '0.044369 EUR']) expect(head).toContain(figure);
      await eventually(() => page.evaluate<boolean>('document.querySelector(".files img")?.naturalWidth === 640'));
      expect(await page.locator('.files video, .files audio').count()).toBe(2);
      expect(await page.locator('.file-name a').count()).toBe(4);
      const text = await page.locator('main').innerText();
      for (const words of ['Output 4', 'not archived: the link ended', '/srv/photos/rocket.jpg', '2.0 KiB', '8.1 s']) {
        expect(text).toContain(words);
      }
      expect(await page.getByRole('link', { name: 'task:order-17' }).getAttribute('href')).toBe(
        'http://127.0.0.1:8233/namespaces/default/workflows/task%3Aorder-17',
      );
    });
  });

  it('shows a task that waits for a person with the commands that decide', async () => {
    await withPage({ task: waiting }, async (page) => {
      const problem = await page.locator('.problem').innerText();
      for (const flag of ['--adopt REQUEST_ID', '--recreate', '--abandon']) {
        expect(problem).toContain(`longhaul resolve order-17 ${flag}`);
      }
      expect(await page.locator('.tiles').innerText()).toContain('10 min 00 s');
      expect(await page.getByText('longhaul stop order-17').count()).toBe(1);
    });
  });

  it('takes hostile words of a service, an input and a failure for text', async () => {
    await withPage({ task: failed }, async (page) => {
      expect(await page.locator('.problem .words').innerText()).toBe(`TaskFailed ${hostile}`);
      expect(await page.locator('.inputs').innerText()).toContain(hostile);
      expect(await page.locator('.problem').innerText()).toContain('longhaul run 5 --key order-17 --retry');
      expect(await page.title()).toBe('order-17 – Longhaul task');
    });
  });

  it('has small pictures inside when asked', async () => {
    await withPage({ task: finished, embed: true }, async (page) => {
      const source = (await page.locator('.files img').getAttribute('src')) ?? '';
      expect(source).toMatch(/^data:image\/png;base64,/);
      expect(await page.locator('.file-name a').first().getAttribute('download')).toBe('0 #1.png');
    });
  });

  const views = ([1_440, 390] as const).flatMap((width) =>
    (['light', 'dark'] as const).flatMap((scheme) =>
      (Object.keys(kinds) as (keyof typeof kinds)[]).map((kind) => [kind, width, scheme] as const),
    ),
  );
  it.each(views)('of one that is %s meets WCAG AA at %d px in %s, and fits', async (kind, width, colorScheme) => {
    await withPage({ task: kinds[kind], width, colorScheme }, async (page) => {
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      await page.evaluate(await readFile(require.resolve('axe-core/axe.min.js'), 'utf8'));
      const found = 'axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }).then(({ violations }) => violations)';
      const violations = await page.evaluate<readonly { id: string; nodes: readonly { html: string }[] }[]>(found);
      expect(violations.map(({ id, nodes: [first] }) => `${id}: ${first?.html ?? ''}`)).toEqual([]);
    });
  });
});
