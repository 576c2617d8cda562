import { ApplicationFailure } from '@temporalio/common';
import type { RowsReference } from '../../contract/batch/batch-input';
import { failureTypes } from '../../contract/failure-types';
import { showValue } from '../../core/text';
import { isUri } from '../../core/uri';
import {
  preparedIndexPath,
  type ByteRanges,
  type PreparedRow,
  type PreparedRows,
  PreparedRowsError,
  readBytes,
  readPreparedPage,
  RowsDigest,
} from '../../rows';
import { SourceError } from '../../storage/errors';
import { openFolderSource } from '../../storage/input/folder-source';
import type { SourceRules } from '../../storage/input/input-source';
import { openS3Ranges } from '../../storage/input/s3-source';

export interface PreparedPage {
  readonly page: number;
  readonly rows: readonly PreparedRow[];
}

/** Reads a batch's rows page by page. Fails as `InputUnusable` when they are not those of its start. */
export class BatchRows {
  readonly #reference: RowsReference;
  readonly #files: PreparedRows;
  #isPatient = false;

  private constructor(reference: RowsReference, files: PreparedRows) {
    this.#reference = reference;
    this.#files = files;
  }

  /** The rows could be read before: a fault may pass, and must not end a batch whose rows run. */
  static async reopen(reference: RowsReference, rules: SourceRules): Promise<BatchRows> {
    try {
      const rows = await BatchRows.open(reference, rules);
      rows.#isPatient = true;
      return rows;
    } catch (error) {
      throw passing(error);
    }
  }

  /** Throws SourceError when file or index is missing or not allowed; objects are checked by the first page. */
  static async open(reference: RowsReference, rules: SourceRules): Promise<BatchRows> {
    const { location } = reference;
    if (isUri(location)) {
      const index = openS3Ranges(preparedIndexPath(location), rules);
      return new BatchRows(reference, { rows: openS3Ranges(location, rules), index });
    }
    const files = { rows: folderRanges(location, rules), index: folderRanges(preparedIndexPath(location), rules) };
    try {
      for (const ranges of Object.values(files)) await ranges.read(0, 0);
    } catch (error) {
      throw error instanceof SourceError && error.code === 'OUTSIDE_INPUT_ROOTS' ? unstaged(error) : error;
    }
    return new BatchRows(reference, files);
  }

  async page(page: number): Promise<readonly PreparedRow[]> {
    const rows = await this.#read(page);
    if (rows === undefined) throw unusable(this.#reference, `it has no page ${page + 1} of ${this.#reference.pages}`);
    return rows;
  }

  /** Every page in order; fails at the end when they are not the rows that the batch was started with. */
  async *all(): AsyncGenerator<PreparedPage, void, undefined> {
    const { digest, rows, pages } = this.#reference;
    const seen = new RowsDigest();
    let count = 0;
    for (let page = 0; page < pages; page += 1) {
      const read = await this.page(page);
      for (const row of read) seen.add(row);
      seen.endPage();
      count += read.length;
      yield { page, rows: read };
    }
    const isMore = pages > 0 && (await this.#read(pages)) !== undefined;
    if (count !== rows || isMore)
      throw unusable(this.#reference, `it has ${isMore ? 'more' : count} rows, not ${rows}`);
    if (seen.hex() !== digest)
      throw unusable(this.#reference, 'its rows are others than those the batch was started with');
  }

  async #read(page: number): Promise<readonly PreparedRow[] | undefined> {
    try {
      return await readPreparedPage(this.#files, page);
    } catch (error) {
      if (error instanceof PreparedRowsError) throw unusable(this.#reference, error.problem);
      throw this.#isPatient ? passing(error) : error;
    }
  }
}

/** Checks the rules at each reading: the file may be replaced between two. */
function folderRanges(path: string, rules: SourceRules): ByteRanges {
  return {
    read: async (start, end) => {
      const opened = await openFolderSource(path, rules);
      try {
        return await readBytes(opened.file, start, end);
      } finally {
        await opened.release();
      }
    },
  };
}

function unstaged({ code, source }: SourceError): SourceError {
  const problem = 'has the prepared rows, and is outside the folders that this worker may read';
  const remedy =
    'run the batch again with LONGHAUL_STAGING set as in earlier runs; without a staging, start it in a folder of LONGHAUL_INPUT_ROOTS of the worker';
  return new SourceError(code, { source, problem, remedy });
}

function passing(error: unknown): unknown {
  if (!(error instanceof SourceError)) return error;
  const words = `${error.message}. The batch goes on once its rows can be read; or stop it, and run it again with its row file`;
  return ApplicationFailure.retryable(words, failureTypes.InputUnusable, { file: error.source });
}

function unusable({ location }: RowsReference, problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `The prepared rows ${showValue(location)} cannot be used: ${problem}. Run the batch again with its row file.`,
    failureTypes.InputUnusable,
    { file: location },
  );
}
