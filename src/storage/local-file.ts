import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { lookup } from 'mime-types';

export class NotAFileError extends Error {}

/** The path was changed between its check and the opening. */
export class FileMovedError extends Error {}

/** Read it by its handle only. */
export interface OpenedFile {
  readonly file: FileHandle;
  readonly stats: BigIntStats;
}

/** Does not wait for a pipe, follows no link, and opens no controlling terminal. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

/** A pipe or a device could block one of Node's few file threads. Throws NotAFileError, or the system's error. */
export async function openRegularFile(path: string): Promise<OpenedFile> {
  // A path that changes in between is caught below.
  if (!(await lstat(path)).isFile()) throw new NotAFileError();
  const file = await open(path, flags);
  try {
    const stats = await file.stat({ bigint: true });
    if (!stats.isFile()) throw new NotAFileError();
    return { file, stats };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Opens a regular file under one of the folders. Throws NotAFileError, FileMovedError, or the system's error.
 * @param path - resolved, as the folders are
 * @param descriptors - where the system lists what a descriptor has open; other systems have no such folder
 */
export async function openFileBeneath(
  path: string,
  folders: readonly string[],
  descriptors = '/proc/self/fd',
): Promise<OpenedFile> {
  const opened = await openRegularFile(path);
  try {
    const place = await findPath(opened, path, descriptors);
    if (place === undefined || !folders.some((folder) => isInside(place, folder))) throw new FileMovedError();
    return opened;
  } catch (error) {
    await opened.file.close();
    throw error;
  }
}

/** As the kernel knows it; on other systems where the path leads now, if that is the same file. */
async function findPath({ file, stats }: OpenedFile, path: string, descriptors: string): Promise<string | undefined> {
  const target = await readlink(`${descriptors}/${file.fd}`).catch(() => undefined);
  if (target !== undefined) return (await file.stat()).nlink === 0 ? undefined : target;
  const place = await realpath(path);
  const { dev, ino } = await stat(place, { bigint: true });
  return dev === stats.dev && ino === stats.ino ? place : undefined;
}

/** Both are resolved. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

const chunkBytes = 1024 * 1024;

/** Less when the file is shorter. Several can be read at once; the handle stays open. */
export async function* readRange(
  file: FileHandle,
  startByte: number,
  sizeBytes: number,
): AsyncGenerator<Buffer, void, undefined> {
  for (let read = 0; read < sizeBytes;) {
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, sizeBytes - read));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, startByte + read);
    if (bytesRead === 0) return;
    read += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** `application/octet-stream` when the extension says nothing. */
export function lookUpContentType(name: string): string {
  return lookup(name) || 'application/octet-stream';
}
