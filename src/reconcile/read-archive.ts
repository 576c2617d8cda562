import { Readable } from 'node:stream';
import { manifestName } from '../core/archive-name';
import { type ArchivedFile, archivedFile, toRecordedCreate } from '../archive/archive-reader';
import { type Manifest, parseManifest } from '../archive/manifest';
import { createName, isLonghaulWorkflowId } from '../contract/workflow-ids';
import { isRequestId } from '../core/create-outcome';
import { parseJson } from '../core/json';
import type { Archive, Expectation } from '../storage/archive/archive';
import { ArchiveError } from '../storage/errors';
import type { Measure } from '../storage/hash';
import type { KnownTasks, ReadManifest } from './known-tasks';

const readsAtOnce = 16;
const maxSizes = 500_000;
const maxProblems = 20;
const maxReadBytes = 64 * 1024 * 1024;
/** With more unreadable files, the archive itself is unreadable. */
const maxUnread = 20;

export interface ArchiveCount {
  records: number;
  manifests: number;
  /** Files that are not Longhaul's, and the first of them. */
  foreign: number;
  firstForeign: string | null;
}

interface ReadArchiveOptions {
  /** Hash every file, which reads all of them, instead of comparing sizes. */
  readonly verify: boolean;
  /** Older records and manifests are known by their names, and not read. */
  readonly sinceMs: number;
  /** What was kept before and no known task needs is not read, either; null: all of it is. */
  readonly changesSinceMs: number | null;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: (count: ArchiveCount) => void;
}

export interface ArchiveReading {
  readonly count: ArchiveCount;
  /** Reads older manifests of known tasks whose names do not tell them; returns whether there were any. */
  readonly readUnnamed: () => Promise<boolean>;
}

/** Throws ArchiveError, and the signal's reason. */
export async function readArchive(
  archive: Archive,
  known: KnownTasks,
  options: ReadArchiveOptions,
): Promise<ArchiveReading> {
  const count: ArchiveCount = { records: 0, manifests: 0, foreign: 0, firstForeign: null };
  const { names, unnamed, sizes } = await listArchive(archive, known, options, count);
  const files = { archive, sizes, ...options, isWanted: () => true };
  await readFiles(names, known, files, count);
  if (options.changesSinceMs !== null) await readFiles(known.oldManifestNames(), known, files, count);
  const readUnnamed = async (): Promise<boolean> => {
    await readFiles(unnamed, known, { ...files, isWanted: (requestId) => known.has(requestId) }, count);
    return unnamed.length > 0;
  };
  return { count, readUnnamed };
}

async function readFiles(
  names: readonly string[],
  known: KnownTasks,
  files: ArchiveFiles & ReadArchiveOptions,
  count: ArchiveCount,
): Promise<void> {
  const { archive, signal, onProgress } = files;
  const take = async (name: string, content: Buffer | undefined): Promise<void> => {
    const file = archivedFile(name);
    if (content === undefined) return;
    if (file?.kind === 'create') {
      known.addRecord(toRecordedCreate(file, content));
      count.records += 1;
    } else if (file?.kind === 'manifest') {
      const manifest = await readManifest(name, file, content, files);
      if (manifest === undefined) return;
      known.addManifest(manifest);
      count.manifests += 1;
    }
    onProgress(count);
  };
  const unread: string[] = [];
  await Readable.from(names).forEach(
    async (name: string) => {
      try {
        await take(name, await archive.read(name));
      } catch (error) {
        if (!(error instanceof ArchiveError) || unread.length >= maxUnread) throw error;
        unread.push(name);
      }
    },
    { concurrency: readsAtOnce, signal },
  );
  for (const name of unread) {
    signal?.throwIfAborted();
    // A second try, as it may have failed for a moment; then it counts as damaged and does not end the comparison.
    const content = await archive.read(name).catch((error: unknown) => {
      if (!(error instanceof ArchiveError)) throw error;
      return Buffer.alloc(0);
    });
    await take(name, content);
  }
}

