import type { InputValue, NewTaskInput, ResourceForm } from '../contract/task-input';
import { isFields } from '../core/json';
import { unknownNameProblems } from '../core/nearest-name';
import { showValue } from '../core/text';
import type { DecimalSign, Delimiter } from './cells';
import { optionNames, RowFileError } from './row-problem';
import type { RowTemplate } from './row-template';

/** Of a table: `refuse` is a problem (an empty cell is paid for), `omit` no input, and `text` empty text. */
export type EmptyCells = 'refuse' | 'omit' | 'text';

/** A field that no row may change, and the option that says so. */
export interface FixedField {
  readonly value: string | undefined;
  readonly option: string;
}

/** So many seeds for each row, from 0 to 4294967295, drawn by the batch's id, the key of the row and the input. */
export interface RandomSeeds {
  readonly random: number;
}

export interface RowOptions {
  /** Fields of every task; `undefined`: not at all. A row that says otherwise is refused. */
  readonly fixed?: Readonly<Record<string, FixedField>>;
  /** Fields of every task; a row may say otherwise. */
  readonly common?: Partial<Omit<NewTaskInput, 'inputs' | 'createNumber'>>;
  /** Where it is known: the outputs' folder of that batch is open to its rows. */
  readonly batchId?: string;
  /** Inputs of all rows, their paths absolute; a row's own input of the same key replaces it. */
  readonly constants?: Readonly<Record<string, InputValue>>;
  /** In which form an input file is given to the app, by input key; what a row says itself stands. */
  readonly forms?: Readonly<Record<string, ResourceForm>>;
  /** Of a table. By default what a first line such as `sep=;` says, or else the format. */
  readonly delimiter?: Delimiter;
  /**
   * Before a number's fraction, in cells and where a template asks for a number. By default a point; between semicolons
   * `1.024`, which may be a thousand, is refused unless this is given.
   */
  readonly decimal?: DecimalSign;
  /** Columns of a table and inputs of JSONL and templates that are sent as text, whatever they look like. */
  readonly textColumns?: readonly string[];
  /** What every row is filled into; without it columns are input keys. */
  readonly template?: RowTemplate;
  /** The column or field with a row's key. By default `key`, where there is one. */
  readonly keyColumn?: string;
  /** Columns or fields that go along in `columns`, for the names of archived files. */
  readonly keepColumns?: readonly string[];
  /** Columns or fields that mean nothing to Longhaul. */
  readonly ignoreColumns?: readonly string[];
  /** By default `refuse`. */
  readonly emptyCells?: EmptyCells;
  /** Of pictures, videos and sounds, of a list of texts, and of outputs: the input that each is. */
  readonly each?: string;
  /** Of outputs: the column of the former row that an input is, by input key. */
  readonly columnInputs?: Readonly<Record<string, string>>;
  /** Of pictures, videos and sounds: the input that the text file of the same name is. */
  readonly captions?: string;
  /**
   * By input key: each row becomes a task for each value, or for each combination of the values of several inputs. The
   * values, or the hash of a long one, stand at the end of its key. Paths of files are absolute.
   */
  readonly vary?: Readonly<Record<string, readonly InputValue[] | RandomSeeds>>;
  /** Of a workbook: the sheet with the rows. By default the first. */
  readonly sheet?: string;
  /** Of a JSON document: the field, or a path such as `data.products`, with the array of rows. By default all of it. */
  readonly rows?: string;
  /** By default 1 MiB. */
  readonly maxRowBytes?: number;
}

// prettier-ignore
const rowOptions: readonly (keyof RowOptions)[] = [
  'fixed', 'common', 'batchId', 'constants', 'forms', 'delimiter', 'decimal', 'textColumns', 'template', 'keyColumn',
  'keepColumns', 'ignoreColumns', 'emptyCells', 'each', 'columnInputs', 'captions', 'vary', 'sheet', 'rows', 'maxRowBytes',
];

/** Throws RowFileError for an option that is not known, or that would be without effect. */
export function checkRowOptions(options: RowOptions): void {
  const { keyColumn, template } = options;
  const problems = unknownNameProblems('option', Object.keys(options), rowOptions);
  for (const name of ['fixed', 'common', 'constants', 'forms', 'vary', 'columnInputs'] as const) {
    const value = options[name];
    if (value !== undefined && !isFields(value)) problems.push(`${name} is ${showValue(value)}; give an object.`);
  }
  if (keyColumn !== undefined && template?.hasKey === true && template.keyColumn !== keyColumn) {
    problems.push(
      `The template makes the key of each row, so that ${optionNames.keyColumn} would be without effect; give one of them.`,
    );
  }
  if (problems.length > 0) throw new RowFileError(problems);
}

export function getKeyColumn({ keyColumn = 'key' }: RowOptions): string {
  return keyColumn;
}
