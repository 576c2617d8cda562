import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { RowsReference } from '../contract/batch-input';
import { errorCode } from '../domain/text';
import { checkRows, type RowSinks, type RowsReport } from './check-rows';
import { preparedIndexPath, PreparedRowsWriter } from './prepared-rows';
import type { RowOutcome } from './read-rows';
import { RowFileError } from './row-problem';

/** Where prepared rows go, and whether bad rows are left out. */
export interface PrepareRowsOptions extends RowSinks {
  /** Must lie where the workers may read (`LONGHAUL_INPUT_ROOTS`). It is made if it is not there. */
  readonly folder: string;
  /** What the file's name begins with: the batch's id. */
  readonly name: string;
  /** With bad rows: go on without them. @default false: nothing is written */
  readonly skipBad?: boolean;
}

/** The report of the check, and the file of the good rows. */
export interface PreparedRowFile {
  readonly report: RowsReport;
  /** Null when there are bad rows and `skipBad` is not set, or no good rows. */
  readonly rows: RowsReference | null;
}

/**
 * Checks every row and writes the good ones for the workers, as `<name>-<hash>.rows.jsonl`. The hash is that of the
 * file's content, so a file that a batch reads from is never replaced by another one; the same rows are the same file.
 *
 * @throws RowFileError when the row file cannot be read or the folder not be written.
 */
export async function prepareRows(
  outcomes: AsyncIterable<RowOutcome>,
  { folder, name, skipBad = false, onRow, ...sinks }: PrepareRowsOptions,
): Promise<PreparedRowFile> {
  const draft = path.join(folder, `${name}-${randomUUID()}.rows.jsonl`);
  const writer = await inFolder(folder, async () => {
    await mkdir(folder, { recursive: true });
    return await PreparedRowsWriter.create(draft);
  });
  let report: RowsReport;
  try {
    report = await checkRows(outcomes, {
      ...sinks,
      onRow: async (row) => {
        await inFolder(folder, () => writer.add(row));
        await onRow?.(row);
      },
    });
  } catch (error) {
    await writer.discard();
    throw error;
  }
  if (report.goodRows === 0 || (report.badRows > 0 && !skipBad)) {
    await writer.discard();
    return { report, rows: null };
  }
  return await inFolder(folder, async () => {
    const { digest, rows, pages } = await writer.finish();
    const location = path.join(folder, `${name}-${await hashContent(draft)}.rows.jsonl`);
    await keepUnder(location, draft);
    return { report, rows: { location, digest, rows, pages } };
  });
}

/** The index comes last: a file without an index is incomplete. */
async function keepUnder(location: string, draft: string): Promise<void> {
  if (await isThere(preparedIndexPath(location))) {
    await Promise.all([rm(draft), rm(preparedIndexPath(draft))]);
    return;
  }
  await rename(draft, location);
  await rename(preparedIndexPath(draft), preparedIndexPath(location));
}

async function isThere(file: string): Promise<boolean> {
  return await stat(file).then(
    () => true,
    () => false,
  );
}

const hashLength = 12;

async function hashContent(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex').slice(0, hashLength);
}

async function inFolder<Result>(folder: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    const problem = `The prepared rows cannot be written to ${JSON.stringify(folder)} (${errorCode(error)}); make the folder writable and give it room, or copy the row file to another one.`;
    throw new RowFileError([problem], { cause: error });
  }
}