async function listArchive(
  archive: Archive,
  known: KnownTasks,
  { sinceMs, changesSinceMs, signal }: ReadArchiveOptions,
  count: ArchiveCount,
): Promise<{ names: readonly string[]; unnamed: readonly string[]; sizes: ReadonlyMap<string, number> }> {
  const readSinceMs = changesSinceMs ?? sinceMs;
  const names: string[] = [];
  const unnamed: string[] = [];
  const sizes = new Map<string, number>();
  const passOver = (place: string): void => {
    count.foreign += 1;
    count.firstForeign ??= place;
  };
  for await (const { name, bytes, keptAtMs } of archive.list('', passOver)) {
    signal?.throwIfAborted();
    const file = archivedFile(name);
    if (bytes > maxReadBytes || file === undefined || file.kind === 'rows') {
      if (keptAtMs >= readSinceMs && sizes.size < maxSizes) sizes.set(name, bytes);
    } else if (keptAtMs >= readSinceMs || isNeeded(known, file, changesSinceMs)) {
      names.push(name);
    } else if (!addByName(known, name, file)) {
      (changesSinceMs === null ? names : unnamed).push(name);
    }
  }
  return { names, unnamed, sizes };
}

function isNeeded(known: KnownTasks, file: ArchivedFile, changesSinceMs: number | null): boolean {
  return changesSinceMs !== null && file.kind === 'create' && known.needsRecord(file.workflowId);
}

type ManifestFile = Extract<ArchivedFile, { readonly kind: 'manifest' }>;

function addByName(known: KnownTasks, name: string, file: Exclude<ArchivedFile, { readonly kind: 'rows' }>): boolean {
  if (file.kind === 'create') {
    if (!isLonghaulWorkflowId(file.workflowId)) return false;
    known.addOldRecord(file);
    return true;
  }
  const folder = usualFolder(name, file.folderName);
  if (folder === undefined || !isRequestId(file.folderName)) return false;
  known.addOldManifest(file.folderName, folder);
  return true;
}

async function readManifest(
  name: string,
  { folder: prefix, folderName }: ManifestFile,
  content: Buffer,
  files: ArchiveFiles,
): Promise<ReadManifest | undefined> {
  const manifest = parseManifest(content);
  if (manifest === undefined) {
    // Other JSON files may have this name. A damaged manifest's request id is known only from its name.
    const folder = usualFolder(name, folderName);
    if (parseJson(content.toString()) !== undefined || folder === undefined || !isRequestId(folderName)) {
      return undefined;
    }
    const problems = [`${name} cannot be read as a manifest`];
    return { requestId: folderName, account: null, createdBy: null, folder, archivedAtMs: null, problems };
  }
  const { requestId, account, workflowId, createNumber } = manifest;
  if (!files.isWanted(requestId)) return undefined;
  const archivedAtMs = Date.parse(manifest.archivedAt);
  const missing = manifest.complete ? [] : [`${name} says that outputs are missing`];
  const problems = [...missing, ...(await findProblems(files, prefix, manifest, archivedAtMs))];
  const folder = usualFolder(name, requestId) ?? '';
  const createdBy = createNumber === null || workflowId === null ? null : createName(workflowId, createNumber);
  return { requestId, account, createdBy, folder, archivedAtMs, problems };
}

function usualFolder(name: string, requestId: string): string | undefined {
  const usual = manifestName(requestId);
  if (name === usual) return '';
  return name.endsWith(`/${usual}`) ? name.slice(0, -usual.length - 1) : undefined;
}

type ArchiveFiles = Pick<ReadArchiveOptions, 'verify' | 'sinceMs'> & {
  readonly archive: Archive;
  readonly sizes: ReadonlyMap<string, number>;
  /** Whether the manifest of this task is taken; its files are looked at then. */
  readonly isWanted: (requestId: string) => boolean;
};

/** Problems with the first files of a manifest; older manifests are not checked. */
async function findProblems(
  files: ArchiveFiles,
  prefix: string,
  { outputs }: Manifest,
  archivedAtMs: number,
): Promise<string[]> {
  const problems: string[] = [];
  if (archivedAtMs < files.sinceMs) return problems;
  for (const [index, { file, bytes, sha256, tag }] of outputs.entries()) {
    if (problems.length >= maxProblems) return [...problems, `${outputs.length - index} more were not looked at`];
    if (file === null || bytes === null || sha256 === null) continue;
    const problem = await findProblem(files, `${prefix}${file}`, { bytes, sha256, tag });
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

async function findProblem(
  { archive, sizes, verify }: ArchiveFiles,
  name: string,
  { bytes, sha256, tag }: Measure & Expectation,
): Promise<string | undefined> {
  if (sizes.get(name) !== bytes) {
    // It may have been replaced since the list was read.
    const size = await archive.size(name);
    if (size === undefined) return `${name} is missing`;
    if (size !== bytes) return `${name} has ${size} bytes instead of ${bytes}`;
  }
  if (!verify || (await archive.find(name, { sha256, tag })) !== undefined) return undefined;
  return `${name} is not what it was: its SHA-256 is another one`;
}
