import path from 'node:path';
import { Argument } from 'commander';
import { defaultNames } from '../../client/batch/batch-settings';
import { InputInvalidError } from '../../client/errors';
import type { BatchInput } from '../../contract/batch/batch-input';
import { isAttempts, isConcurrency, maxAttempts, maxConcurrency } from '../../contract/batch/batch-input';
import { parseBatchInput } from '../../contract/batch/parse-batch-input';
import { batchIdOf, batchWorkflowId, isTaskKey } from '../../contract/workflow-ids';
import { givenKey } from '../../rows';
import { showValue } from '../../domain/text';
import { wholeNumber } from '../shared-options';

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
  const { archive, names, watch, budget, webhook, retryFailed, allowChanged } = options;
  const concurrency = checkedConcurrency(options.concurrency);
  const attempts = checkedAttempts(options.attempts);
  const input = {
    id: options.id === undefined ? idOfFile(file) : checkedBatchId(options.id),
    source: file,
    ...(concurrency !== undefined && { concurrency }),
    ...(archive !== undefined && { archive }),
    ...(names !== undefined && { names }),
    ...(watch !== undefined && { watch }),
    ...(attempts !== undefined && { attempts }),
    ...(budget !== undefined && { budget }),
    ...(webhook !== undefined && { webhook }),
    ...(retryFailed !== undefined && { retryFailed }),
    ...(allowChanged !== undefined && { allowChanged }),
  };
  const { plan, problems } = parseBatchInput({ ...input, rows: anyRows });
  if (problems !== undefined) {
    const named = problems.map((problem) => problem.replace(/^id is (.*)\.$/, 'id is $1 (--id).'));
    throw new InputInvalidError(named, 'batch');
  }
  return { input, outputs: `${plan.defaults.archive}/${names ?? defaultNames}` };
}

function checkedAttempts(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const attempts = wholeNumber(text);
  if (isAttempts(attempts)) return attempts;
  const problem = `--attempts is ${JSON.stringify(text)}; give a whole number from 1 to ${maxAttempts}.`;
  throw new InputInvalidError([problem], 'batch');
}

function checkedConcurrency(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const rows = wholeNumber(text);
  if (isConcurrency(rows)) return rows;
  const problem = `--concurrency is ${JSON.stringify(text)}; give a whole number from 1 to ${maxConcurrency}.`;
  throw new InputInvalidError([problem], 'batch');
}

/** What Windows, macOS and browsers add to the name of a copy: `orders - Copy (2)`, `orders copy 2`, `Copy of orders`. */
const copyNames = [
  /\s?\(\d{1,3}\)$/,
  /\s(?:- )?(?:copy|kopie|copie|copia|\((?:copy|kopie|copie|copia)\))(?:\s\d{1,3})?$/i,
  /^(?:copy|kopie|copie|copia)(?:\s\(\d{1,3}\))?\s(?:of|von|van|de|di)\s/i,
];

/** The name without what was added, also where it is the copy of a copy. */
function nameOfOriginal(name: string): string {
  const rest = copyNames.reduce((text, form) => text.replace(form, ''), name).trim();
  return rest === name || rest === '' ? rest : nameOfOriginal(rest);
}

/** The default id of a batch: the name of the row file without its extension, made a key. */
function deriveBatchId(rowFile: string): string {
  return givenKey(path.parse(rowFile).name).key;
}

/** The results of a batch, which open beside its row file and have its columns, too. */
const resultsFile = /^(?:.+-)?results\.(?:csv|jsonl)$/i;

/**
 * The default id, unless the file is named as a copy of another, or as the results of a batch: the rows of that batch would
 * be run, and paid, a second time under another id. Throws {@link InputInvalidError}.
 *
 * @internal exported for tests
 */
export function idOfFile(rowFile: string): string {
  const { name, base } = path.parse(rowFile);
  const original = nameOfOriginal(name);
  if (resultsFile.test(`${original}${path.extname(base)}`)) {
    const problem = `${showValue(base)} is named as the results of a batch; as a batch of its own, its rows would be paid beside those of that batch. Correct the rows in the row file, or give the --id of the batch to go on with it.`;
    throw new InputInvalidError([problem], 'batch');
  }
  if (original === name || original === '') return deriveBatchId(rowFile);
  const problem = `${showValue(base)} is named as a copy of another file; as a batch of its own, its rows would be paid beside those of that file. Give --id ${givenKey(original).key} to go on with the batch of that file, or another --id for another batch.`;
  throw new InputInvalidError([problem], 'batch');
}

/** The id of a batch named by `ID` or `batch:ID`. Throws {@link InputInvalidError} when it can be none. */
function checkedBatchId(text: string, more = ''): string {
  const id = batchIdOf(text) ?? text;
  if (isTaskKey(id)) return id;
  const problem = `The batch id ${JSON.stringify(text)} cannot be one; give 1 to 80 letters, digits, dots, underscores or hyphens.${more}`;
  throw new InputInvalidError([problem], 'batch');
}

/** The same for a batch that there is: a person may have given its row file. */
function knownBatchId(text: string): string {
  const derived = deriveBatchId(text);
  const ofFile = isTaskKey(derived)
    ? ` The batch of a row file of this name is "${derived}" unless --id gave another;`
    : '';
  return checkedBatchId(text, `${ofFile} "longhaul batch list" has the ids.`);
}

/** The argument by which commands name a batch; checked before Temporal is asked. */
export function batchIdArgument(): Argument {
  return new Argument('<id>', `the batch’s id, or its workflow id (${batchWorkflowId('ID')})`).argParser(knownBatchId);
}
