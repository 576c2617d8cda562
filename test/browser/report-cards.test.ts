import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import sharp from 'sharp';
import type { ResultLine } from '../../src/archive/result-line';
import { openBatchResults } from '../../src/archive/batch-results';
import { writeBatchPage } from '../../src/archive/batch-page';
import { FolderArchive } from '../../src/storage/archive/folder-archive';
import { resultLineOf, writeResults } from '../support/archived-batch';
import { browserStartMs, launchBrowser } from '../support/browser';
import { eventually } from '../support/eventually';
import { temporaryFolder } from '../support/temporary-folder';

const folder = temporaryFolder();
let browser: Browser;

beforeAll(async () => {
  browser = await launchBrowser();
}, browserStartMs);
afterAll(async () => {
  await browser.close();
  folder.remove();
});

async function writePage(id: string, lines: readonly ResultLine[]): Promise<string> {
  const archive = new FolderArchive(join(folder.path, 'archive'));
  await writeResults(archive, id, [...lines]);
  const file = join(folder.path, 'mail', `${id}.html`);
  const options = { batchId: id, file, webUi: null, now: new Date() };
  await writeBatchPage(archive, await openBatchResults(archive, id), options);
  return pathToFileURL(file).href;
}

async function withPage(address: string, use: (page: Page) => Promise<void>, width = 1_200): Promise<void> {
  const page = await browser.newPage({ viewport: { width, height: 900 }, timezoneId: 'UTC' });
  try {
    // What a canvas is drawn with, in the page's pixels.
    await page.addInitScript(`window.drawn = [];
      const fillText = CanvasRenderingContext2D.prototype.fillText;
      CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
        window.drawn.push({ text, x, y, width: this.measureText(text).width, canvas: this.canvas.width });
        fillText.call(this, text, x, y);
      };`);
    await page.goto(address);
    await use(page);
  } finally {
    await page.close();
  }
}

describe('the card of a picture that is not beside the page', () => {
  it('says so, how large it is, and leads to the file, where the page was taken away from its files', async () => {
    const archive = new FolderArchive(join(folder.path, 'archive'));
    const noise = {
      create: {
        width: 600,
        height: 600,
        channels: 3,
        background: '#000',
        noise: { type: 'gaussian', mean: 128, sigma: 60 },
      },
    } as const;
    const [large, small] = [
      await sharp(noise).png().toBuffer(),
      await sharp({ create: { ...noise.create, width: 20, height: 20 } })
        .png()
        .toBuffer(),
    ];
    const lines = await Promise.all(
      Object.entries({ large, small }).map(async ([key, png]) => {
        const { path, bytes, sha256 } = await archive.put(`batches/mailed/outputs/${key}/0.png`, Readable.from([png]));
        return resultLineOf('mailed', key, { outputs: [{ path, bytes, sha256 }] });
      }),
    );
    const address = await writePage('mailed', lines);
    const card = '.place:has-text("large")';
    await withPage(address, async (page) => {
      // Beside its files it is shown.
      await eventually(() => page.evaluate<boolean>('document.querySelector(".card img")?.naturalWidth === 600'));
      expect(await page.locator('.card-file').count()).toBe(0);
    });
    await archive.remove('batches/mailed/outputs/large/0.png');

    await withPage(address, async (page) => {
      await eventually(async () => (await page.locator(`${card} .why`).count()) === 1);
      expect(await page.locator(card).innerText()).toMatch(/0\.png\s+[\d.]+ (?:KiB|MiB), not beside this page/);
      const link = page.locator(`${card} a`);
      expect(await link.innerText()).toBe('Open the file');
      expect(await link.getAttribute('href')).toMatch(/batches\/mailed\/outputs\/large\/0\.png$/);
      await eventually(() => page.evaluate<boolean>('document.querySelector(".card img")?.naturalWidth === 20'));
      await page.locator(`${card} .card`).click();
      expect(await page.locator('dialog').count()).toBe(1);
    });
  });
});

