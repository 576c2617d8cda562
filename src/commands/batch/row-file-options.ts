import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { InputInvalidError } from '../../client/errors';
import { parseTaskInput } from '../../contract/parse-task-input';
import type { InputValue, ResourceForm, UncertainPolicy } from '../../contract/task-input';
import type { InputFromText } from '../../core/input-values';
import { parseOutputNameTemplate } from '../../core/output-name-template';
import { errorCode, formatCountOf, showValue } from '../../core/text';
import { isUri } from '../../core/uri';
import {
  appColumn,
  type DecimalSign,
  type EmptyCells,
  type FixedField,
  type FormerBatch,
  outputsOf,
  parseRowTemplate,
  parseVary,
  type RandomSeeds,
  readRows,
  type RowFile,
  rowFileAt,
  type RowFileForm,
  type RowOptions,
  type RowOutcome,
  type RowsReport,
  type RowTemplate,
  inspectInputFile,
  numberRemedy,
} from '../../rows';
import { fit } from '../terminal';
import { type InputOptions, readApp, readForms, readInputs } from '../shared-options';

export interface RowFileOptions extends InputOptions {
  readonly from?: string;
  readonly picks?: string;
  readonly app?: string;
  readonly account?: string;
  readonly onUncertain?: UncertainPolicy;
  readonly refuseTuning?: true;
  readonly template?: string;
  readonly keyColumn?: string;
  readonly textColumn?: readonly string[];
  readonly ignoreColumn?: readonly string[];
  readonly empty?: EmptyCells;
  readonly format?: RowFileForm['format'];
  readonly each?: string;
  readonly captions?: string;
  readonly vary?: readonly string[];
  readonly yes?: true;
  readonly recursive?: true;
  readonly sheet?: string;
  readonly rows?: string;
  readonly encoding?: string;
  readonly delimiter?: ',' | ';' | '|' | 'tab';
  readonly decimal?: DecimalSign;
  readonly names?: string;
  /** What the keys of several files start from. @default where the command runs */
  readonly folder?: string;
}

export interface RowFileToRead {
  readonly file: RowFile;
  readonly options: RowOptions;
}

/**
 * Does not open the row file. Throws `InputInvalidError` and `RowFileError`.
 * @param batch - of `--from`: its outputs are the rows
 */
export async function readRowFileOptions(
  rowFiles: readonly string[],
  options: RowFileOptions,
  cwd: string,
  batchId: string,
  onNotice?: (message: string) => void,
  batch?: FormerBatch,
): Promise<RowFileToRead> {
  const { format, encoding, recursive } = options;
  const paths = rowFiles.map((rowFile) => path.resolve(cwd, rowFile));
  const { app, account, onUncertain, delimiter, names } = options;
  const forms = readForms(options.as ?? []);
  const { each, columnInputs, input }: OutputInputs = batch === undefined ? options : readOutputInputs(options);
  const constants = readInputs({ input: input ?? [], string: options.string ?? [] }, cwd);
  const formed = Object.entries(constants).map(([key, value]): [string, InputValue] => {
    const form = forms[key];
    return [key, typeof value === 'object' && form !== undefined ? { ...value, as: form } : value];
  });
  const fixed: Record<string, FixedField> = {};
  if (account !== undefined) fixed['account'] = { value: account, option: '--account' };
  if (onUncertain !== undefined) fixed['onUncertain'] = { value: onUncertain, option: '--on-uncertain' };
  if (options.refuseTuning) fixed['tuning'] = { value: undefined, option: '--refuse-tuning' };
  const nameTemplate = names === undefined ? undefined : parseOutputNameTemplate(names);
  if (nameTemplate?.problems !== undefined) throw refused(...nameTemplate.problems);
  return {
    file:
      batch === undefined
        ? rowFileAt(paths, { format, encoding, recursive, folder: options.folder ?? cwd, onNotice })
        : outputsOf(batch, picksAt(options, cwd, onNotice), cwd),
    options: {
      batchId,
      // Without undefined fields: it is merged with what a row says.
      common: {
        ...(app !== undefined && { webAppId: readApp(app) }),
        ...(account !== undefined && { account }),
      },
      fixed,
      constants: Object.fromEntries(formed),
      forms,
      template: options.template === undefined ? undefined : await readTemplate(path.resolve(cwd, options.template)),
      keyColumn: options.keyColumn,
      textColumns: options.textColumn,
      ignoreColumns: options.ignoreColumn,
      emptyCells: options.empty,
      delimiter: delimiter === 'tab' ? '\t' : delimiter,
      decimal: options.decimal,
      keepColumns: nameTemplate?.template.columns,
      each,
      columnInputs,
      captions: options.captions,
      vary: readVary(options, forms, cwd),
      sheet: options.sheet,
      rows: options.rows,
    },
  };
}

