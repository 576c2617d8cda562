import { Readable } from 'node:stream';
import { manifestName } from '../../src/core/archive-name';
import { type Manifest, manifestText, manifestVersion } from '../../src/archive/manifest';
import type { ResultLine } from '../../src/archive/result-line';
import type { Archive } from '../../src/storage/archive/archive';
import { sha256 } from './archive-content';

type Output = Manifest['outputs'][number];

/** A task as an archive has it. */
export interface TaskInArchive {
  readonly requestId: string;
  /** @default the top of the archive */
  readonly folder?: string;
  /** By their names beside the manifest. */
  readonly files: Readonly<Record<string, string>>;
  /** Outputs that are not there. */
  readonly more?: readonly Partial<Output>[];
  readonly manifest?: Partial<Manifest>;
}

/** Puts a task's outputs and manifest into an archive; where its manifest is. */
export async function archiveTask(archive: Archive, task: TaskInArchive): Promise<string> {
  const { requestId, folder = '', files, more = [] } = task;
  const name = `${folder === '' ? '' : `${folder}/`}${manifestName(requestId)}`;
  const beside = name.slice(0, name.lastIndexOf('/') + 1);
  const kept: Partial<Output>[] = [];
  for (const [file, content] of Object.entries(files)) {
    await archive.put(`${beside}${file}`, Readable.from([Buffer.from(content)]));
    kept.push({ file, bytes: content.length, sha256: sha256(content) });
  }
  const manifest: Manifest = {
    ...{ manifestVersion, complete: true, requestId, status: 'Success', workflowId: 'task:a', createNumber: null },
    account: 'default',
    ...{ webAppId: 5, archivedAt: '2026-01-02T03:04:05.000Z', inputs: [], values: {}, timestamps: {}, costTimes: {} },
    ...{ cost: null, errorMessage: null },
    outputs: [...kept, ...more].map((output) => ({
      ...{ file: null, bytes: null, sha256: null, ext: '.png', costTimeMs: null, auditStatus: null },
      ...{ auditSource: 'outputs' as const, errorType: 'NOT_ERROR', errorMessage: null, url: null, link: null },
      problem: null,
      ...output,
    })),
    ...task.manifest,
  };
  await archive.replace(name, manifestText(manifest));
  return archive.locate(name);
}

/** A line of `results.jsonl` of a row that succeeded, unless told otherwise. */
export function resultLineOf(batchId: string, key: string, more: Partial<ResultLine> = {}): ResultLine {
  return {
    ...{ key, line: 1, status: 'Success', workflowId: `batch:${batchId}:${key}`, requestId: `request-${key}` },
    ...{ failure: null, outputs: [], outputCount: 1, failedOutputCount: 0, manifest: null },
    ...{ startedAt: '2026-01-02T03:04:05.000Z', endedAt: '2026-01-02T03:04:06.000Z', seconds: 1 },
    ...{ queuedSeconds: null, costTimes: {}, cost: null, costWithoutResult: null, file: null, cells: [] },
    ...more,
  };
}

/** Puts rows of one file each into an archive, as the end of a batch leaves them. */
export async function archiveBatch(archive: Archive, batchId: string, keys: readonly string[]): Promise<ResultLine[]> {
  const lines: ResultLine[] = [];
  for (const [index, key] of keys.entries()) {
    const files = { '0.png': `picture of ${key}` };
    const manifest = await archiveTask(archive, {
      requestId: `request-${key}`,
      folder: `batches/${batchId}/outputs`,
      files,
    });
    lines.push(resultLineOf(batchId, key, { line: index + 1, manifest }));
  }
  await writeResults(archive, batchId, lines);
  return lines;
}

export async function writeResults(archive: Archive, batchId: string, lines: readonly ResultLine[]): Promise<void> {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  await archive.replace(`batches/${batchId}/results.jsonl`, text);
}
