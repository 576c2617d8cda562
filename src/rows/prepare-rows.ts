import { constants } from 'node:fs';
import { access, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RowsReference } from '../contract/batch/batch-input';
import { type InputValue, inputDigest } from '../contract/task-input';
import { isTaskKey, taskKeyRemedy } from '../contract/workflow-ids';
import {
  checkedElsewhere,
  count,
  flag,
  objectWith,
  optionProblems,
  type OptionRule,
  type OptionRules,
} from '../core/option-rules';
import { errorCode, showValue } from '../core/text';
import { isUri } from '../core/uri';
import { checkRows, type RowSinks, type RowsReport } from './check-rows';
import { preparedIndexPath, preparedRowsAt, PreparedRowsWriter, readPreparedPage } from './prepared-rows';
import type { RowOutcome } from './read-rows';
import { RowFileError } from './row-problem';

export interface PrepareRowsOptions extends RowSinks {
  /** Must lie where the workers may read (`LONGHAUL_INPUT_ROOTS`). Made if it is not there. */
  readonly folder?: string;
  /** Takes the rows and their local files, where workers have no folder of this machine. */
  readonly staging?: RowStaging;
  /** What the file's name begins with: the batch's id. */
  readonly name: string;
  /** Goes on without bad rows. @default false: nothing is written */
  readonly skipBad?: boolean;
}

const callback: OptionRule = { is: (value) => typeof value === 'function', remedy: 'a function' };
const prepareRules: OptionRules<PrepareRowsOptions> = {
  folder: checkedElsewhere,
  staging: objectWith('keepAs', 'openStaging({ place }) of @longhaul/client/files (longhaul/files)'),
  name: checkedElsewhere,
  skipBad: flag,
  onRow: callback,
  onProblem: callback,
  maxProblems: count,
  maxGoodRows: count,
};

export interface PreparedRowFile {
  readonly report: RowsReport;
  /** Null when there are bad rows and `skipBad` is not set, or no good rows. */
  readonly rows: RowsReference | null;
}

/**
 * Checks every row and writes the good ones as `<name>-<hash>.rows.jsonl`, by the hash of their content: a file that a
 * batch reads is never replaced. A `staging` gets the local files of rows, too; nothing is staged for refused rows.
 * @throws RowFileError for outcomes or options that are none, an unreadable row file or a folder that is not writable;
 * what staging throws.
 */
export async function prepareRows(
  outcomes: AsyncIterable<RowOutcome>,
  given: PrepareRowsOptions,
): Promise<PreparedRowFile> {
  const { folder, staging, ...options } = checkedOptions(given);
  if (!isTaskKey(options.name)) {
    const remedy = `give the id of the batch: ${taskKeyRemedy}`;
    throw new RowFileError(`The name of the prepared rows is ${showValue(options.name)}; ${remedy}.`);
  }
  if (staging === undefined) return await writeRows(outcomes, { ...options, folder: checkedFolder(folder) });
  if (folder !== undefined) throw new RowFileError('Both folder and staging are given; give one of them.');
  const temporary = await mkdtemp(path.join(tmpdir(), 'longhaul-rows-'));
  try {
    const { report, rows } = await writeRows(outcomes, { ...options, folder: temporary });
    return { report, rows: rows === null ? null : await stageRows(staging, rows, options.name) };
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

function checkedOptions(options: PrepareRowsOptions | undefined): PrepareRowsOptions {
  if (options === undefined) {
    throw new RowFileError('The options are missing; give { folder, name } or { staging, name }.');
  }
  const problems = optionProblems(options, prepareRules);
  if (problems.length > 0) throw new RowFileError(problems);
  return options;
}

function checkedFolder(folder: string | undefined): string {
  if (typeof folder === 'string' && folder !== '' && !isUri(folder)) return folder;
  const remedy = 'give a folder of this machine, or for a bucket { staging: openStaging() } of @longhaul/client/files';
  throw new RowFileError(`The folder of the prepared rows is ${showValue(folder)}; ${remedy} (longhaul/files).`);
}

async function writeRows(
  outcomes: AsyncIterable<RowOutcome>,
  { folder, name, skipBad = false, onRow, ...sinks }: PrepareRowsOptions & { readonly folder: string },
): Promise<PreparedRowFile> {
  const writer = await inFolder(folder, async () => {
    await mkdir(folder, { recursive: true });
    return await PreparedRowsWriter.create(folder);
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
  const rows = await inFolder(folder, () => writer.finish((hash) => `${name}-${hash}.rows.jsonl`));
  return { report, rows };
}

async function inFolder<Result>(folder: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw new RowFileError(notWritable(folder, error), { cause: error });
  }
}

function notWritable(folder: string, error: unknown): string {
  return `The prepared rows cannot be written to ${JSON.stringify(folder)} (${errorCode(error)}); make the folder writable and give it room, or copy the row file to another one.`;
}

/** Why prepared rows could not be written there; undefined: they can. Writes nothing. */
export async function findFolderProblem(folder: string): Promise<string | undefined> {
  try {
    await access(`${folder}/.`, constants.W_OK).catch(async (error: unknown) => {
      if (errorCode(error) !== 'ENOENT') throw error;
      await access(path.dirname(folder), constants.W_OK);
    });
    return undefined;
  } catch (error) {
    return notWritable(folder, error);
  }
}

type Inputs = Readonly<Record<string, InputValue>>;

const atOnce = 8;

/** Where rows and their files are put for the workers; `openStaging` of `longhaul/files` makes one. */
export interface RowStaging {
  /** Keeps a local file under a name that its content gives; returns its `s3:` URI. */
  keepInput(path: string): Promise<string>;
  /** Keeps a local file under this name; returns its `s3:` URI. */
  keepAs(name: string, path: string): Promise<string>;
}

/** Puts `s3:` URIs in the place of local files. */
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
    // After a failure no further file is begun.
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
 * Page by page. A staged row names its files by their content, so its digest changes when a file does. `location` must
 * be in a folder of its own, where this writes as well; `name` is the batch's id.
 */
export async function stageRows(
  staging: RowStaging,
  { location, pages }: RowsReference,
  name: string,
): Promise<RowsReference> {
  const prepared = preparedRowsAt(location);
  const writer = await PreparedRowsWriter.create(path.dirname(location));
  try {
    for (let page = 0; page < pages; page += 1) {
      const rows = (await readPreparedPage(prepared, page)) ?? [];
      const inputs = rows.map(({ input }) => input.inputs);
      const staged = await stageInputs(staging, inputs);
      for (const [index, row] of rows.entries()) {
        const input = { ...row.input, inputs: staged[index] ?? {} };
        await writer.add({ ...row, input, digest: inputDigest(input) });
      }
    }
  } catch (error) {
    await writer.discard();
    throw error;
  }
  const rows = await writer.finish((hash) => `${name}-${hash}.rows.jsonl`);
  const key = `rows/${path.basename(rows.location)}`;
  const staged = await staging.keepAs(key, rows.location);
  // Last: without an index the rows are not there yet.
  await staging.keepAs(preparedIndexPath(key), preparedIndexPath(rows.location));
  return { ...rows, location: staged };
}
