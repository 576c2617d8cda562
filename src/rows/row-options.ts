import type { InputValue, NewTaskInput, ResourceForm } from '../contract/task-input';
import { isFields } from '../core/json';
import { unknownNameProblems } from '../core/nearest-name';
import { showValue } from '../core/text';
import type { DecimalSign, Delimiter } from './cells';
import { optionNames, RowFileError } from './row-problem';
import type { RowTemplate } from './row-template';

/** What an empty cell of a table means: a problem (it is paid for, so nothing is guessed), no input, or empty text. */
export type EmptyCells = 'refuse' | 'omit' | 'text';

/** A field of a task's input that no row may change, and the option that says so. */
export interface FixedField {
  readonly value: string | undefined;
  readonly option: string;
}

/** How rows become inputs of tasks. */
export interface RowOptions {
  /** Fields that every task has as they stand here; `undefined`: not at all. A row that says otherwise is refused. */
  readonly fixed?: Readonly<Record<string, FixedField>>;
  /** What all tasks have in common; a row may say otherwise. */
  readonly common?: Partial<Omit<NewTaskInput, 'inputs' | 'createNumber'>>;
  /** The batch's id, where it is known: the outputs' folder of that batch is open to its rows. */
  readonly batchId?: string;
  /** Inputs of all rows, their paths absolute; a row's own input of the same key replaces it. */
  readonly constants?: Readonly<Record<string, InputValue>>;
  /** In which form an input file is given to the app, by input key; what a row says itself stands. */
  readonly forms?: Readonly<Record<string, ResourceForm>>;
  /** What separates the cells of a table. By default what a first line such as `sep=;` says, or else the format. */
  readonly delimiter?: Delimiter;
  /**
   * What stands before the fraction of a number, in cells and where a template asks for a number. By default a point; in a
   * table with semicolons `1.024`, which may be a thousand, is refused unless it is said.
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
  /** Of one row in its file; by default 1 MiB. */
  readonly maxRowBytes?: number;
}

// prettier-ignore
const rowOptions: readonly (keyof RowOptions)[] = [
  'fixed', 'common', 'batchId', 'constants', 'forms', 'delimiter', 'decimal', 'textColumns', 'template', 'keyColumn',
  'keepColumns', 'ignoreColumns', 'emptyCells', 'maxRowBytes',
];

/** Throws RowFileError for an option that is not known or would be without effect: rows would be read otherwise than was meant. */
export function checkRowOptions(options: RowOptions): void {
  const { keyColumn, template } = options;
  const problems = unknownNameProblems('option', Object.keys(options), rowOptions);
  for (const name of ['fixed', 'common', 'constants', 'forms'] as const) {
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
