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
  /** Where the files go, by their names beside the manifest, and the manifest. Default: as in the archive. */
  readonly names?: { readonly files: readonly string[]; readonly manifest: string } | undefined;
  readonly atOnce: number;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((file: FileProgress) => void) | undefined;
  readonly onFile?: ((file: KeptFile) => void) | undefined;
}

interface ArchivedFile {
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Outputs that are archived. */
export function archivedFiles({ manifest: { outputs } }: ArchivedTask): readonly ArchivedFile[] {
  return outputs.flatMap(({ file, bytes, sha256 }) => {
    return file === null || bytes === null || sha256 === null ? [] : [{ file, bytes, sha256 }];
  });
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

/** The manifest comes last; by one that is there it is known that a file may be replaced. Throws ArchiveError or {@link ResultsError}. */
export async function fetchTask(
  archive: Archive,
  task: ArchivedTask,
  options: FetchTaskOptions,
): Promise<readonly KeptFile[]> {
  const { name, manifest, text } = task;
  const { destination, names, atOnce, signal, onProgress, onFile } = options;
  const from = name.slice(0, -basename(name).length);
  const files = archivedFiles(task);
  const manifestTo = names?.manifest ?? basename(name);
  const before = names === undefined ? manifest : parseManifest(await destination.read(manifestTo));
  const isNew = before?.workflowId !== manifest.workflowId;
  const kept = await Readable.from(files.entries())
    .map(
      async (
        [index, { file, ...expected }]: [number, (typeof files)[number]],
        ended?: { readonly signal?: AbortSignal | undefined },
      ): Promise<KeptFile> => {
        const onBytes = (bytes: number): void => onProgress?.({ name: file, bytes, totalBytes: expected.bytes });
        const wanted = { archive, from: `${from}${file}`, to: names?.files[index] ?? file, isNew, ...expected };
        const fetched = await destination.fetch(wanted, { signal: ended?.signal, onBytes });
        onFile?.(fetched);
        return fetched;
      },
      { concurrency: atOnce, signal },
    )
    .toArray();
  await destination.keep(manifestTo, text);
  return kept as readonly KeptFile[];
}

/** Throws {@link ResultsError} that says what is missing. */
export function requireComplete(task: ArchivedTask, how: string): void {
  const { archived, missing } = countOutputs(task);
  if (task.manifest.complete && missing === 0) return;
  const words = `The archive of ${task.manifest.requestId} is incomplete: it has ${archived} of ${archived + missing} outputs. ${how}`;
  throw new ResultsError('incomplete', words);
}
