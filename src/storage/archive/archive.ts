import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { maxPartBytes } from '../../core/archive-name';
import { formatBytes } from '../../core/text';
import { ArchiveError } from '../errors';
import type { Measure } from '../hash';

/** A complete file of the archive. */
export interface ArchivedFile {
  /** Where it is, for people: an absolute path, or an `s3:` URI. */
  readonly path: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** What a file must be to be kept. */
export interface Expectation {
  readonly bytes?: number;
  /** Hex. */
  readonly sha256?: string;
}

/** A file as a list has it. */
export interface ListedFile {
  readonly name: string;
  readonly bytes: number;
  /** When it was kept, in epoch milliseconds, by the clock of the archive. */
  readonly keptAtMs: number;
}

/** The content of a file that is being read. */
export interface OpenedArchiveFile {
  /** Must be read or destroyed. It brings `bytes` bytes, or ends with an ArchiveError. */
  readonly content: Readable;
  readonly bytes: number;
}

const testPrefix = '.check-';

/** The name of a file that {@link Archive.check} writes and removes; as long as any may be. */
export function testFileName(): string {
  return `${testPrefix}${randomUUID()}`.padEnd(maxPartBytes, '-');
}

/** What messages call a file. */
export function shownName(name: string): string {
  return name.startsWith(testPrefix) ? 'a test file' : name;
}

/** How a file differs from what it must be; undefined when it does not. */
export function compareContent(file: Required<Expectation>, expected: Expectation): string | undefined {
  if (expected.bytes !== undefined && file.bytes !== expected.bytes) {
    return `it has ${file.bytes} bytes instead of ${expected.bytes}`;
  }
  return expected.sha256 !== undefined && file.sha256 !== expected.sha256 ? 'its SHA-256 is another one' : undefined;
}

/**
 * Where outputs, manifests and create records are kept. Names are relative, their parts divided by `/`.
 *
 * Under a name there is either nothing or a complete file, at every moment, whatever dies: that a name exists proves
 * that its file is complete. Every method throws ArchiveError; `signal` aborts with its reason.
 */
export interface Archive {
  /** Where the archive is, for people. */
  readonly location: string;

  /** The most bytes that a name may have here, in UTF-8; none of its parts may have more than 143. */
  readonly maxNameBytes: number;

  /** What has the disk that takes a file before it is kept, for people: the archive itself, or a temporary folder. */
  readonly disk: string;

  /** How much is free on that disk; undefined when it is not known. */
  freeBytes(): Promise<number | undefined>;

  /** Where the file of this name is or would be, for people. */
  locate(name: string): string;

  /** Makes sure that files can be kept here, and that `putIfAbsent` holds its word, by keeping one for a moment. */
  check(): Promise<void>;

  /**
   * Keeps a file, hashing it in passing, in place of what had the name before. What an earlier attempt at the same name
   * left behind is removed; of two attempts at once, the later one wins.
   *
   * @throws what `content` ends with, unchanged; ArchiveError `NOT_WHOLE` when it is not as expected.
   */
  put(name: string, content: Readable, expected?: Expectation, signal?: AbortSignal): Promise<ArchivedFile>;

  /**
   * The file of this name, with the hash of its content or the one that was kept with it; undefined when there is none,
   * or one that is not as expected.
   */
  find(name: string, expected?: Expectation, signal?: AbortSignal): Promise<ArchivedFile | undefined>;

  /** Whether the file of this name is the one that was kept, as far as that shows without reading it. */
  isKept(name: string, file: Measure): Promise<boolean>;

  /** How many bytes the file of this name has, without reading it; undefined when there is none. */
  size(name: string): Promise<number | undefined>;

  /** The content of a small file; undefined when there is none. */
  read(name: string): Promise<Buffer | undefined>;

  /**
   * Opens a file of any size, to be read as a stream that holds a few blocks of it; undefined when there is none. What
   * was opened is read, also when the name gets another file meanwhile.
   */
  open(name: string, signal?: AbortSignal): Promise<OpenedArchiveFile | undefined>;

