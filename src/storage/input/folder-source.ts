import { access, constants, realpath } from 'node:fs/promises';
import { basename, dirname, isAbsolute, resolve, sep } from 'node:path';
import { errorCode } from '../../core/text';
import { isDrivePath } from '../../core/uri';
import { SourceError, type SourceErrorCode } from '../errors';
import { lookUpContentType, FileMovedError, isInside, NotAFileError, openFileBeneath } from '../local-file';
import { createFail, type OpenedSource, requireContentOfName, type SourceRules } from './input-source';

type FolderRules = Pick<SourceRules, 'inputRoots' | 'maxBytes'>;

/** With links resolved, the file must be under a root. Nothing outside is revealed, not even whether it exists. */
export async function openFolderSource(source: string, { inputRoots, maxBytes }: FolderRules): Promise<OpenedSource> {
  if (inputRoots.length === 0) {
    const remedy = 'list the folders that may be read in LONGHAUL_INPUT_ROOTS of the worker';
    throw refusal('NO_INPUT_ROOTS', source, 'is a path, and this worker may read no local files', remedy);
  }
  // Nothing is inside a root that does not exist yet.
  const roots = await Promise.all(inputRoots.map((root) => realpath(root).catch(() => resolve(root))));
  const path = await locate(source, inputRoots, roots);
  const { file, stats } = await openFileBeneath(path, roots).catch((error: unknown) => {
    throw openFailure(source, error);
  });
  const sizeBytes = Number(stats.size);
  if (sizeBytes === 0 || sizeBytes > maxBytes) {
    await file.close();
    if (sizeBytes === 0) throw refusal('EMPTY', source, 'is empty', 'give a file that has content');
    const remedy = `give a file of at most ${maxBytes} bytes`;
    throw refusal('TOO_LARGE', source, `is too large (${sizeBytes} bytes)`, remedy);
  }
  const name = basename(path);
  await requireContentOfName({ name, file }, createFail(source)).catch(async (error: unknown) => {
    await file.close();
    throw error instanceof SourceError ? error : openFailure(source, error);
  });
  return { name, sizeBytes, file, contentType: lookUpContentType(name), release: () => file.close() };
}

async function locate(source: string, inputRoots: readonly string[], roots: readonly string[]): Promise<string> {
  const bases = isAbsolute(source) ? [sep] : inputRoots;
  const candidates = await Promise.all(bases.map((base) => resolveLinks(resolve(base, source))));
  const found = candidates.find(({ path, exists }) => exists && roots.some((root) => isInside(path, root)));
  if (found !== undefined) return found.path;
  await requireRoots(source, inputRoots);
  const hidden = candidates.find(
    ({ path, error }) => error !== undefined && roots.some((root) => isInside(path, root)),
  );
  if (hidden !== undefined) throw openFailure(source, hidden.error);
  if (candidates.every(({ path, exists }) => !exists && roots.some((root) => path === root || isInside(path, root)))) {
    const isOfWindows = sep === '/' && isDrivePath(source);
    const remedy = isOfWindows
      ? 'it is a path of Windows, and this worker’s system has no drives: give the path that the file has on the worker'
      : 'check the path; it is a path on the worker, not on the caller';
    const below = isAbsolute(source) ? '' : ` below ${inputRoots.join(', ')}`;
    throw refusal('NOT_FOUND', source, `does not exist${below}`, remedy);
  }
  const remedy = `move it under one of ${inputRoots.join(', ')}, or add its folder to LONGHAUL_INPUT_ROOTS of the worker`;
  throw refusal('OUTSIDE_INPUT_ROOTS', source, 'is outside the folders that this worker may read', remedy);
}

/** Throws where a root that may have the file cannot be searched now, such as an absent mount: that may pass. */
async function requireRoots(source: string, inputRoots: readonly string[]): Promise<void> {
  for (const root of inputRoots) {
    if (!isInside(resolve(root, source), resolve(root))) continue;
    const error: unknown = await access(root, constants.X_OK).catch((caught: unknown) => caught);
    if (error === undefined) continue;
    const problem = `cannot be looked for in ${root}, which this worker cannot read now (${errorCode(error)})`;
    const remedy = 'mount that folder, or correct LONGHAUL_INPUT_ROOTS of the worker';
    throw refusal('UNREADABLE_NOW', source, problem, remedy, error);
  }
}

/** A path leads to nothing; with another error something may be there. */
const missingCodes: readonly string[] = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG'];

interface ResolvedPath {
  /** Without links; of a path that does not exist, the part that does. */
  readonly path: string;
  readonly exists: boolean;
  /** Why it is not known whether it exists, such as a folder that may not be searched. */
  readonly error?: unknown;
}

async function resolveLinks(path: string): Promise<ResolvedPath> {
  try {
    return { path: await realpath(path), exists: true };
  } catch (error) {
    const parent = dirname(path);
    if (parent === path) return { path, exists: false };
    const known = await resolveLinks(parent);
    const isHidden = known.exists && !missingCodes.includes(errorCode(error));
    return { ...known, exists: false, error: isHidden ? error : undefined };
  }
}

/** The disk or its machine is away, or no further file can be open: that may pass. */
const passingCodes = /^(EAGAIN|EHOSTDOWN|EHOSTUNREACH|EIO|EMFILE|ENFILE|ENOMEM|ENOTCONN|ESTALE|ETIMEDOUT)$/;

/** @internal exported for tests */
export function openFailure(source: string, error: unknown): SourceError {
  const code = errorCode(error);
  // A pipe or socket, opened without blocking.
  if (error instanceof NotAFileError || code === 'ENXIO') {
    return refusal('NOT_A_FILE', source, 'is not a regular file', 'give the path of a file');
  }
  // A link in the place of the file.
  if (error instanceof FileMovedError || code === 'ELOOP') {
    return refusal('FILE_MOVED', source, 'was replaced while it was opened', 'leave it in its place, and try again');
  }
  if (passingCodes.test(code)) {
    const remedy = 'check its disk, and how many files this worker may have open';
    return refusal('UNREADABLE_NOW', source, `cannot be read now (${code})`, remedy, error);
  }
  return refusal('UNREADABLE', source, `cannot be read (${code})`, 'let the user of this process read it', error);
}

function refusal(code: SourceErrorCode, source: string, problem: string, remedy: string, cause?: unknown): SourceError {
  return createFail(source)(code, problem, remedy, cause);
}
