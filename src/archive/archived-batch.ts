import { basename } from 'node:path';
import type { Archive } from '../storage/archive/archive';
import { isArchiveName } from '../storage/archive/archive';
import { countOutputs, findArchivedTask, namesOfPath } from './archived-task';
import { openBatchResults } from './batch-results';
import type { Manifest } from './manifest';
import type { ResultLine } from './result-line';

/** The outputs of a row, for another batch. */
interface RowOutputs {
  readonly outputs: readonly {
    /** As results.csv names it. */
    readonly path: string;
    /** As this archive names it. */
    readonly file: string;
    readonly sha256: string;
    readonly problem: string | undefined;
  }[];
  readonly values: Manifest['values'];
}

/** A batch whose outputs become rows of another one. */
interface ArchivedBatch {
  readonly id: string;
  /** Otherwise its rows are those on record, without columns. */
  readonly hasEnded: boolean;
  rows(): AsyncGenerator<
    Pick<ResultLine, 'key' | 'status' | 'cells'> & { outputs(): Promise<RowOutputs | string> },
    void,
    undefined
  >;
}

/** Throws ArchiveError, and ResultsError where there is none. */
export async function openArchivedBatch(archive: Archive, id: string): Promise<ArchivedBatch> {
  const results = await openBatchResults(archive, id);
  return {
    id,
    hasEnded: results.file !== null,
    rows: async function* () {
      for await (const line of results.rows()) {
        const { key, status, cells } = line;
        yield { key, status, cells, outputs: () => readOutputs(archive, line) };
      }
    },
  };
}

/** A text says why they cannot be had. */
async function readOutputs(archive: Archive, { manifest, requestId }: ResultLine): Promise<RowOutputs | string> {
  if (manifest === null) return 'its result does not say where its manifest is';
  const task = await findArchivedTask(archive, namesOfPath(archive, manifest), requestId, null);
  if (task === undefined) return `its manifest ${manifest} is not in the archive ${archive.location}`;
  const { archived, missing } = countOutputs(task);
  if (!task.manifest.complete || missing > 0) {
    return `its archive has ${archived} of ${archived + missing} outputs; wait until it is complete, or reject the row`;
  }
  const besideManifest = (place: string, file: string): string => `${place.slice(0, -basename(place).length)}${file}`;
  const outputs: RowOutputs['outputs'][number][] = [];
  for (const { file, bytes, sha256, contentEncoding } of task.manifest.outputs) {
    if (file === null || bytes === null || sha256 === null) continue;
    const name = besideManifest(task.name, file);
    const size = isArchiveName(name) ? await archive.size(name) : undefined;
    outputs.push({
      path: besideManifest(manifest, file),
      file: isArchiveName(name) ? archive.locate(name) : file,
      sha256,
      problem: problemOf(size, bytes, contentEncoding),
    });
  }
  return { outputs, values: task.manifest.values };
}

function problemOf(size: number | undefined, bytes: number, contentEncoding: string | undefined): string | undefined {
  if (size === undefined) return 'is not in the archive any more; put it back, or reject it';
  if (size !== bytes)
    return `has ${size} bytes in the archive instead of ${bytes}; put the former file back, or reject it`;
  return contentEncoding === undefined ? undefined : `is packed (${contentEncoding}); unpack it, and run it as a file`;
}