  /**
   * A URL by which anyone who has it can read the file of this name, without credentials, for so many seconds; null where the
   * archive has none. Whether there is such a file is not asked.
   */
  link(name: string, expiresInSeconds: number): Promise<string | null>;

  /**
   * Keeps a small file unless the name is taken, in one step that only one of several callers can win.
   *
   * @param content - no other caller has the same
   * @returns whether this call made the file. A file that is there may be incomplete if its maker died meanwhile.
   * @throws ArchiveError also where the file may have been made, and that cannot be seen.
   */
  putIfAbsent(name: string, content: string): Promise<boolean>;

  /** Keeps a small file in place of what had the name before, in one step. */
  replace(name: string, content: string): Promise<void>;

  /** Removes a file, if there is one. */
  remove(name: string): Promise<void>;

  /**
   * The files in a folder and in those below it, in no particular order, fetched as they are asked for.
   * What comes or goes meanwhile may be listed or not.
   *
   * @param folder - such as `.creates`; `''` is the whole archive. One that does not exist is empty.
   * @param onForeign - called with each place that no name of the archive leads to, and with folders of others that this
   * user may not read, which otherwise end the list. Both are passed over.
   */
  list(folder: string, onForeign?: (place: string) => void): AsyncIterable<ListedFile>;
}

/** What a source brings, as a stream of this many bytes; `toError` makes an ArchiveError of its failure. */
export function boundedContent(
  source: AsyncIterable<Uint8Array>,
  expected: {
    /** For people. */
    readonly where: string;
    readonly bytes: number;
    readonly signal: AbortSignal | undefined;
    readonly toError: (error: unknown) => ArchiveError | Promise<ArchiveError>;
  },
): Readable {
  const { where, bytes, signal, toError } = expected;
  const checked = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    let read = 0;
    try {
      for await (const chunk of source) {
        signal?.throwIfAborted();
        read += chunk.length;
        if (read > bytes) break;
        yield chunk;
      }
    } catch (error) {
      signal?.throwIfAborted();
      throw await toError(error);
    }
    if (read === bytes) return;
    const words = `${where} brought ${read > bytes ? 'more' : read} bytes instead of ${bytes}`;
    throw new ArchiveError('NOT_WHOLE', words);
  };
  return Readable.from(checked(), { objectMode: false, highWaterMark: 1024 * 1024 });
}

/** How much is free for an archive, where the system says so. Throws ArchiveError `ARCHIVE_FULL` when that is below the reserve. */
export async function requireReserve(archive: Archive, reserveBytes: number): Promise<number | undefined> {
  const freeBytes = await archive.freeBytes();
  if (freeBytes === undefined || freeBytes >= reserveBytes) return freeBytes;
  throw new ArchiveError(
    'ARCHIVE_FULL',
    `${archive.disk} has ${formatBytes(freeBytes)} free, and outputs are refused below the reserve of ` +
      `${formatBytes(reserveBytes)} (LONGHAUL_ARCHIVE_RESERVE_BYTES); make room on its disk`,
  );
}

/**
 * The parts of a name in the archive.
 *
 * @throws ArchiveError `NAME_INVALID` when it could lead out of the archive or cannot be a file's name.
 */
export function splitArchiveName(name: string): readonly string[] {
  if (isArchiveName(name)) return name.split('/');
  throw new ArchiveError('NAME_INVALID', `${JSON.stringify(name)} cannot be a name in the archive`);
}

/** Whether it leads to a place in the archive, and can be a file's name. */
export function isArchiveName(name: string): boolean {
  const isPart = (part: string): boolean =>
    !['', '.', '..'].includes(part) && !/[\p{Cc}\\]/u.test(part) && Buffer.byteLength(part) <= maxPartBytes;
  return name.split('/').every(isPart);
}

/** The text of a file that is small; undefined when it is missing or larger than that. Throws ArchiveError. */
export async function readSmall(
  archive: Pick<Archive, 'read' | 'size'>,
  name: string,
  maxBytes: number,
): Promise<string | undefined> {
  const bytes = await archive.size(name);
  if (bytes === undefined || bytes > maxBytes) return undefined;
  return (await archive.read(name))?.toString('utf8');
}
