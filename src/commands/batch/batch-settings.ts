import path from 'node:path';
import { Argument } from 'commander';
import { defaultNames } from '../../client/batch/batch-settings';
import { InputInvalidError } from '../../client/errors';
import type { BatchInput } from '../../contract/batch/batch-input';
import { maxAttempts, maxConcurrency } from '../../contract/batch/batch-input';
import { formatOutputSource } from '../../contract/batch/batch-repairs';
import { parseBatchInput } from '../../contract/batch/parse-batch-input';
import { batchIdOf, batchWorkflowId, isTaskKey } from '../../contract/workflow-ids';
import { fixedPart, givenKey } from '../../rows';
import { showValue } from '../../core/text';
import { readCount } from '../shared-options';

export interface BatchSettingOptions {
  readonly from?: string;
  readonly picks?: string;
  readonly app?: string;
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

export interface BatchSettings {
  readonly input: Omit<BatchInput, 'rows' | 'badRows'>;
  /** The batch whose outputs are the rows. */
  readonly from: string | undefined;
  /** Folder in the archive for rows that name none. */
  readonly outputs: string;
}

/** Stands in for rows that are not prepared yet, in the check of the input. */
const anyRows: BatchInput['rows'] = { location: 'rows', digest: 'rows', rows: 0, pages: 0 };

/** Checks as the workflow does, before the row file is opened. Throws {@link InputInvalidError} with every problem. */
export function readBatchSettings(files: readonly string[], options: BatchSettingOptions, cwd: string): BatchSettings {
  const countOf = (option: string, text: string | undefined, most: number): number | undefined =>
    text === undefined ? undefined : readCount(option, text, most);
  const from = readFrom(files, options);
  const { archive, names, watch, budget, webhook, retryFailed, allowChanged, allowNew } = options;
  const input = {
    id: options.id === undefined ? (from?.id ?? idOfFiles(files, cwd)) : checkedBatchId(options.id),
    source: from?.source ?? (files.length > 1 ? `${files[0] ?? ''} and ${files.length - 1} more` : files[0]),
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
  if (from?.batchId === input.id) {
    throw new InputInvalidError(
      [`--id is ${showValue(input.id)}, the batch of --from; give this batch another id.`],
      'batch',
    );
  }
  const { plan, problems } = parseBatchInput({ ...input, rows: anyRows });
  if (problems !== undefined) {
    const named = problems.map((problem) => problem.replace(/^id is (.*)\.$/, 'id is $1 (--id).'));
    throw new InputInvalidError(named, 'batch');
  }
  return { input, from: from?.batchId, outputs: `${plan.defaults.archive}/${names ?? defaultNames}` };
}

/** What `--from` says; undefined without it. Throws {@link InputInvalidError}. */
function readFrom(
  files: readonly string[],
  { from, picks, app }: BatchSettingOptions,
): { readonly batchId: string; readonly id: string; readonly source: string } | undefined {
  const refuse = (problem: string): InputInvalidError => new InputInvalidError([problem], 'batch');
  if (from === undefined) {
    if (picks !== undefined)
      throw refuse('--picks is for the outputs of a batch; give the id of that batch by --from.');
    if (files.length === 0) throw refuse('There are no rows; give a row file or a folder, or a batch by --from.');
    return undefined;
  }
  if (files.length > 0) throw refuse(`--from is instead of a row file; leave out ${showValue(files[0])}, or --from.`);
  if (app === undefined) throw refuse('--from is there without an app; give the app of the outputs by --app.');
  const batchId = checkedBatchId(from);
  return { batchId, id: idOfOutputs(batchId, app), source: formatOutputSource(batchId) };
}

function idOfOutputs(from: string, app: string): string {
  return givenKey(`${from}-app-${app}`).key;
}

/** Undefined where neither the files nor the options name one. Throws {@link InputInvalidError}. */
export function wantedId(
  files: readonly string[],
  { id, from, app }: BatchSettingOptions,
  cwd: string,
): string | undefined {
  if (id !== undefined) return checkedBatchId(id);
  if (from !== undefined) return app === undefined ? undefined : idOfOutputs(checkedBatchId(from), app);
  return files.length === 0 ? undefined : idOfFiles(files, cwd);
}

/** Results of a batch: they have the columns of a row file, too. */
const resultsFile = /^(?:.+-)?results\.(?:csv|jsonl)$/i;

/**
 * The name of the row file or folder, as a key. Throws {@link InputInvalidError}; also for results of a batch, whose
 * rows would be paid a second time. @internal exported for tests
 */
export function idOfFiles(rowFiles: readonly string[], cwd: string): string {
  if (rowFiles.length > 1) throw new InputInvalidError(['There are several files; give the batch its --id.'], 'batch');
  // Of a pattern such as `photos/*.jpg`: the folder.
  const { base, name } = path.parse(path.resolve(cwd, fixedPart(rowFiles[0] ?? '')));
  if (!resultsFile.test(base)) return givenKey(name).key;
  const problem = `${showValue(base)} is named as the results of a batch; as a batch of its own, its rows would be paid beside those of that batch. Correct the rows in the row file, or give the --id of the batch to go on with it.`;
  throw new InputInvalidError([problem], 'batch');
}

/** An id, or `batch:ID`. Throws {@link InputInvalidError}. */
function checkedBatchId(text: string, remedy = ''): string {
  const id = batchIdOf(text) ?? text;
  if (isTaskKey(id)) return id;
  const problem = `The batch id ${JSON.stringify(text)} cannot be one; give 1 to 80 letters, digits, dots, underscores or hyphens.${remedy}`;
  throw new InputInvalidError([problem], 'batch');
}

/** Checked before Temporal is asked. */
export function batchIdArgument(): Argument {
  return new Argument('<id>', `the batch’s id, or its workflow id (${batchWorkflowId('ID')})`).argParser((text) =>
    checkedBatchId(text, ' "longhaul batch list" has the ids.'),
  );
}
