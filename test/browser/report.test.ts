import { writeFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import { openPageAssets } from '../../src/archive/report/page-assets';
import type { ResultLine } from '../../src/archive/result-line';
import type { ReportFacts, ReportRow } from '../../src/archive/report/report-data';
import { reportHtml } from '../../src/archive/report/report-html';
import { relativeHref, toReportRow } from '../../src/archive/report/report-row';
import { browserStartMs, launchBrowser } from '../support/browser';
import { eventually } from '../support/eventually';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
const rowCount = 10_000;
const hostileKey = '<script>document.title = "taken"</script>';

let browser: Browser;
let address: string;

beforeAll(async () => {
  browser = await launchBrowser();
  address = pathToFileURL(await writeReport()).href;
}, browserStartMs);
afterAll(async () => {
  await browser.close();
  folder.remove();
});

/** A batch of 10,000 rows beside its files, as it lies in an archive. */
async function writeReport(): Promise<string> {
  const outputs = join(folder.path, 'batches', 'photos', 'outputs');
  const report = join(folder.path, 'batches', 'photos', 'report.html');
  await mkdir(outputs, { recursive: true });
  await sharp({ create: { width: 64, height: 48, channels: 3, background: '#cc6600' } })
    .png()
    .toFile(join(outputs, 'a picture #1.png'));
  const facts: ReportFacts = {
    ...{ batch: 'photos', ending: 'completed', source: 'rows.csv', files: null, leftOut: 5, archive: outputs },
    madeAt: '2026-03-01T03:00:00.000Z',
    commands: [{ does: 'Run the rows that failed again', command: 'longhaul batch run rows.csv --retry-failed' }],
    repairs: { TaskFailed: [{ does: 'Run them again', command: 'longhaul batch retry photos' }] },
    workflowPages: 'http://127.0.0.1:8233/namespaces/default/workflows/',
  };
  async function* pages(): AsyncGenerator<readonly ReportRow[]> {
    const rows = Array.from({ length: rowCount }, (_, index) =>
      toReportRow(resultOf(index, outputs), (path) => relativeHref(report, path)),
    );
    yield* await Promise.resolve([rows.slice(0, 4_000), rows.slice(4_000)]);
  }
  let text = '';
  for await (const piece of reportHtml(facts, pages(), await openPageAssets())) text += piece;
  writeFileSync(report, text);
  return report;
}

/** Every hundredth fails, the last ten were never started. */
function resultOf(index: number, outputs: string): ResultLine {
  const key = index === 1 ? hostileKey : `row-${index}`;
  const isStarted = index < rowCount - 10;
  const hasFailed = isStarted && index % 100 === 50;
  const startedMs = Date.parse('2026-03-01T00:00:00Z') + index * 500;
  return {
    ...{ key, line: index + 2, workflowId: `batch:photos/${key}`, manifest: null, failedOutputCount: 0 },
    status: hasFailed ? 'Failed' : isStarted ? 'Success' : 'NotStarted',
    requestId: isStarted ? `request-${index}` : null,
    failure: hasFailed ? { type: 'TaskFailed', message: `Node ${index} ran out of memory.` } : null,
    outputs: isStarted && !hasFailed ? [{ path: join(outputs, 'a picture #1.png'), sha256: 'ab', bytes: 1_024 }] : [],
    outputCount: isStarted && !hasFailed ? 1 : 0,
    startedAt: isStarted ? new Date(startedMs).toISOString() : null,
    endedAt: isStarted ? new Date(startedMs + 5_000 + (index % 7) * 1_000).toISOString() : null,
    queuedSeconds: isStarted ? 1 : null,
    cost: isStarted ? { currency: 'EUR', micros: 20_000 } : null,
    costWithoutResult: costWithoutResult(index, hasFailed),
    ...{ seconds: null, costTimes: {}, file: null },
    cells:
      index === 7
        ? [
            ['Ort', 'Köln'],
            ['Bemerkung', '<b>bold</b>'],
          ]
        : [],
  };
}

/** One succeeded at its second attempt. */
function costWithoutResult(index: number, hasFailed: boolean): ResultLine['costWithoutResult'] {
  if (index === 3) return { currency: 'EUR', micros: 10_000 };
  return hasFailed ? { currency: 'EUR', micros: 20_000 } : null;
}

/** The report in a window of its own; what its console says and what it asks for is an error. */
async function withPage(
  use: (page: Page) => Promise<void>,
  { width = 1_440, colorScheme = 'light' }: { readonly width?: number; readonly colorScheme?: 'light' | 'dark' } = {},
): Promise<void> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
  const problems: string[] = [];
  page.on('pageerror', ({ message }) => problems.push(message));
  page.on('console', (message) => problems.push(message.text()));
  page.on('dialog', () => problems.push('a dialog'));
  page.on('request', (request) => request.url().startsWith('file:') || problems.push(`asked for ${request.url()}`));
  try {
    await page.goto(address);
    await page.locator('.card').first().waitFor();
    await use(page);
    expect(problems).toEqual([]);
  } finally {
    await page.close();
  }
}

