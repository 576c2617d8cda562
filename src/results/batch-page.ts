import { basename, dirname } from 'node:path';
import { Readable } from 'node:stream';
import { isRecord, parseJson } from '../domain/json';
import type { ResultLine } from '../formats/result-line';
import { toReportFacts } from '../report/batch-facts';
import { openPageAssets } from '../report/page-assets';
import type { ReportFacts, ReportRow } from '../report/report-data';
import { reportHtml } from '../report/report-html';
import { relativeHref, toReportRow } from '../report/report-row';
import { type Archive, isArchiveName } from '../storage/archive/archive';
import { FolderArchive } from '../storage/archive/folder-archive';
import { ArchiveError } from '../storage/errors';
import { hashStream } from '../storage/hash';
import { lookUpContentType } from '../storage/local-file';
import type { BatchResults } from './batch-results';
import { toFailure } from './destination';

/** The most bytes that a picture inside a page may have, and that all of them may have. */
const maxEmbeddedBytes = 256 * 1024;
const maxAllEmbeddedBytes = 20 * 1024 * 1024;

/** How a page is written. */
export interface BatchPageOptions {
  readonly batchId: string;
  /** Absolute. */
  readonly file: string;
  readonly embed: boolean;
  /** The page of a namespace in Temporal's Web UI; null when its address is not known. */
  readonly webUi: string | null;
  readonly now: Date;
}

/** A page that was written. */
export interface WrittenPage {
  readonly path: string;
  readonly bytes: number;
  readonly rows: number;
  /** Pictures that stand in it. */
  readonly embedded: number;
  /** Files that the page names and does not lead to: they are in a bucket, or elsewhere. */
  readonly withoutLink: number;
}

/** Writes the report of a batch to this machine, from what the archive has of it. Throws ArchiveError or ResultsError. */
export async function writeBatchPage(
  archive: Archive,
  results: BatchResults,
  options: BatchPageOptions,
): Promise<WrittenPage> {
  const { file } = options;
  const links = new PageLinks(archive, results, options);
  let rows = 0;
  const pages = async function* (): AsyncGenerator<readonly ReportRow[], void, undefined> {
    for await (const result of results.rows()) {
      rows += 1;
      yield [await links.toRow(result)];
    }
  };
  const facts = await readFacts(archive, results, options);
  const html = Readable.from(reportHtml(facts, pages(), await openPageAssets()), { objectMode: false });
  let failure: unknown;
  html.once('error', (error) => (failure = error));
  try {
    const { path, bytes } = await new FolderArchive(dirname(file), 'the folder').put(basename(file), html);
    return { path, bytes, rows, ...links.count };
  } catch (error) {
    throw error === failure ? error : toFailure(error, file);
  }
}

/** What leads from a page to the files of its rows. */
class PageLinks {
  readonly count = { embedded: 0, withoutLink: 0 };
  readonly #archive: Archive;
  readonly #folder: string;
  readonly #page: string;
  #bytesLeft: number;

  constructor(archive: Archive, { folder }: BatchResults, { file, embed }: BatchPageOptions) {
    this.#archive = archive;
    this.#folder = folder;
    this.#page = file;
    this.#bytesLeft = embed ? maxAllEmbeddedBytes : 0;
  }

  async toRow(result: ResultLine): Promise<ReportRow> {
    const hrefs = new Map<string, string | null>();
    for (const output of result.outputs) {
      const name = this.#nameOf(output.path);
      const data = name === undefined ? undefined : await this.#embedIfReadable(name, output);
      const href = data ?? (name === undefined ? null : relativeHref(this.#page, this.#archive.locate(name)));
      if (data !== undefined) this.count.embedded += 1;
      else if (href === null) this.count.withoutLink += 1;
      hrefs.set(output.path, href);
    }
    return toReportRow(result, (path) => hrefs.get(path) ?? null);
  }

  /** The archive's name; a worker may see the archive elsewhere, and the batch's own folder is known by its name. */
  #nameOf(path: string): string | undefined {
    const { location } = this.#archive;
    const at = path.lastIndexOf(`/${this.#folder}/`);
    const isHere = path.startsWith(`${location}/`);
    if (!isHere && at < 0) return undefined;
    const name = path.slice(isHere ? location.length + 1 : at + 1);
    // A row that another program ended may name anything.
    return isArchiveName(name) ? name : undefined;
  }

  /** What one file is takes no page from all the others. */
  async #embedIfReadable(name: string, output: ResultLine['outputs'][number]): Promise<string | undefined> {
    try {
      return await this.#embed(name, output);
    } catch (error) {
      if (error instanceof ArchiveError) return undefined;
      throw error;
    }
  }

  /** A small picture as a URL; undefined for any other file, and for one that is not what it was. */
  async #embed(name: string, output: ResultLine['outputs'][number]): Promise<string | undefined> {
    const { bytes, sha256 } = output;
    const type = lookUpContentType(name);
    if (!type.startsWith('image/') || bytes > maxEmbeddedBytes || bytes > this.#bytesLeft) return undefined;
    const opened = await this.#archive.open(name);
    if (opened?.bytes !== bytes) {
      opened?.content.destroy();
      return undefined;
    }
    const content = Buffer.concat((await opened.content.toArray()) as Buffer[]);
    if ((await hashStream(Readable.from([content]))).sha256 !== sha256) return undefined;
    this.#bytesLeft -= bytes;
    return `data:${type};base64,${content.toString('base64')}`;
  }
}

/** More of a page than stands before its rows. */
const maxHeadCharacters = 4 * 1024 * 1024;

/** The facts of a batch; how its last run ended, and of which file, stands in the page that its worker wrote. */
async function readFacts(archive: Archive, results: BatchResults, options: BatchPageOptions): Promise<ReportFacts> {
  const { batchId: id, webUi, now } = options;
  const written = results.file === null ? {} : await readWrittenFacts(archive, `${results.folder}/report.html`);
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  const ending = results.file === null ? 'not ended' : (text(written['ending']) ?? 'ended');
  return toReportFacts(
    { id, ending, source: text(written['source']), archive: archive.locate(results.folder), webUi },
    now,
  );
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
