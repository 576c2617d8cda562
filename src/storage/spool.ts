import { type Hash, randomUUID } from 'node:crypto';
import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../core/text';
import { isFull } from './archive/disk';
import { type Measure, TransferMeter } from './hash';

/** What temporary folders are called. */
const folderPrefix = 'longhaul-spool-';

/** A content in a temporary file without a name: it is deleted when its handle closes, or its process ends. */
export interface SpooledFile extends Measure {
  readonly file: FileHandle;
}

/**
 * Writes a content to a temporary file and hashes it. Close the handle afterwards.
 *
 * @param md5 - gets the same content, for a storage that wants to know it by that.
 * @param folder - by default one that is gone again before anything is written, so that a process that is killed leaves none.
 * @throws what `writeContent` throws, or the system's error.
 */
export async function spoolFile(
  content: Readable,
  folder?: string,
  signal?: AbortSignal,
  md5?: Hash,
): Promise<SpooledFile> {
  ignoreLateErrors(content);
  const file = await (folder === undefined ? openAlone() : openNameless(folder));
  try {
    return { file, ...(await writeContent(content, file, signal, md5)) };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Opens a new file for writing and reading in this folder, which is made when it is missing, and removes its name. */
export async function openNameless(folder: string): Promise<FileHandle> {
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

/** The content failed, not the file that it was written to; its error is the cause. */
export class ContentError extends Error {}

/** Call it before the first wait: a content that fails while its file is being opened would end the process. Reading it throws the failure. */
export function ignoreLateErrors(content: Readable): void {
  content.on('error', () => undefined);
}

/**
 * Writes a content to an open file and hashes it.
 *
 * @throws the signal's reason, ContentError, or the system's error about the file. Which of the two failed is known
 * only here: destroying the content after a failure of the file makes it fail, too.
 */
export async function writeContent(
  content: Readable,
  file: FileHandle,
  signal?: AbortSignal,
  md5?: Hash,
): Promise<Measure> {
  const meter = new TransferMeter(() => undefined, undefined, content);
  let diskFailure: { readonly error: unknown } | undefined;
  const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      md5?.update(chunk);
      await file.writeFile(chunk).catch((error: unknown) => {
        diskFailure = { error };
        throw error;
      });
    }
  };
  ignoreLateErrors(content);
  try {
    await pipeline(content, meter, write, { signal });
    return { bytes: meter.bytes, sha256: meter.sha256() };
  } catch (error) {
    signal?.throwIfAborted();
    throw diskFailure === undefined ? new ContentError('', { cause: error }) : diskFailure.error;
  }
}

/** Why a temporary file cannot be made or written, and what to do: what was to go into it is not to blame. */
export function describeSpoolFailure(
  error: unknown,
  folder = tmpdir(),
): { readonly problem: string; readonly remedy: string } {
  const [problem, remedy] = isFull(error)
    ? ['has no space left for it', 'make room on its disk']
    : ['cannot take it', 'check its disk and its permissions'];
  return {
    problem: `the temporary folder ${folder} ${problem} (${errorCode(error)})`,
    remedy: `${remedy}, or set TMPDIR to another folder`,
  };
}

let folder: string | undefined;

/** This process’s own folder for temporary contents, for this user only; the machine’s where none can be made. Removed at its end. */
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
