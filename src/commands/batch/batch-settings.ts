import { InputInvalidError } from '../../client/errors';
import { type BatchInput, isConcurrency, maxConcurrency, parseBatchInput } from '../../contract/batch-input';
import { checkedBatchId } from './batch-id';
import { batchIdOfFile } from './prepared-rows-place';
import { wholeNumber } from '../shared-options';

/** What is said of the batch itself, and not of its rows. */
export interface BatchSettingOptions {
  readonly id?: string;
  readonly concurrency?: string;
  readonly archive?: string;
  readonly names?: string;
  readonly watch?: 'timer' | 'activity';
  readonly retryFailed?: true;
  readonly allowChanged?: true;
}

/** A batch but for its rows. */
export interface BatchSettings {
  readonly input: Omit<BatchInput, 'rows' | 'badRows'>;
  /** Where in the archive a row's outputs go that names no folder itself. */
  readonly outputs: string;
}

/** How archived files are named when nobody says. */
const defaultNames = '{requestId}/{index}{ext}';
/** The check of a batch's input asks for rows, and there are none yet. */
const anyRows: BatchInput['rows'] = { location: 'rows', digest: 'rows', rows: 0, pages: 0 };

/**
 * Reads what is said of a batch, and checks it as its workflow will: before the row file is opened.
 *
 * Throws {@link InputInvalidError} with every problem.
 */
export function readBatchSettings(file: string, options: BatchSettingOptions): BatchSettings {
  const { archive, names, watch, retryFailed, allowChanged } = options;
  const concurrency = checkedConcurrency(options.concurrency);
  const input = {
    id: checkedBatchId(options.id ?? batchIdOfFile(file)),
    source: file,
    ...(concurrency !== undefined && { concurrency }),
    ...(archive !== undefined && { archive }),
    ...(names !== undefined && { names }),
    ...(watch !== undefined && { watch }),
    ...(retryFailed !== undefined && { retryFailed }),
    ...(allowChanged !== undefined && { allowChanged }),
  };
  const { plan, problems } = parseBatchInput({ ...input, rows: anyRows });
  if (problems !== undefined) throw new InputInvalidError(problems, 'batch');
  return { input, outputs: `${plan.defaults.archive}/${names ?? defaultNames}` };
}

function checkedConcurrency(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rows = wholeNumber(text);
  if (isConcurrency(rows)) return rows;
  const problem = `--concurrency is ${JSON.stringify(text)}; give a whole number from 1 to ${maxConcurrency}.`;
  throw new InputInvalidError([problem], 'batch');
}
