import { randomUUID } from 'node:crypto';
import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { type FileHandle, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
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
 * @param folder - by default one that is gone again before anything is written, so that a process that is killed leaves none.
 * @throws what `writeContent` throws, or the system's error.
 */
export async function spoolFile(content: Readable, folder?: string, signal?: AbortSignal): Promise<SpooledFile> {
  ignoreLateErrors(content);
  const file = await (folder === undefined ? openAlone() : openNameless(folder));
  try {
    return { file, ...(await writeContent(content, file, signal)) };
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

/**
 * To be called before the first wait: a content that fails while its file is being opened would otherwise end the
 * process. The failure is not lost: reading the content throws it.
 */
export function ignoreLateErrors(content: Readable): void {
  content.on('error', () => undefined);
}

/**
 * Writes a content to an open file and hashes it.
 *
 * @throws the signal's reason, ContentError, or the system's error about the file. Which of the two failed is known
 * only here: destroying the content after a failure of the file makes it fail, too.
 */
export async function writeContent(content: Readable, file: FileHandle, signal?: AbortSignal): Promise<Measure> {
  const meter = new TransferMeter(() => undefined);
  let diskFailure: { readonly error: unknown } | undefined;
  const write = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      await file.writeFile(chunk).catch((error: unknown) => {
        diskFailure = { error };
        throw error;
      });
    }
  };
  ignoreLateErrors(content);
  try {
    await pipeline(content, chunksOf, meter, write, { ...(signal !== undefined && { signal }) });
    return { bytes: meter.bytes, sha256: meter.sha256() };
  } catch (error) {
    signal?.throwIfAborted();
    throw diskFailure === undefined ? new ContentError('', { cause: error }) : diskFailure.error;
  }
}

/**
 * The chunks of a content. A stream in object mode may bring anything, and what is no bytes and no text would be thrown by
 * the stream that it is written to, where nobody can catch it: it would end the process.
 */
export async function* chunksOf(content: Readable): AsyncGenerator<Uint8Array | string> {
  for await (const chunk of content as AsyncIterable<unknown>) {
    if (typeof chunk !== 'string' && !(chunk instanceof Uint8Array)) {
      throw new TypeError(`the stream brings a value of the type ${typeof chunk} instead of bytes or text`);
    }
    yield chunk;
  }
}

let folder: string | undefined;

/**
 * This process's own folder for temporary contents, below the machine's: made at the first use under a random name for
 * this user only, so that no other user can have put anything there, and removed when the process ends. If a cleaner of
 * temporary files has removed it, it is made anew.
 */
export function spoolFolder(): string {
  if (folder === undefined) process.once('exit', removeFolder);
  if (folder === undefined || !isOwnFolder(folder)) folder = mkdtempSync(join(tmpdir(), folderPrefix));
  return folder;
}

function isOwnFolder(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

function removeFolder(): void {
  if (folder !== undefined && isOwnFolder(folder)) rmSync(folder, { recursive: true, force: true });
}
