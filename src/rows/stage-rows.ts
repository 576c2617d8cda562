import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RowsReference } from '../contract/batch/batch-input';
import { type InputValue, inputDigest } from '../contract/task-input';
import { isUri } from '../core/uri';
import { preparedIndexPath, preparedRowsAt, readPreparedPage } from './prepared-rows';
import { PreparedRowsWriter } from './prepared-rows-writer';

type Inputs = Readonly<Record<string, InputValue>>;

/** Files that are staged at the same time. */
const atOnce = 8;

/** Where the rows of batches and their files are put for the workers; `openStaging` of `longhaul/files` makes one. */
export interface RowStaging {
  /** Keeps a file of this machine under a name that its content gives; returns its `s3:` URI. */
  keepInput(path: string): Promise<string>;
  /** Keeps a file of this machine under a name; returns its `s3:` URI. */
  keepAs(name: string, path: string): Promise<string>;
}

/**
 * Stages the local files of several tasks' inputs, a few at a time, and puts their `s3:` URIs in their place. Throws
 * what {@link RowStaging.keepInput} throws.
 */
export async function stageInputs(staging: Pick<RowStaging, 'keepInput'>, tasks: readonly Inputs[]): Promise<Inputs[]> {
  const files = tasks.flatMap((inputs) =>
    Object.values(inputs).flatMap((value) => (typeof value === 'object' ? [value.file] : [])),
  );
  const queue = new Set(files.filter((file) => !isUri(file)));
  const uris = new Map<string, string>();
  const stageNext = async (): Promise<void> => {
    for (const file of queue) {
      queue.delete(file);
      uris.set(file, await staging.keepInput(file));
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, stageNext));
  } finally {
    // After a failure the others begin no further file.
    queue.clear();
  }
  return tasks.map((inputs) => {
    const staged = Object.entries(inputs).map(([key, value]): [string, InputValue] => {
      return [key, typeof value === 'object' ? { ...value, file: uris.get(value.file) ?? value.file } : value];
    });
    return Object.fromEntries(staged);
  });
}

/**
 * Stages the input files of prepared rows, and the rows with them. A staged row names its files by their content, so
 * its digest changes when a file does. Holds one page.
 *
 * @param rows - prepared into a folder of their own, where this writes as well.
 * @param name - what the object's name begins with: the batch's id.
 */
export async function stageRows(staging: RowStaging, rows: RowsReference, name: string): Promise<RowsReference> {
  const file = path.join(path.dirname(rows.location), 'staged.rows.jsonl');
  const { digest, pages } = await writeStaged(staging, rows, file);
  // By their content, so that rows that a batch reads from are never replaced by others.
  const key = `rows/${name}-${await hashContent(file)}.rows.jsonl`;
  const location = await staging.keepAs(key, file);
  // Last, as in a folder: without an index the rows are not there yet.
  await staging.keepAs(preparedIndexPath(key), preparedIndexPath(file));
  return { location, digest, rows: rows.rows, pages };
}

async function writeStaged(
  staging: RowStaging,
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

/** What the name of a file of prepared rows has of its content. */
export async function hashContent(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex').slice(0, 12);
}