function readVary(
  { vary, textColumn = [] }: RowFileOptions,
  forms: Readonly<Record<string, ResourceForm>>,
  cwd: string,
): RowOptions['vary'] {
  if (vary === undefined) return undefined;
  const read = new Map<string, readonly InputValue[] | RandomSeeds>();
  for (const text of vary) {
    const [input, values] = parseVary(text, (name) => textColumn.includes(name));
    if (read.has(input)) throw refused(`--vary gives ${showValue(input)} twice; give all of its values in one.`);
    read.set(input, 'random' in values ? values : values.map((value) => fileIn(cwd, value, forms[input])));
  }
  return Object.fromEntries(read);
}

/** A file of the command line starts from where the command runs. */
function fileIn(cwd: string, value: InputFromText, as: ResourceForm | undefined): InputValue {
  if (typeof value !== 'object') return value;
  const file = value.file.trim() === '' || isUri(value.file) ? value.file : path.resolve(cwd, value.file);
  return as === undefined ? { file } : { file, as };
}

function picksAt(
  { picks, format, encoding, recursive }: RowFileOptions,
  cwd: string,
  onNotice?: (message: string) => void,
): RowFile | undefined {
  if (recursive) throw refused('--recursive is for a folder; leave it out beside --from.');
  if (picks !== undefined) return rowFileAt(path.resolve(cwd, picks), { format, encoding, onNotice });
  if ((format ?? encoding) === undefined) return undefined;
  throw refused('--format and --encoding are for a row file or --picks; leave them out.');
}

interface OutputInputs extends Pick<RowFileOptions, 'each' | 'input'> {
  readonly columnInputs?: Readonly<Record<string, string>>;
}

/** `-i KEY=output` and `-i KEY=column:NAME`, and what holds for every row. Throws {@link InputInvalidError}. */
function readOutputInputs({ each, input = [], string = [] }: RowFileOptions): OutputInputs {
  const outputs = [
    ...(each === undefined ? [] : [each]),
    ...input.flatMap((text) => /^(.+)=output$/.exec(text)?.[1] ?? []),
  ];
  if (outputs.length > 1) {
    throw refused(
      `The output is given to ${outputs.map((key) => showValue(key)).join(' and ')}; give it to one input.`,
    );
  }
  const columns = input.flatMap((text): [string, string][] => {
    const [, key, column] = /^([^=]+)=column:(.+)$/s.exec(text) ?? [];
    return key === undefined || column === undefined ? [] : [[key, column]];
  });
  const others = input.filter((text) => !/=output$|^[^=]+=column:./s.test(text));
  const named = [
    ...outputs,
    ...columns.map(([key]) => key),
    ...[...others, ...string].map((text) => text.split('=', 1)[0]),
  ];
  const repeated = named.find((key, index) => named.indexOf(key) !== index);
  if (repeated !== undefined) throw refused(`The input ${showValue(repeated)} is given twice.`);
  return { each: outputs[0], columnInputs: Object.fromEntries(columns), input: others };
}

async function readTemplate(file: string): Promise<RowTemplate> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw refused(
      `--template is ${JSON.stringify(file)}, which cannot be read (${errorCode(error)}); give a readable file.`,
    );
  });
  return parseRowTemplate(text);
}

