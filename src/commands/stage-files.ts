import path from 'node:path';
import type { StagingConfig } from '../config/client-config';
import { ConfigError } from '../config/environment';
import type { RowsReference } from '../contract/batch-input';
import { type InputValue, inputDigest } from '../contract/task-input';
import { isUri } from '../domain/uri';
import { preparedIndexPath, preparedRowsAt, PreparedRowsWriter, readPreparedPage } from '../rows';
import { StagingError } from '../storage/errors';
import { hashFile } from '../storage/hash';
import { createArchiveClient } from '../storage/s3/s3-client';
import { Staging } from '../storage/staging';

type Inputs = Readonly<Record<string, InputValue>>;

/** Files that are staged at the same time. */
const atOnce = 8;

/**
 * Stages the local files of several tasks' inputs, a few at a time, and puts their `s3:` URIs in their place. Throws
 * what {@link Staging.keepInput} throws.
 */
export async function stageInputs(staging: Staging, tasks: readonly Inputs[]): Promise<Inputs[]> {
  const queue = new Set(tasks.flatMap((inputs) => Object.values(inputs).flatMap(listLocalFile)));
  const uris = new Map<string, string>();
  const stageNext = async (): Promise<void> => {
    for (const file of queue) {
      queue.delete(file);
      uris.set(file, await staging.keepInput(file));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, stageNext));
  return tasks.map((inputs) => {
    const staged = Object.entries(inputs).map(([key, value]): [string, InputValue] => {
      return [key, typeof value === 'object' ? { ...value, file: uris.get(value.file) ?? value.file } : value];
    });
    return Object.fromEntries(staged);
  });
}

function listLocalFile(value: InputValue): string[] {
  return typeof value === 'object' && !isUri(value.file) ? [value.file] : [];
}

/**
 * Stages the input files of prepared rows, and the rows with them. A staged row names its files by their content, so
 * its digest changes when a file does. Holds one page.
 *
 * @param rows - prepared into a folder of their own, where this writes as well.
 * @param name - what the object's name begins with: the batch's id.
 */
export async function stageRows(staging: Staging, rows: RowsReference, name: string): Promise<RowsReference> {
  const file = path.join(path.dirname(rows.location), 'staged.rows.jsonl');
  const { digest, pages } = await writeStaged(staging, rows, file);
  // By their content, so that rows that a batch reads from are never replaced by others.
  const { sha256 } = await hashFile(file);
  const key = `rows/${name}-${sha256.slice(0, 12)}.rows.jsonl`;
  const location = await staging.keepAs(key, file);
  // Last, as in a folder: without an index the rows are not there yet.
  await staging.keepAs(preparedIndexPath(key), preparedIndexPath(file));
  return { location, digest, rows: rows.rows, pages };
}

async function writeStaged(
  staging: Staging,
  { location, pages }: RowsReference,
  file: string,
): ReturnType<PreparedRowsWriter['finish']> {
  const prepared = preparedRowsAt(location);
  const writer = await PreparedRowsWriter.create(file);
  try {
    for (let page = 0; page < pages; page += 1) {
      const rows = (await readPreparedPage(prepared, page)) ?? [];
      const staged = await stageInputs(
        staging,
        rows.map(({ input }) => input.inputs),
      );
      for (const [index, row] of rows.entries()) {
        const input = { ...row.input, inputs: staged[index] ?? {} };
        await writer.add({ ...row, input, digest: inputDigest(input) });
      }
    }
  } catch (error) {
    await writer.discard();
    throw error;
  }
  return await writer.finish();
}

/** Runs a function with the opened staging, and closes it afterwards. Throws ConfigError where it fails. */
export async function withStaging<Result>(
  { isPathStyle, ...place }: StagingConfig,
  use: (staging: Staging) => Promise<Result>,
): Promise<Result> {
  const client = createArchiveClient(isPathStyle);
  try {
    return await use(new Staging({ client, ...place }));
  } catch (error) {
    if (error instanceof StagingError) throw new ConfigError([`LONGHAUL_STAGING: ${error.message}`]);
    throw error;
  } finally {
    client.destroy();
  }
}
