import * as v from 'valibot';
import { isRecord, parseJson } from '../core/json';
import { toReportFacts } from './report/batch-facts';
import { openPageAssets } from './report/page-assets';
import type { ReportFacts, ReportRow } from './report/report-data';
import { reportHtml } from './report/report-html';
import { relativeHref, toReportRow } from './report/report-row';
import { type Archive, isArchiveName } from '../storage/archive/archive';
import type { BatchResults } from './batch-results';
import { writeLocalFile } from './destination';
import { count, money } from './stored';

export interface BatchPageOptions {
  readonly batchId: string;
  /** Absolute. */
  readonly file: string;
  /** The page of a namespace in Temporal's Web UI; null when its address is not known. */
  readonly webUi: string | null;
  readonly now: Date;
}

export interface WrittenPage {
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
  /** Files that the page cannot lead to: they are in a bucket, or elsewhere. */
  readonly withoutLink: number;
}

/** Written to this machine, from the archive. Throws ArchiveError or ResultsError. */
export async function writeBatchPage(
  archive: Archive,
  results: BatchResults,
  options: BatchPageOptions,
): Promise<WrittenPage> {
  let rows = 0;
  let withoutLink = 0;
  const hrefOf = (path: string): string | null => {
    const name = archiveNameOf(archive, results.folder, path);
    const href = name === undefined ? null : relativeHref(options.file, archive.locate(name));
    if (href === null) withoutLink += 1;
    return href;
  };
  const pages = async function* (): AsyncGenerator<readonly ReportRow[], void, undefined> {
    for await (const result of results.rows()) {
      rows += 1;
      yield [toReportRow(result, hrefOf)];
    }
  };
  const facts = await readFacts(archive, results, options);
  const written = await writeLocalFile(options.file, reportHtml(facts, pages(), await openPageAssets()));
  return { ...written, rows, withoutLink };
}

/** A worker may see the archive elsewhere: there the batch's folder is known by its name. */
function archiveNameOf({ location }: Archive, folder: string, path: string): string | undefined {
  const at = path.startsWith(`${location}/`) ? location.length : path.lastIndexOf(`/${folder}/`);
  const name = path.slice(at + 1);
  // A row that another program ended may name anything.
  return at >= 0 && isArchiveName(name) ? name : undefined;
}

const maxHeadCharacters = 4 * 1024 * 1024;

const writtenFacts = v.object({
  ending: v.fallback(v.string(), 'ended'),
  source: v.fallback(v.nullable(v.string()), null),
  files: v.fallback(v.nullable(v.array(v.string())), null),
  leftOut: v.fallback(v.nullable(count), null),
  goneRows: v.fallback(v.nullable(v.object({ rows: v.number(), sums: v.array(money), unknownRows: v.number() })), null),
});

/** How the last run ended, and of which file, stands only in the page that its worker wrote. */
async function readFacts(archive: Archive, results: BatchResults, options: BatchPageOptions): Promise<ReportFacts> {
  const { batchId: id, webUi, now } = options;
  const isPartial = results.file === null;
  const text = isPartial ? {} : await readWrittenFacts(archive, `${results.folder}/report.html`);
  const written = v.parse(writtenFacts, text);
  const ending = isPartial ? 'not ended' : written.ending;
  return toReportFacts({ ...written, id, ending, isPartial, archive: archive.locate(results.folder), webUi }, now);
}

async function readWrittenFacts(archive: Archive, name: string): Promise<Readonly<Record<string, unknown>>> {
  const opened = await archive.open(name);
  if (opened === undefined) return {};
  const decoder = new TextDecoder('utf8');
  let head = '';
  for await (const chunk of opened.content as AsyncIterable<Buffer>) {
    head += decoder.decode(chunk, { stream: true });
    const [, json] = /id="facts">([^<]*)<\/script>/.exec(head) ?? [];
    if (json === undefined && head.length < maxHeadCharacters) continue;
    const facts = parseJson(json ?? '');
    return isRecord(facts) ? facts : {};
  }
  return {};
}
