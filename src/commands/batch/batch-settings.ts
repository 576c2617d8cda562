import path from 'node:path';
import { Argument } from 'commander';
import { defaultNames } from '../../client/batch/batch-settings';
import { InputInvalidError } from '../../client/errors';
import type { BatchInput } from '../../contract/batch/batch-input';
import { maxAttempts, maxConcurrency } from '../../contract/batch/batch-input';
import { parseBatchInput } from '../../contract/batch/parse-batch-input';
import { batchIdOf, batchWorkflowId, isTaskKey } from '../../contract/workflow-ids';
import { givenKey } from '../../rows';
import { showValue } from '../../core/text';
import { readCount } from '../shared-options';

/** The options of the batch itself, without those of its rows. */
export interface BatchSettingOptions {
  readonly id?: string;
  readonly concurrency?: string;
  readonly archive?: string;
  readonly names?: string;
  readonly watch?: 'timer' | 'activity';
  readonly attempts?: string;
  readonly budget?: string;
  readonly webhook?: string;
  readonly retryFailed?: true;
  readonly allowChanged?: true;
  readonly allowNew?: true;
}

/** A batch but for its rows. */
export interface BatchSettings {
  readonly input: Omit<BatchInput, 'rows' | 'badRows'>;
  /** Where in the archive a row's outputs go that names no folder itself. */
  readonly outputs: string;
}

/** Stands in for the rows, which are not prepared yet, in the check of the input. */
const anyRows: BatchInput['rows'] = { location: 'rows', digest: 'rows', rows: 0, pages: 0 };

/**
 * Reads the options of a batch, and checks them as its workflow does, before the row file is opened.
 *
 * Throws {@link InputInvalidError} with every problem.
 */
export function readBatchSettings(file: string, options: BatchSettingOptions): BatchSettings {
  const countOf = (option: string, text: string | undefined, most: number): number | undefined =>
    text === undefined ? undefined : readCount(option, text, most);
  const { archive, names, watch, budget, webhook, retryFailed, allowChanged, allowNew } = options;
  const input = {
    id: options.id === undefined ? idOfFile(file) : checkedBatchId(options.id),
    source: file,
    concurrency: countOf('--concurrency', options.concurrency, maxConcurrency),
    archive,
    names,
    watch,
    attempts: countOf('--attempts', options.attempts, maxAttempts),
    budget,
    webhook,
    retryFailed,
    allowChanged,
    allowNew,
  };
  const { plan, problems } = parseBatchInput({ ...input, rows: anyRows });
  if (problems !== undefined) {
    const named = problems.map((problem) => problem.replace(/^id is (.*)\.$/, 'id is $1 (--id).'));
    throw new InputInvalidError(named, 'batch');
  }
  return { input, outputs: `${plan.defaults.archive}/${names ?? defaultNames}` };
}

/** The results of a batch, which open beside its row file and have its columns, too. */
const resultsFile = /^(?:.+-)?results\.(?:csv|jsonl)$/i;

/**
 * The default id of a batch: the name of its row file, made a key. Not of a file that is named as the results of a batch: its
 * rows would be run, and paid, a second time under another id. Throws {@link InputInvalidError}.
 *
 * @internal exported for tests
 */
export function idOfFile(rowFile: string): string {
  const { base, name } = path.parse(rowFile);
  if (!resultsFile.test(base)) return givenKey(name).key;
  const problem = `${showValue(base)} is named as the results of a batch; as a batch of its own, its rows would be paid beside those of that batch. Correct the rows in the row file, or give the --id of the batch to go on with it.`;
  throw new InputInvalidError([problem], 'batch');
}

/** The id of a batch named by `ID` or `batch:ID`. Throws {@link InputInvalidError} when it can be none. */
function checkedBatchId(text: string, remedy = ''): string {
  const id = batchIdOf(text) ?? text;
  if (isTaskKey(id)) return id;
  const problem = `The batch id ${JSON.stringify(text)} cannot be one; give 1 to 80 letters, digits, dots, underscores or hyphens.${remedy}`;
  throw new InputInvalidError([problem], 'batch');
}

/** The argument by which commands name a batch; checked before Temporal is asked. */
export function batchIdArgument(): Argument {
  return new Argument('<id>', `the batch’s id, or its workflow id (${batchWorkflowId('ID')})`).argParser((text) =>
    checkedBatchId(text, ' "longhaul batch list" has the ids.'),
  );
}
