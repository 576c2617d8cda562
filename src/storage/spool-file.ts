import { randomUUID } from 'node:crypto';
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Measure } from './hash-file';
import { hearOut, writeContent } from './write-content';

/** A content on its way, in a file without a name: when its handle closes, or its process dies, it is gone. */
export interface SpooledFile extends Measure {
  readonly file: FileHandle;
}

/**
 * Writes a content to a file of this machine, hashing it in passing. Close the handle afterwards.
 *
 * @throws what `writeContent` throws, or the system's error.
 */
export async function spoolFile(content: Readable, folder: string, signal?: AbortSignal): Promise<SpooledFile> {
  hearOut(content);
  const file = await openNameless(folder);
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
