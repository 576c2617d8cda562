import { formatBytes, formatCount, formatCountOf, printableLine } from '../../domain/text';
import type { WrittenPage } from '../../results/batch-page';
import { type CommandContext, printJson } from '../command-context';
import { pageFile } from '../page-file';
import { formatRowCount } from './batch-display';

interface PageOptions {
  readonly html: string;
  readonly embed: boolean;
  readonly json: boolean;
}

/** `longhaul batch report ID --html FILE`: the page of a batch, from what the archive has of it. */
export async function writeReportPage(
  context: CommandContext,
  batchId: string,
  { html, embed, json }: PageOptions,
): Promise<void> {
  // Loaded on demand: the storage would slow the start of every other command.
  const { withArchive } = await import('../archive-side.js');
  const { openBatchResults } = await import('../../results/batch-results.js');
  const { writeBatchPage } = await import('../../results/batch-page.js');
  const page = await withArchive(context, async (archive) =>
    writeBatchPage(archive, await openBatchResults(archive, batchId), {
      batchId,
      ...pageFile(context, html),
      embed,
    }),
  );
  if (json) printJson(context, page);
  else context.stdout.write(pageText(page, embed));
}

function pageText(
  { path: file, bytes, rows, embedded, linkedPictures, withoutLink }: WrittenPage,
  embed: boolean,
): string {
  const links =
    linkedPictures > 0 ? `, ${formatCount(linkedPictures)} as links (of more than 256 KiB, or 20 MiB in all)` : '';
  const inside = embed ? `, ${formatCountOf(embedded, 'picture')} inside${links}` : '';
  const lines = [
    `${file}  (${formatRowCount(rows)}, ${formatBytes(bytes)}${inside})`,
    ...(withoutLink > 0
      ? [
          `  It names ${formatCountOf(withoutLink, 'file')} and does not lead there, because they are in a bucket or not in this archive.`,
          ...(embed ? [] : ['  --embed puts small pictures inside; report.html beside results.csv leads to all.']),
        ]
      : []),
  ];
  return `${lines.map(printableLine).join('\n')}\n`;
}
