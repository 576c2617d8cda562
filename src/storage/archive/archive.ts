import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { maxPartBytes } from '../../core/archive-name';
import { formatBytes } from '../../core/text';
import { ArchiveError } from '../errors';
import type { Measure } from '../hash';

export interface ArchivedFile {
  /** For people: an absolute path, or an `s3:` URI. */
  readonly path: string;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
  /** Where only who kept the file knows its hash: of the storage, for {@link Expectation}. */
  readonly tag?: string | undefined;
}

export interface Expectation {
  readonly bytes?: number;
  readonly sha256?: string;
  /** Of the storage, when the file was kept: as long as it is the same, the file need not be read. */
  readonly tag?: string | undefined;
}

export interface PutOptions extends Expectation {
  /** A power failure may undo it until another file of its folder is kept without this. A killed process never does. */
  readonly isFlushedLater?: boolean;
  /** No attempt before has left anything under this name. */
  readonly isFirst?: boolean;
}

export interface Addition {
  readonly text: string;
  /** As of {@link PutOptions}, but for the file itself. */
  readonly isFlushedLater?: boolean;
}

/** Undefined: nothing is added. */
export type AddTo = (content: Buffer) => Addition | undefined | Promise<Addition | undefined>;

export interface ListedFile {
  readonly name: string;
  readonly bytes: number;
  /** When it was kept, in epoch milliseconds, by the clock of the archive. */
  readonly keptAtMs: number;
}

export interface OpenedArchiveFile {
  /** Must be read or destroyed. It brings `bytes` bytes, or ends with an ArchiveError. */
  readonly content: Readable;
  readonly bytes: number;
}

const testPrefix = '.check-';

/** The name of the file that {@link Archive.check} writes and removes; as long as any may be. */
export function testFileName(): string {
  return `${testPrefix}${randomUUID()}`.padEnd(maxPartBytes, '-');
}

export function shownName(name: string): string {
  return name.startsWith(testPrefix) ? 'a test file' : name;
}

/** How a file differs from the expected one; undefined when it does not. */
export function compareContent(file: Measure, expected: Expectation): string | undefined {
  if (expected.bytes !== undefined && file.bytes !== expected.bytes) {
    return `it has ${file.bytes} bytes instead of ${expected.bytes}`;
  }
  return expected.sha256 !== undefined && file.sha256 !== expected.sha256 ? 'its SHA-256 is another one' : undefined;
}

/**
 * Where outputs, manifests and create records are kept. The parts of a name are divided by `/`.
 * A name that exists proves that its file is complete, whatever dies. Methods throw ArchiveError or the abort reason.
 */
export interface Archive {
  readonly location: string;

  /** In UTF-8; none of its parts may have more than 143. */
  readonly maxNameBytes: number;

  /** Where a file waits before it is kept, for people: the archive itself, or a temporary folder. */
  readonly disk: string;

  /** On that disk; undefined when it is not known. */
  freeBytes(): Promise<number | undefined>;

  locate(name: string): string;

  /** Makes sure that files can be kept here, and that `putIfAbsent` works, by keeping one for a moment. */
  check(): Promise<void>;

  /**
   * Keeps a file in place of what had the name, and removes what earlier attempts left. Of two at once, the later wins.
   * @throws what `content` ends with, unchanged; ArchiveError `NOT_WHOLE` when it is not as expected.
   */
  put(name: string, content: Readable, options?: PutOptions, signal?: AbortSignal): Promise<ArchivedFile>;

  /** The file, with its hash as read or as it was kept; undefined when there is none, or it is not as expected. */
  find(name: string, expected?: Expectation, signal?: AbortSignal): Promise<ArchivedFile | undefined>;

  /** Whether the file is the one that was kept, as far as that shows without reading it. */
  isKept(name: string, file: Measure & Expectation): Promise<boolean>;

  /** Does not read the file; undefined when there is none. */
  size(name: string): Promise<number | undefined>;

  read(name: string): Promise<Buffer | undefined>;

  /** Streams a file of any size; undefined when there is none. A file that replaces it meanwhile changes nothing. */
  open(name: string, signal?: AbortSignal): Promise<OpenedArchiveFile | undefined>;

  /** A URL that reads the file without credentials; null where the archive has none. Does not check for the file. */
  link(name: string, expiresInSeconds: number): Promise<string | null>;

  /**
   * Keeps a small file unless the name is taken; of several callers only one can win.
   * @param content - no other caller has the same
   * @param options - `isFlushedLater`: also its content may be gone after a power failure, until it is replaced
   * @returns whether this call made the file. One that is there may be incomplete if its maker died.
   * @throws ArchiveError also where it cannot be seen whether the file was made.
   */
  putIfAbsent(name: string, content: string, options?: Pick<PutOptions, 'isFlushedLater'>): Promise<boolean>;

  /** In place of what had the name before, in one step. */
  replace(name: string, content: string, options?: Pick<PutOptions, 'isFirst'>): Promise<void>;

  /**
   * Adds to the end of a small file what `add` makes of its content. Meanwhile, and after a crash, it may have a part of
   * the addition.
   * @returns whether there is such a file
   */
  append(name: string, add: AddTo): Promise<boolean>;

  remove(name: string): Promise<void>;

  /**
   * The files in a folder and below it, in no order. What comes or goes meanwhile may be listed or not.
   * @param folder - such as `.creates`; `''` is the whole archive. One that does not exist is empty.
   * @param onForeign - called with each place that is no name, and unreadable folders, which otherwise end the list.
   * @param prefix - how the names within the folder begin; the others are left out
   */
  list(folder: string, onForeign?: (place: string) => void, prefix?: string): AsyncIterable<ListedFile>;
}

/** A stream of this many bytes; `toError` makes an ArchiveError of the source's failure. */
export function boundedContent(
  source: AsyncIterable<Uint8Array>,
  expected: {
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

/** Undefined where it is not known. Throws ArchiveError `ARCHIVE_FULL` when less than the reserve is free. */
export async function requireReserve(archive: Archive, reserveBytes: number): Promise<number | undefined> {
  const freeBytes = await archive.freeBytes();
  if (freeBytes === undefined || freeBytes >= reserveBytes) return freeBytes;
  throw new ArchiveError(
    'ARCHIVE_FULL',
    `${archive.disk} has ${formatBytes(freeBytes)} free, and outputs are refused below the reserve of ` +
      `${formatBytes(reserveBytes)} (LONGHAUL_ARCHIVE_RESERVE_BYTES); make room on its disk`,
  );
}

/** @throws ArchiveError `NAME_INVALID` when it could lead out of the archive or cannot be a file's name. */
export function splitArchiveName(name: string): readonly string[] {
  if (isArchiveName(name)) return name.split('/');
  throw new ArchiveError('NAME_INVALID', `${JSON.stringify(name)} cannot be a name in the archive`);
}

export function isArchiveName(name: string): boolean {
  const isPart = (part: string): boolean =>
    !['', '.', '..'].includes(part) && !/[\p{Cc}\\]/u.test(part) && Buffer.byteLength(part) <= maxPartBytes;
  return name.split('/').every(isPart);
}

/** Undefined when the file is missing or larger than `maxBytes`. Throws ArchiveError. */
export async function readSmall(
  archive: Pick<Archive, 'read' | 'size'>,
  name: string,
  maxBytes: number,
): Promise<string | undefined> {
  const bytes = await archive.size(name);
  if (bytes === undefined || bytes > maxBytes) return undefined;
  return (await archive.read(name))?.toString('utf8');
}
