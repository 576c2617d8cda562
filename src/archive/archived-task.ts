import { basename } from 'node:path';
import { Readable } from 'node:stream';
import { defaultRowFolder } from '../contract/archive-folder';
import { isTaskKey } from '../contract/workflow-ids';
import { manifestName } from '../core/archive-name';
import { type Manifest, parseManifest } from './manifest';
import type { Archive } from '../storage/archive/archive';
import type { Destination, KeptFile } from './destination';
import { ResultsError } from './errors';

export interface ArchivedTask {
  readonly name: string;
  readonly manifest: Manifest;
  readonly text: Buffer;
}

const maxFolders = 12;

/** A worker may see the archive elsewhere, so each end of a path outside this one is tried, the longest first. */
export function namesOfPath({ location }: Pick<Archive, 'location'>, path: string): readonly string[] {
  if (path.startsWith(`${location}/`)) return [path.slice(location.length + 1)];
  const parts = path
    .replace(/^s3:\/\/[^/]+/, '')
    .split(/[/\\]/)
    .filter((part) => part !== '' && part !== '.' && part !== '..')
    .slice(-maxFolders);
  return parts.map((_, index) => parts.slice(index).join('/'));
}

/** Unless the task was given another folder. */
export function usualManifestNames(workflowId: string, requestId: string): readonly string[] {
  const [batch] = workflowId.startsWith('batch:') ? workflowId.slice('batch:'.length).split(':') : [];
  const name = manifestName(requestId);
  return [...(batch === undefined || !isTaskKey(batch) ? [] : [`${defaultRowFolder(batch)}/${name}`]), name];
}

/** The first that is this task's: a service may give a request id again. Null takes any. */
export async function findArchivedTask(
  archive: Archive,
  names: Iterable<string>,
  requestId: string | null,
  workflowId: string | null,
): Promise<ArchivedTask | undefined> {
  for (const name of names) {
    const text = await archive.read(name);
    if (text === undefined) continue;
    const manifest = parseManifest(text);
    if (manifest === undefined || (requestId !== null && manifest.requestId !== requestId)) continue;
    const isAdopted = manifest.createNumber === null;
    if (workflowId !== null && !isAdopted && manifest.workflowId !== workflowId) continue;
    return { name, manifest, text };
  }
  return undefined;
}

export interface FileProgress {
  readonly name: string;
  readonly bytes: number;
  readonly totalBytes: number | null;
}

export interface FetchTaskOptions {
  readonly destination: Destination;
  /** The folder in the destination; `''` is its top. */
  readonly folder: string;
  readonly atOnce: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((file: FileProgress) => void) | undefined;
  readonly onFile?: ((file: KeptFile) => void) | undefined;
}

export function countOutputs({ manifest: { outputs } }: ArchivedTask): {
  readonly archived: number;
  readonly missing: number;
  /** Failed at the service: there is nothing to archive. */
  readonly failed: number;
} {
  const archived = outputs.filter(({ file }) => file !== null).length;
  const missing = outputs.filter(({ file, problem }) => file === null && problem !== null).length;
  return { archived, missing, failed: outputs.length - archived - missing };
}

/** The manifest comes last. Throws ArchiveError or {@link ResultsError}. */
export async function fetchTask(
  archive: Archive,
  { name, manifest, text }: ArchivedTask,
  options: FetchTaskOptions,
): Promise<readonly KeptFile[]> {
  const { destination, folder, atOnce, signal, onProgress, onFile } = options;
  const from = name.slice(0, -basename(name).length);
  const to = folder === '' ? '' : `${folder}/`;
  const files = manifest.outputs.flatMap(({ file, bytes, sha256 }) => {
    return file === null || bytes === null || sha256 === null ? [] : [{ file, bytes, sha256 }];
  });
  const kept = await Readable.from(files)
    .map(
      async (
        { file, ...expected }: (typeof files)[number],
        ended?: { readonly signal?: AbortSignal | undefined },
      ): Promise<KeptFile> => {
        const onBytes = (bytes: number): void => onProgress?.({ name: file, bytes, totalBytes: expected.bytes });
        const wanted = { archive, from: `${from}${file}`, to: `${to}${file}`, ...expected };
        const fetched = await destination.fetch(wanted, { signal: ended?.signal, onBytes });
        onFile?.(fetched);
        return fetched;
      },
      { concurrency: atOnce, signal },
    )
    .toArray();
  await destination.keep(`${to}${basename(name)}`, text);
  return kept as readonly KeptFile[];
}

/** Throws {@link ResultsError} that says what is missing. */
export function requireComplete(task: ArchivedTask, how: string): void {
  const { archived, missing } = countOutputs(task);
  if (task.manifest.complete && missing === 0) return;
  const words = `The archive of ${task.manifest.requestId} is incomplete: it has ${archived} of ${archived + missing} outputs. ${how}`;
  throw new ResultsError('incomplete', words);
}
