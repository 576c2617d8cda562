import { type FileHandle, mkdir, open, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { maxPartBytes } from '../../core/archive-name';
import { errorCode } from '../../core/text';
import { ArchiveError, safeCause } from '../errors';

/** Makes a file unless the name is taken, and flushes it and its name; returns whether it was made. */
export async function createFile(path: string, content: string, isFlushedLater = false): Promise<boolean> {
  const file = await open(path, 'wx').catch((error: unknown) => {
    if (errorCode(error) === 'EEXIST') return undefined;
    throw error;
  });
  if (file === undefined) return false;
  try {
    await file.writeFile(content);
    if (isFlushedLater) return true;
    await file.sync();
    await flushFolder(dirname(path));
    return true;
  } catch (error) {
    // No caller has acted on it yet: it must not look like a record that one did.
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** In a folder that is made where it is missing. */
export async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx');
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    await makeFolder(dirname(path));
    return await open(path, 'wx');
  }
}

/** Whether it made it. `mkdir` with `recursive` never returns on some file systems. */
export async function makeFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    if (errorCode(error) !== 'ENOENT' || dirname(folder) === folder) throw error;
    await makeFolder(dirname(folder));
    await mkdir(folder).catch((again: unknown) => {
      if (errorCode(again) !== 'EEXIST') throw again;
    });
  }
  await flushFolder(dirname(folder));
  return true;
}

/** A new name outlives a power failure only once its folder is flushed too. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Undefined where the system does not say. */
export async function readFreeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize, blocks } = await statfs(folder);
    // Some network file systems count nothing.
    return blocks === 0 ? undefined : bavail * bsize;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' && dirname(folder) !== folder) return await readFreeBytes(dirname(folder));
    return undefined;
  }
}

const fullCodes: readonly string[] = ['ENOSPC', 'EDQUOT', 'EFBIG'];

export function isFull(error: unknown): boolean {
  return fullCodes.includes(errorCode(error));
}

const notAllowed =
  'this user may not write or read there; run this as a user that may, or give this user the right, too (LONGHAUL_UMASK: for what Longhaul writes)';
const reasons: Readonly<Record<string, string>> = {
  EACCES: notAllowed,
  EPERM: notAllowed,
  ENAMETOOLONG: `a name or its whole path is longer than the file system takes; use a folder with a shorter path, on a disk that takes names of ${maxPartBytes} bytes`,
  ENOTDIR: 'a part of its path is a file; name a folder',
  EROFS: 'the file system is read-only; mount it writable, or name the folder in ReadWritePaths= of its systemd unit',
};

/** Of `fsync`, which some network and user-space file systems do not have. */
const unflushedCodes: readonly string[] = ['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

export function diskFailure(error: unknown, { where, name }: { where: string; name: string }): ArchiveError {
  if (error instanceof ArchiveError) return error;
  const code = errorCode(error);
  if (isFull(error)) return diskError(error, `${where} has no space left for ${name} (${code}); make room on its disk`);
  let reason = reasons[code] ?? 'check its disk and its permissions';
  if (error instanceof Error && 'syscall' in error && error.syscall === 'fsync' && unflushedCodes.includes(code)) {
    reason =
      'the file system does not flush what is written, so that a power failure could lose it; use a folder on another one';
  }
  return diskError(error, `${where} cannot keep or give ${name} (${code}): ${reason}`);
}

export function diskError(error: unknown, words: string): ArchiveError {
  return new ArchiveError(isFull(error) ? 'ARCHIVE_FULL' : 'ARCHIVE_UNUSABLE', words, { cause: safeCause(error) });
}
