import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readlink, realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { lookup } from 'mime-types';

/** What was opened, or is to be opened, is no regular file. */
export class NotAFileError extends Error {}

/** What was opened lies elsewhere than what was checked: the path was changed meanwhile. */
export class FileMovedError extends Error {}

/** An open regular file; it is read by its handle only. */
export interface OpenedFile {
  readonly file: FileHandle;
  readonly stats: BigIntStats;
}

/** Does not wait for the other end of a pipe, follows no link, and opens no controlling terminal. */
const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW | constants.O_NOCTTY;

/**
 * Opens a regular file for reading: a pipe or a device could block one of Node's few threads for files. The path has no
 * link in its last part. Throws NotAFileError, or the system's error.
 */
export async function openRegularFile(path: string): Promise<OpenedFile> {
  // Checked before opening; a path that changes in between is caught below.
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
 * Opens a regular file that lies under one of these folders, however its path is changed meanwhile. Throws NotAFileError,
 * FileMovedError, or the system's error.
 *
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

/** Where an open file lies, as the kernel knows it; elsewhere where its path leads now, if that is the same file. */
async function findPath({ file, stats }: OpenedFile, path: string, descriptors: string): Promise<string | undefined> {
  const target = await readlink(`${descriptors}/${file.fd}`).catch(() => undefined);
  if (target !== undefined) return (await file.stat()).nlink === 0 ? undefined : target;
  const place = await realpath(path);
  const { dev, ino } = await stat(place, { bigint: true });
  return dev === stats.dev && ino === stats.ino ? place : undefined;
}

/** Whether a path lies under a folder; both resolved. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Bytes read at a time. */
const chunkBytes = 1024 * 1024;

/** Reads a piece of an open file, less when the file is shorter. Several can be read at the same time; its handle stays open. */
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

/** The media type of a file name's extension; `application/octet-stream` when it says nothing. */
export function lookUpContentType(name: string): string {
  return lookup(name) || 'application/octet-stream';
}