const nodes = (page: Page): Promise<number> => page.evaluate<number>('document.querySelectorAll("*").length');
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>('document.activeElement?.querySelector(".card-key")?.textContent ?? ""');

describe('the report of a batch of 10,000 rows', () => {
  it('tells the figures, groups the failures, and shows the pictures from beside it', async () => {
    await withPage(async (page) => {
      const head = await page.locator('.tiles').innerText();
      for (const figure of ['9,890', '100', '10', '199.80 EUR', '2.01 EUR']) expect(head).toContain(figure);
      expect(await page.locator('.tile.LeftOut').innerText()).toMatch(/^Left out of the file\s+5$/);
      expect(await page.locator('.failures tbody tr').count()).toBe(1);
      expect(await page.locator('.plot canvas').count()).toBe(4);
      const isLoaded = 'document.querySelector(".card img")?.naturalWidth === 64';
      await eventually(() => page.evaluate<boolean>(isLoaded));
    });
  });

  it('keeps no more than the rows in sight in its tree, from the first to the last', async () => {
    await withPage(async (page) => {
      const places = [0, 0.3, 0.7, 1];
      for (const place of places) {
        await page.evaluate(`scrollTo(0, document.body.scrollHeight * ${place})`);
        await page.locator('.card').first().waitFor();
        expect(await nodes(page)).toBeLessThan(1_200);
      }
      await page.getByRole('button', { name: 'Keep row-9999' }).waitFor();
    });
  });

  it('is searched, filtered by state and by failure, and sorted', async () => {
    await withPage(async (page) => {
      const shown = page.locator('.shown');
      await page.getByLabel('Search').fill('row-4321');
      await eventually(async () => (await shown.innerText()).startsWith('1 of 10,000'));
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByLabel('State').selectOption('NotStarted');
      await eventually(async () => (await shown.innerText()).startsWith('10 of 10,000'));
      await page.getByRole('button', { name: /Show the 100 rows/ }).click();
      await eventually(async () => (await shown.innerText()).startsWith('100 of 10,000'));
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByLabel('Order').selectOption('slowest');
      await eventually(async () => (await page.locator('.card').first().innerText()).includes('11.0 s'));

      expect(await shown.innerText()).toMatch(/^10,000 rows/);
    });
  });

  it('finds a row by what stands in the row file, and shows it', async () => {
    await withPage(async (page) => {
      await page.getByLabel('Search').fill('köln');
      await page.locator('.card').click();

      expect(await page.locator('#details-title').innerText()).toBe('row-7');
      const cells = await page.getByRole('region', { name: 'Row of the file' }).innerText();
      expect(cells).toMatch(/Ort\s+Köln\s+Bemerkung\s+<b>bold/);
    });
  });

  it('takes a hostile key for text', async () => {
    await withPage(async (page) => {
      await page.getByLabel('Search').fill('<script>');
      await page.locator('.card').click();
      expect(await page.locator('#details-title').innerText()).toBe(hostileKey);
      expect(await page.title()).toContain('photos');
    });
  });

  it('is used by the keyboard alone', async () => {
    await withPage(async (page) => {
      await page.locator('.card').first().focus();
      await page.keyboard.press('ArrowRight');
      await eventually(async () => (await focused(page)) === hostileKey);
      await page.keyboard.press('End');
      await eventually(async () => (await focused(page)) === 'row-9999');
      await page.keyboard.press('Home');
      await eventually(async () => (await focused(page)) === 'row-0');
      await page.keyboard.press('Enter');
      const title = page.locator('#details-title');
      await title.waitFor();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      await eventually(async () => (await title.innerText()) === 'row-2');
      await page.keyboard.press('Escape');
      await title.waitFor({ state: 'detached' });

      expect(await page.locator('dialog').count()).toBe(0);
    });
  });

  it.each([
    [1_440, 'light'],
    [1_440, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('meets WCAG AA at %d px in %s, and nothing stands outside its width', async (width, colorScheme) => {
    await withPage(
      async (page) => {
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        await page.evaluate(await readFile(require.resolve('axe-core/axe.min.js'), 'utf8'));
        for (const open of [false, true]) {
          if (open) await page.locator('.card').first().click();
          const found = 'axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21aa"] }).then(({ violations }) => violations)';
          const violations = await page.evaluate<readonly { id: string; nodes: readonly { html: string }[] }[]>(found);
          expect(violations.map(({ id, nodes: [first] }) => `${id}: ${first?.html ?? ''}`)).toEqual([]);
        }
      },
      { width, colorScheme },
    );
  });
});