/** Checks what holds for all rows, before they are read. Throws {@link InputInvalidError} with every problem. */
export async function checkRowOptions({ file, options: read }: RowFileToRead, given: RowFileOptions): Promise<void> {
  const { empty, input = [] } = given;
  const { common, constants = {}, vary = {} } = read;
  const problems: string[] = [];
  if ((file.format === 'jsonl' || file.format === 'media') && empty !== undefined) {
    problems.push(`--empty is ${showValue(empty)}; these rows have no cells that could be empty: leave it out.`);
  }
  for (const text of input) {
    // Such a number would be sent as text in every row.
    const remedy = numberRemedy(text.slice(text.indexOf('=') + 1));
    const shown = fit(text, maxOptionLength);
    if (remedy !== undefined) problems.push(`-i ${shown}: ${remedy}, or say that it is text (-s ${shown}).`);
  }
  problems.push(...(parseTaskInput({ webAppId: 1, ...common, inputs: constants }).problems ?? []));
  for (const [key, value] of Object.entries(constants)) {
    if (typeof value !== 'object' || value.file.trim() === '' || isUri(value.file)) continue;
    const size = await inspectInputFile(value.file, 'where the command runs');
    if (typeof size === 'number') continue;
    const option = input.find((text) => text.startsWith(`${key}=`)) ?? key;
    problems.push(`-i ${fit(option, maxOptionLength)}: ${showValue(value.file)} ${size}.`);
  }
  for (const [key, values] of Object.entries(vary)) {
    for (const value of 'random' in values ? [] : values) {
      if (typeof value !== 'object' || isUri(value.file)) continue;
      const size = await inspectInputFile(value.file, 'where the command runs');
      if (typeof size !== 'number') problems.push(`--vary ${showValue(key)}: ${showValue(value.file)} ${size}.`);
    }
  }
  if (problems.length > 0) throw refused(...problems);
}

const maxOptionLength = 200;
const mostWithoutYes = 10;

/** Undefined for as many as are run without `--yes`. */
export function tooManyTasks(counts: Pick<RowsReport, 'rows' | 'fileRows'>): string | undefined {
  if (counts.rows <= mostWithoutYes * counts.fileRows) return undefined;
  return `${variedWords(counts)}, more than ${mostWithoutYes} each; --dry-run says what they cost, and --yes runs them.`;
}

export function variedWords({ rows, fileRows }: Pick<RowsReport, 'rows' | 'fileRows'>): string {
  const become = fileRows === 1 ? 'becomes' : 'become';
  return `${formatCountOf(fileRows, 'row')} of the file ${become} ${formatCountOf(rows, 'task')}`;
}

/**
 * Throws {@link InputInvalidError} once for a mistake that concerns all rows, and after the last one for more tasks than
 * are run unless they are confirmed; else what `readRows` throws.
 */
export async function* readBatchRows(
  { file, options }: RowFileToRead,
  isConfirmed = true,
): AsyncGenerator<RowOutcome, void, undefined> {
  const unused = new Map(Object.entries(options.forms ?? {}));
  const counts = { rows: 0, fileRows: 0 };
  let [isAnyUsable, isAppMissing, isAppKnown] = [false, false, false];
  for await (const outcome of readRows(file, options)) {
    const { row, problems, refused: rest } = outcome;
    if (row === undefined) {
      const isMissing = problems.some(({ field, value }) => field === appColumn && value === 'missing');
      isAppMissing ||= isMissing;
      isAppKnown ||= rest != null && !isMissing;
    } else {
      isAnyUsable = true;
      for (const key of unused.keys()) if (typeof row.input.inputs[key] === 'object') unused.delete(key);
    }
    counts.rows += 1;
    if (outcome.isVariation !== true) counts.fileRows += 1;
    yield outcome;
  }
  // Where other rows have an app, this would hide what is wrong with them.
  if (!isAnyUsable && isAppMissing && !isAppKnown) throw refused('No app: say --app, or give the rows a webAppId.');
  if (isAnyUsable && unused.size > 0) {
    const problems = [...unused].map(([key, form]) => `--as "${key}=${form}": no row has a file as "${key}".`);
    throw refused(...problems);
  }
  const tooMany = isConfirmed ? undefined : tooManyTasks(counts);
  if (tooMany !== undefined) throw refused(tooMany);
}

function refused(...problems: string[]): InputInvalidError {
  return new InputInvalidError(problems, 'batch');
}
