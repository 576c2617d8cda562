/**
 * Contents as inputs and outputs as streams, for a backend with access to the bucket or folder of its workers. A module
 * of its own: `longhaul` itself needs no storage.
 * @example
 * const longhaul = await Longhaul.connect({ staging: openStaging(), archive: openArchive() });
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { checkOptions, InputInvalidError } from './client/errors';
import { abortSignal, type OptionRules } from './core/option-rules';
import { isUri } from './core/uri';
import type {
  InputStaging,
  OutputArchive,
  OutputLinkOptions,
  OutputReadOptions,
  TaskOutput,
} from './client/task/task-files';
import { readAwsSettings } from './config/aws-settings';
import { type FilePlace, loadArchiveOf, loadStagingOf } from './config/client-config';
import { type ArchivedTask, findArchivedTask, namesOfPath, usualManifestNames } from './archive/archived-task';
import { openArchivedBatch as openBatchIn } from './archive/archived-batch';
import { readCreates } from './archive/archive-reader';
import { ResultsError } from './archive/errors';
import type { FormerBatch, RowStaging } from './rows';
import type { Archive } from './storage/archive/archive';
import { openArchive as openArchiveAt } from './storage/archive/open-archive';
import { ArchiveError } from './storage/errors';
import type { Measure } from './storage/hash';
import { lookUpContentType } from './storage/local-file';
import { createArchiveClient } from './storage/s3/s3-client';
import { Staging } from './storage/staging';

export type { FilePlace } from './config/client-config';
export type {
  ArchivedResult,
  ContentInput,
  InputStaging,
  OutputArchive,
  OutputLinkOptions,
  OutputReadOptions,
  TaskOutput,
} from './client/task/task-files';
export { ConfigError } from './config/environment';
export { ResultsError } from './archive/errors';
export { ArchiveError, StagingError } from './storage/errors';

/** For contents and the rows of batches; `close` it when no start uses it any longer. */
export interface OpenStaging extends InputStaging, RowStaging {
  close(): void;
}

/**
 * The bucket of `LONGHAUL_STAGING`, or the given place, with AWS's own credentials. Nothing is asked of it yet. Throws
 * `ConfigError` when there is none; a start that stages throws `StagingError`.
 */
export function openStaging(place: FilePlace = {}): OpenStaging {
  const { isPathStyle, ...bucket } = loadStagingOf(place);
  const client = createArchiveClient(isPathStyle, readAwsSettings(place.env));
  const staging = new Staging({ client, ...bucket });
  return {
    keep: (content, name, signal) => staging.keepContent(content, name, signal),
    keepInput: (path) => staging.keepInput(resolve(path)),
    keepAs: (name, path) => staging.keepAs(name, resolve(path)),
    close: () => {
      client.destroy();
    },
  };
}

/**
 * The folder or bucket of `LONGHAUL_ARCHIVE`, or the given place. Nothing is asked of it yet. Throws `ConfigError` when
 * there is none; its methods throw `ArchiveError` and `ResultsError`.
 */
export function openArchive(place: FilePlace = {}): OutputArchive {
  const archive = openArchiveAt(loadArchiveOf(place), readAwsSettings(place.env));
  return {
    outputs: async ({ workflowId, requestId, manifest }) => {
      if (requestId === null) return [];
      const named = manifest === null ? [] : namesOfPath(archive, manifest);
      const names = [...named, ...usualManifestNames(workflowId, requestId)];
      const task = await findArchivedTask(archive, names, requestId, workflowId);
      if (task !== undefined) return listOutputs(archive, task);
      if (manifest === null) return [];
      const given = place.place === undefined ? 'LONGHAUL_ARCHIVE' : 'the place that openArchive was given';
      await requireArchive(archive, given);
      const words = `The archive ${archive.location} does not have ${manifest} of ${workflowId}. Is ${given} that of its worker?`;
      throw new ResultsError('missing', words);
    },
    outputsOf: async (workflowId) => {
      for await (const { requestId = null } of readCreates(archive, workflowId)) {
        if (requestId === null) continue;
        const names = usualManifestNames(workflowId, requestId);
        const task = await findArchivedTask(archive, names, requestId, workflowId);
        // Of the newest create alone, and only of a success: what failed has no outputs either while it is known.
        const isWhole = task?.manifest.complete === true && task.manifest.status === 'Success';
        return isWhole ? listOutputs(archive, task) : undefined;
      }
      return undefined;
    },
  };
}

