import { createHash, type Hash, randomUUID } from 'node:crypto';
import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../core/text';
import { isFull } from './archive/disk';
import type { Measure } from './hash';

const folderPrefix = 'longhaul-spool-';

/** A file without a name: deleted when its handle closes, or its process ends. */
export interface SpooledFile extends Measure {
  readonly file: FileHandle;
}

export interface WriteOptions {
  readonly signal?: AbortSignal;
  readonly md5?: Hash;
  /** Gets the bytes so far. What it throws ends the content. */
  readonly onBytes?: (bytes: number) => void;
}

/** For this user only. Close the handle afterwards. Throws the signal's reason, SpoolError, or the content's error. */
export async function spoolFile(content: Readable, folder?: string, options?: WriteOptions): Promise<SpooledFile> {
  ignoreLateErrors(content);
  let file: FileHandle | undefined;
  try {
    file = await (folder === undefined ? openAlone() : openNameless(folder));
    return { file, ...(await writeContent(content, file, options)) };
  } catch (error) {
    // The first failure is reported.
    await file?.close().catch(() => undefined);
    options?.signal?.throwIfAborted();
    throw error instanceof ContentError ? error.cause : new SpoolError(error, folder);
  }
}

/** The temporary file failed, not its content. The system's error is the cause. */
export class SpoolError extends Error {
  readonly problem: string;
  readonly remedy: string;

  constructor(cause: unknown, folder = tmpdir()) {
    const why = isFull(cause) ? 'has no space left for it' : 'cannot take it';
    const problem = `the temporary folder ${folder} ${why} (${errorCode(cause)})`;
    const fix = isFull(cause) ? 'make room on its disk' : 'check its disk and its permissions';
    const remedy = `${fix}, or set TMPDIR to another folder`;
    super(`${problem}; ${remedy}`, { cause });
    this.problem = problem;
    this.remedy = remedy;
  }
}

async function openNameless(folder: string): Promise<FileHandle> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, randomUUID());
  const file = await open(path, 'wx+', 0o600);
  try {
    await rm(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openAlone(): Promise<FileHandle> {
  const own = await mkdtemp(join(tmpdir(), folderPrefix));
  try {
    return await openNameless(own);
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** The content failed, not its file; its error is the cause. */
export class ContentError extends Error {}

/** Call it before the first wait: a content that fails unread would end the process. Reading it throws the failure. */
export function ignoreLateErrors(content: Readable): void {
  content.on('error', () => undefined);
}

/** Throws the signal's reason, ContentError, or the system's error about the file: which failed is known only here. */
export async function writeContent(
  content: Readable,
  file: FileHandle,
  { signal, md5, onBytes }: WriteOptions = {},
): Promise<Measure> {
  const sha256 = createHash('sha256');
  let bytes = 0;
  let diskFailure: { readonly error: unknown } | undefined;
  const write = async (values: AsyncIterable<unknown>): Promise<void> => {
    for await (const value of values) {
      const chunk = toBytes(value);
      sha256.update(chunk);
      md5?.update(chunk);
      bytes += chunk.length;
      onBytes?.(bytes);
      await file.writeFile(chunk).catch((error: unknown) => {
        diskFailure = { error };
        throw error;
      });
    }
  };
  ignoreLateErrors(content);
  try {
    await pipeline(content, write, { signal });
    return { bytes, sha256: sha256.digest('hex') };
  } catch (error) {
    signal?.throwIfAborted();
    throw diskFailure === undefined ? new ContentError('', { cause: error }) : diskFailure.error;
  }
}

/** Of a stream’s value. */
export function toBytes(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (typeof value === 'string') return Buffer.from(value);
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  throw new TypeError(`the stream brought a value that is no bytes (${typeof value}); give bytes or text`);
}

let folder: string | undefined;

/** This process’s own folder, removed at its end; the machine’s where none can be made. */
export function spoolFolder(): string {
  if (folder !== undefined && isOwnFolder(folder)) return folder;
  const isFirst = folder === undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), folderPrefix));
  } catch {
    return tmpdir();
  }
  if (isFirst) {
    process.once('exit', () => {
      if (folder !== undefined && isOwnFolder(folder)) rmSync(folder, { recursive: true, force: true });
    });
  }
  return folder;
}

function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}
