import { Readable } from 'node:stream';
import { manifestName } from '../domain/archive-name';
import { parseJson } from '../domain/json';
import { isRequestId } from '../domain/create-outcome';
import { parseCreateRecord } from '../formats/create-record';
import { type ManifestFiles, parseManifestFiles } from '../formats/manifest';
import type { Archive } from '../storage/archive/archive';
import type { KnownTasks, ReadManifest, RecordedCreate } from './known-tasks';

const recordName = /^\.creates\/([^/]+)\/(\d+)\.json$/;
/** With a name template, a manifest may be in any folder and have any prefix. */
const manifestAt = /^((?:.*\/)?)[^/]*manifest\.json$/;
/** Small files that are read at the same time; most of the wait is the archive's. */
const readsAtOnce = 16;

/** What the reading of an archive saw. */
export interface ArchiveCount {
  records: number;
  manifests: number;
}

/** How an archive is read. */
export interface ReadArchiveOptions {
  /** Whether every file is hashed, which reads all of them; otherwise sizes are compared. */
  readonly verify: boolean;
  /** Is called for every record and manifest. */
  readonly onProgress: (count: ArchiveCount) => void;
}

/** Takes in every create record and manifest of an archive, in one pass over its names. Throws ArchiveError. */
export async function readArchive(archive: Archive, known: KnownTasks, options: ReadArchiveOptions): Promise<void> {
  const count: ArchiveCount = { records: 0, manifests: 0 };
  await Readable.from(archive.list('')).forEach(
    async (name: string) => {
      const record = await readRecord(archive, name);
      const manifest = record === undefined ? await readManifest(archive, name, options.verify) : undefined;
      if (record !== undefined) {
        known.addRecord(record);
        count.records += 1;
      }
      if (manifest !== undefined) {
        known.addManifest(manifest);
        count.manifests += 1;
      }
      if (record !== undefined || manifest !== undefined) options.onProgress(count);
    },
    { concurrency: readsAtOnce },
  );
}

/** A record that is incomplete says only that a create may have been sent. */
async function readRecord(archive: Archive, name: string): Promise<RecordedCreate | undefined> {
  const [, folder, number] = recordName.exec(name) ?? [];
  if (folder === undefined) return undefined;
  const content = await archive.read(name);
  if (content === undefined) return undefined;
  const { workflowId = decoded(folder), sentAt = '', requestId } = parseCreateRecord(content);
  const sentAtMs = Date.parse(sentAt);
  return {
    workflowId,
    createNumber: Number(number),
    sentAtMs: Number.isNaN(sentAtMs) ? null : sentAtMs,
    requestId: isRequestId(requestId) ? requestId : null,
  };
}

async function readManifest(archive: Archive, name: string, verify: boolean): Promise<ReadManifest | undefined> {
  const [, prefix] = manifestAt.exec(name) ?? [];
  const content = prefix === undefined ? undefined : await archive.read(name);
  if (prefix === undefined || content === undefined) return undefined;
  const json = parseJson(content.toString('utf8'));
  if (json === undefined) return unreadable(name, decoded(prefix.split('/').at(-2) ?? ''));
  const manifest = parseManifestFiles(json);
  // Anything else may be called so, too.
  if (manifest === undefined) return undefined;
  const { requestId, account, archivedAt } = manifest;
  const missing = manifest.complete ? [] : [`${name} says that outputs are missing`];
  const problems = [...missing, ...(await findProblems(archive, prefix, manifest, verify))];
  const folder = usualFolder(name, requestId) ?? '';
  return { requestId, account, folder, archivedAtMs: Date.parse(archivedAt), problems };
}

/** A damaged manifest's request id is known only from its name. */
function unreadable(name: string, requestId: string): ReadManifest | undefined {
  const folder = usualFolder(name, requestId);
  if (folder === undefined || !isRequestId(requestId)) return undefined;
  return { requestId, account: null, folder, archivedAtMs: null, problems: [`${name} is no manifest any more`] };
}

/** The folder that a task was archived into, when its manifest has the usual name; undefined for any other. */
function usualFolder(name: string, requestId: string): string | undefined {
  const usual = manifestName(requestId);
  if (name === usual) return '';
  return name.endsWith(`/${usual}`) ? name.slice(0, -usual.length - 1) : undefined;
}

async function findProblems(
  archive: Archive,
  prefix: string,
  manifest: ManifestFiles,
  verify: boolean,
): Promise<string[]> {
  const problems: string[] = [];
  for (const { file, bytes, sha256 } of manifest.outputs) {
    if (file === null || bytes === null || sha256 === null) continue;
    const name = `${prefix}${file}`;
    const size = await archive.size(name);
    if (size === undefined) problems.push(`${name} is missing`);
    else if (size !== bytes) problems.push(`${name} has ${size} bytes instead of ${bytes}`);
    else if (verify && (await archive.find(name, { sha256 })) === undefined) {
      problems.push(`${name} is not what it was: its SHA-256 is another one`);
    }
  }
  return problems;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
