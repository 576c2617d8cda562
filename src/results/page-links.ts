import { basename, dirname } from 'node:path';
import { Readable } from 'node:stream';
import { relativeHref } from '../report/report-row';
import { type Archive, isArchiveName } from '../storage/archive/archive';
import { FolderArchive } from '../storage/archive/folder-archive';
import { ArchiveError } from '../storage/errors';
import { hashStream } from '../storage/hash';
import { lookUpContentType } from '../storage/local-file';
import { toFailure } from './destination';

/** The most bytes that a picture inside a page may have, and that all of them may have. */
const maxEmbeddedBytes = 256 * 1024;
const maxAllEmbeddedBytes = 20 * 1024 * 1024;

/** Where a page is written, and how. */
export interface PageOptions {
  /** Absolute. */
  readonly file: string;
  readonly embed: boolean;
  /** The page of a namespace in Temporal's Web UI; null when its address is not known. */
  readonly webUi: string | null;
  readonly now: Date;
}

/** How the files of a page are led to. */
export interface LinkCounts {
  /** Pictures that stand in it. */
  readonly embedded: number;
  /** Pictures that are led to instead, most of them because they are too large to stand in it. */
  readonly linkedPictures: number;
  /** Files that the page names and does not lead to: they are in a bucket, or elsewhere. */
  readonly withoutLink: number;
}

/** A file of the archive as its manifest or result names it. */
export interface NamedFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Writes a page, or a table, to this machine. Throws ArchiveError or ResultsError. */
export async function writePage(
  file: string,
  html: AsyncIterable<string | Uint8Array>,
): Promise<{ readonly path: string; readonly bytes: number }> {
  const content = Readable.from(html, { objectMode: false });
  let failure: unknown;
  content.once('error', (error) => (failure = error));
  try {
    const { path, bytes } = await new FolderArchive(dirname(file), 'the folder').put(basename(file), content);
    return { path, bytes };
  } catch (error) {
    throw error === failure ? error : toFailure(error, file);
  }
}

/** What leads from a page to files of the archive. */
export class PageLinks {
  readonly #count = { embedded: 0, linkedPictures: 0, withoutLink: 0 };
  readonly #archive: Archive;
  readonly #folder: string;
  readonly #page: string;
  #bytesLeft: number;

  /** @param folder - the archive's name of the folder that the files are in, wherever a worker sees the archive. */
  constructor(archive: Archive, folder: string, { file, embed }: PageOptions) {
    this.#archive = archive;
    this.#folder = folder;
    this.#page = file;
    this.#bytesLeft = embed ? maxAllEmbeddedBytes : 0;
  }

  get counts(): LinkCounts {
    return { ...this.#count };
  }

  /** By their paths; a path that is not there has no link. */
  async hrefs(files: readonly NamedFile[]): Promise<ReadonlyMap<string, string | null>> {
    const hrefs = new Map<string, string | null>();
    for (const file of files) {
      const name = this.#nameOf(file.path);
      const data = name === undefined ? undefined : await this.#embedIfReadable(name, file);
      const href = data ?? (name === undefined ? null : relativeHref(this.#page, this.#archive.locate(name)));
      if (data !== undefined) this.#count.embedded += 1;
      else if (href === null) this.#count.withoutLink += 1;
      else if (isPicture(name ?? '')) this.#count.linkedPictures += 1;
      hrefs.set(file.path, href);
    }
    return hrefs;
  }

  /** The archive's name; a worker may see the archive elsewhere, and the folder is known by its name. */
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
  async #embedIfReadable(name: string, file: NamedFile): Promise<string | undefined> {
    try {
      return await this.#embed(name, file);
    } catch (error) {
      if (error instanceof ArchiveError) return undefined;
      throw error;
    }
  }

  /** A small picture as a URL; undefined for any other file, and for one that is not what it was. */
  async #embed(name: string, { bytes, sha256 }: NamedFile): Promise<string | undefined> {
    const type = lookUpContentType(name);
    if (!isPicture(name) || bytes > maxEmbeddedBytes || bytes > this.#bytesLeft) return undefined;
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

function isPicture(name: string): boolean {
  return lookUpContentType(name).startsWith('image/');
}