/**
 * The outputs of a batch as rows of another one, for `outputsOf` of `longhaul/row-files`. Throws as {@link openArchive}
 * and its methods, and `ResultsError` where the archive has no such batch.
 */
export async function openArchivedBatch(id: string, place: FilePlace = {}): Promise<FormerBatch> {
  return await openBatchIn(openArchiveAt(loadArchiveOf(place), readAwsSettings(place.env)), id);
}

/** A folder without files is no archive: it is another folder, or its disk is not mounted. */
async function requireArchive(archive: Archive, given: string): Promise<void> {
  const { location } = archive;
  if (isUri(location)) return;
  for await (const _ of archive.list('')) return;
  const problem = existsSync(location) ? 'is empty' : 'does not exist';
  const words = `The archive ${location} ${problem}. Is its disk mounted, and is ${given} right?`;
  throw new ArchiveError('ARCHIVE_UNUSABLE', words);
}

function listOutputs(archive: Archive, { name: manifestName, manifest }: ArchivedTask): readonly TaskOutput[] {
  const folder = dirname(manifestName);
  return manifest.outputs.flatMap(({ file, bytes, sha256 }, index) => {
    if (file === null || bytes === null || sha256 === null) return [];
    const name = folder === '.' ? file : `${folder}/${file}`;
    const known = { index, name: file, contentType: lookUpContentType(file), bytes, sha256 };
    return [
      {
        ...known,
        path: archive.locate(name),
        read: async (options = {}) => {
          checkOptions(options, readRules);
          return await readOutput(archive, name, known, options.signal);
        },
        link: async (options: Partial<OutputLinkOptions> = {}) => {
          checkOptions(options, linkRules);
          const { expiresInMs } = options;
          if (expiresInMs !== undefined) return await archive.link(name, Math.floor(expiresInMs / 1_000));
          const problem = `expiresInMs is missing; give ${linkRules.expiresInMs.remedy}.`;
          throw new InputInvalidError([problem], 'arguments');
        },
      },
    ];
  });
}

const readRules: OptionRules<OutputReadOptions> = { signal: abortSignal };

const maxLinkMs = 7 * 24 * 3_600_000;
const linkRules: OptionRules<OutputLinkOptions> = {
  expiresInMs: {
    is: (value) => typeof value === 'number' && value >= 1_000 && value <= maxLinkMs,
    remedy: `from 1000 to ${maxLinkMs} milliseconds (seven days)`,
  },
};

async function readOutput(
  archive: Archive,
  name: string,
  { bytes, sha256 }: Measure,
  signal: AbortSignal | undefined,
): Promise<Readable> {
  const opened = await archive.open(name, signal);
  if (opened === undefined) {
    const words = `The archive ${archive.location} does not have ${name} any longer.`;
    throw new ResultsError('missing', words);
  }
  const where = archive.locate(name);
  const verified = async function* (): AsyncGenerator<Buffer, void, undefined> {
    const hash = createHash('sha256');
    let read = 0;
    for await (const chunk of opened.content as AsyncIterable<Buffer>) {
      hash.update(chunk);
      read += chunk.length;
      yield chunk;
    }
    if (read === bytes && hash.digest('hex') === sha256) return;
    throw new ResultsError('damaged', `${where} is not what was archived: its bytes have changed since.`);
  };
  return Readable.from(verified(), { objectMode: false });
}