describe('the rows of a page', () => {
  const output = (key: string) => ({ path: `/archive/${key}.png`, bytes: 5, sha256: 'ab' });
  const lines = ['a', 'b', '=c', 'd', 'e'].map((key, index) =>
    resultLineOf('picked', key, {
      line: Math.ceil((index + 1) / 3),
      outputs: [output(key)],
      outputCount: key === 'b' ? 21 : 1,
    }),
  );

  it('are kept and rejected by clicks and keys, after a reload, too, and saved as a table', async () => {
    await withPage(await writePage('picked', lines), async (page) => {
      await page.getByRole('button', { name: 'Keep a' }).click();
      await page.getByRole('button', { name: 'Reject a' }).click();
      await page.locator('.card').nth(1).focus();
      await page.keyboard.press('r');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('k');
      await page.locator('.card').nth(3).click();
      await page.keyboard.press('k');
      await page.keyboard.press('k');
      await page.keyboard.press('Escape');
      await page.reload();
      await page.getByText('1 kept, 2 rejected').waitFor();
      expect(await page.getByRole('button', { name: 'Reject a' }).getAttribute('aria-pressed')).toBe('true');

      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Save picks.csv' }).click();
      const download = await downloading;
      expect(download.suggestedFilename()).toBe('picks.csv');
      expect(readFileSync(await download.path(), 'utf8')).toBe(
        [
          '\uFEFFkey,output,pick',
          '"a","/archive/a.png","reject"',
          '"b","/archive/b.png","reject"',
          '"b","","reject"',
          '"\'=c","/archive/=c.png","keep"',
          '',
        ].join('\n'),
      );
    });
  });

  it('stand line by line where they are variations of one row of the file', async () => {
    await withPage(await writePage('picked', lines), async (page) => {
      const counts = () =>
        page.evaluate<number[]>('[...document.querySelectorAll(".grid-line")].map((line) => line.children.length)');
      expect(await counts()).toEqual([3, 2]);
      await page.getByRole('button', { name: 'Variations together' }).click();
      await eventually(async () => (await counts()).join() === '5');
    });
  });

  it('are all on the printed page, each key and message whole or cut at its end', async () => {
    const message = `out of memory ${'again and '.repeat(60)}`;
    const failed = { status: 'Failed', failure: { type: 'TaskFailed', message }, outputs: [] } as const;
    const many = Array.from({ length: 300 }, (_, index) =>
      resultLineOf('printed', `row-${index}`, index === 299 ? failed : {}),
    );
    await withPage(await writePage('printed', many), async (page) => {
      await page.emulateMedia({ media: 'print' });
      await page.evaluate('dispatchEvent(new Event("beforeprint"))');
      expect(await page.locator('.sheet-card:visible').count()).toBe(300);
      expect(await page.locator('.card:visible, .filters:visible, .plots:visible').count()).toBe(0);
      const text =
        '[...document.querySelectorAll(".failure")].map((one) => [one, one.firstChild].map((part) => part.getBoundingClientRect().top))';
      const [[box = 0, words = 0] = []] = await page.evaluate<number[][]>(text);
      expect(words).toBeGreaterThanOrEqual(box);
      await page.evaluate('dispatchEvent(new Event("afterprint"))');
      expect(await page.locator('.sheet-card').count()).toBe(0);
    });
  });
});

describe('the axis of time', () => {
  it.each([
    ['half a second', 500],
    ['three seconds', 3_000],
    ['forty seconds', 40_000],
    ['ten minutes', 600_000],
    ['two days', 172_800_000],
  ])('has labels that stand apart and differ, for a batch of %s', async (_, spanMs) => {
    const startMs = Date.parse('2026-03-01T23:59:58Z');
    const lines = Array.from({ length: 30 }, (_row, index) => {
      const startedAt = new Date(startMs).toISOString();
      const endedAt = new Date(startMs + (spanMs * index) / 29).toISOString();
      return resultLineOf('paced', `row-${index}`, { startedAt, endedAt });
    });
    const address = await writePage('paced', lines);
    for (const width of [1_200, 390]) {
      await withPage(
        address,
        async (page) => {
          const labels =
            (await eventually(async () => {
              const drawn =
                await page.evaluate<{ text: string; x: number; y: number; width: number }[]>('window.drawn');
              const times = drawn.filter(({ text }) => /^\d\d:\d\d/.test(text));
              return times.length >= 2 ? times : undefined;
            })) ?? [];
          // Of the plots that are drawn first, those on one line in their order.
          const first = labels.slice(
            0,
            labels.findIndex(({ x }, index) => index > 0 && x <= (labels[index - 1]?.x ?? 0)) >>> 0,
          );
          const overlaps = first.flatMap((label, index) => {
            const next = first[index + 1];
            return next !== undefined && label.x + label.width / 2 > next.x - next.width / 2
              ? [`${label.text} ${next.text}`]
              : [];
          });
          expect(overlaps).toEqual([]);
          // Of two days the day stands on a line of its own.
          const texts = spanMs < 86_400_000 ? first.map(({ text }) => text) : [];
          expect(new Set(texts).size).toBe(texts.length);
        },
        width,
      );
    }
  });
});
