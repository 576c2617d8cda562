import { parseTemplate, type TemplatePiece } from '../core/column-template';
import { parseInputKey } from '../core/input-values';
import { isRecord } from '../core/json';
import { errorMessage, showValue } from '../core/text';
import { expectedNumber, type NumberNotation, readCellNumber } from './cells';
import { isRowField, listRowFields, repeatedField } from './row-fields';
import { RowFileError, type RowProblems } from './row-problem';

type ColumnValue = (column: string) => unknown;

/** `undefined` leaves the property out. */
type Filler<Made = unknown> = (getValue: ColumnValue, problems: RowProblems, notation: NumberNotation) => Made;

/** A task's input as JSON with `{column}` in its texts: what every row is filled into. */
export interface RowTemplate {
  readonly columns: readonly string[];
  /** What numbers and the names of files are made of. */
  readonly noTextColumns: ReadonlySet<string>;
  readonly numberColumns: ReadonlySet<string>;
  /** For each input, the columns that it is made of. */
  readonly inputColumns: ReadonlyMap<string, readonly string[]>;
  readonly fieldColumns: ReadonlyMap<string, readonly string[]>;
  readonly hasApp: boolean;
  readonly hasKey: boolean;
  /** Undefined unless one column is the whole key. */
  readonly keyColumn: string | undefined;
  /** What it makes of one row, like a row of JSONL. What cannot be filled in is added to the problems. */
  readonly fill: Filler<Readonly<Record<string, unknown>>>;
}

interface Placeholder {
  readonly column: string;
  readonly isNumber: boolean;
}

const numberSuffix = ':number';

/**
 * `{column}` stands for what the row has there, `{{` and `}}` for braces. A text that is one placeholder becomes the
 * value as it is; `{column:number}` becomes a number in every format. Names of properties, numbers and all else stay.
 * @param json - may begin with a byte order mark.
 * @throws RowFileError with every problem.
 */
export function parseRowTemplate(json: string): RowTemplate {
  const template = parseJson(json.replace(/^\uFEFF/, ''));
  if (!isRecord(template)) {
    throw new RowFileError(`The template is ${showValue(template)}; give an object { "webAppId", "inputs" }.`);
  }
  const reader = new TemplateReader();
  const fill = reader.object(template, 'template');
  const problems = [...Object.keys(template).flatMap(fieldProblem), ...reader.problems];
  if (problems.length > 0) throw new RowFileError(problems);
  const { key, webAppId, inputs, ...fields } = template;
  const [only, ...others] = typeof key === 'string' ? parseTemplate(key) : [];
  const isColumn = only !== undefined && others.length === 0 && 'placeholder' in only;
  return {
    columns: [...reader.columns],
    noTextColumns: new Set([...reader.numberColumns, ...reader.fileColumns]),
    numberColumns: reader.numberColumns,
    inputColumns: columnsOfEach(inputs),
    fieldColumns: columnsOfEach({ webAppId, ...fields }),
    hasApp: webAppId !== undefined,
    hasKey: key !== undefined,
    keyColumn: isColumn ? toPlaceholder(only.placeholder).column : undefined,
    fill,
  };
}

function columnsOfEach(made: unknown): ReadonlyMap<string, readonly string[]> {
  const entries = isRecord(made) ? Object.entries(made) : [];
  return new Map(
    entries.map(([name, one]) => {
      const reader = new TemplateReader();
      reader.object({ one }, name);
      return [name, [...reader.columns]];
    }),
  );
}

function toPlaceholder(name: string): Placeholder {
  const isNumber = name.endsWith(numberSuffix);
  return { column: isNumber ? name.slice(0, -numberSuffix.length) : name, isNumber };
}

function fieldProblem(name: string): string[] {
  if (name === 'key' || isRowField(name)) return [];
  const isInput = parseInputKey(name) !== undefined;
  const remedy = isInput ? 'move it into { "inputs": { … } }' : `a template has ${listRowFields()}`;
  return [`The template has the field ${showValue(name)}; ${remedy}.`];
}

class TemplateReader {
  readonly problems: string[] = [];
  readonly columns = new Set<string>();
  readonly numberColumns = new Set<string>();
  readonly fileColumns = new Set<string>();

  object(template: Readonly<Record<string, unknown>>, where: string): Filler<Readonly<Record<string, unknown>>> {
    const properties = Object.entries(template).map(
      ([name, one]) => [name, this.#value(one, `${where}.${name}`, name === 'file')] as const,
    );
    return (...args) => {
      const filled = properties.map(([name, fill]) => [name, fill(...args)] as const);
      return Object.fromEntries(filled.filter(([, one]) => one !== undefined));
    };
  }

  #value(one: unknown, where: string, isFile: boolean): Filler {
    if (typeof one === 'string') return this.#text(one, where, isFile);
    if (!isRecord(one)) return () => one;
    const fill = this.object(one, where);
    if (!('file' in one)) return fill;
    return (...args) => {
      const made = fill(...args);
      // A file whose cell is omitted is no input.
      return 'file' in made ? made : undefined;
    };
  }

  #text(text: string, where: string, isFile: boolean): Filler {
    const pieces = parseTemplate(text).map((piece) => this.#piece(piece, where));
    const columns = pieces.flatMap((piece) => (typeof piece === 'object' ? [piece.column] : []));
    if (isFile) for (const column of columns) this.fileColumns.add(column);
    const [only] = pieces;
    if (pieces.length === 1 && typeof only === 'object') return (...args) => fillWhole(only, ...args);
    if (pieces.some((piece) => typeof piece === 'object' && piece.isNumber)) {
      this.problems.push(`${where} is ${showValue(text)}; a {column${numberSuffix}} must be the whole text.`);
    }
    return (...args) => {
      const [getValue] = args;
      if (isFile && columns.some((column) => getValue(column) === undefined)) return undefined;
      return pieces.map((piece) => (typeof piece === 'string' ? piece : fillPart(piece, ...args))).join('');
    };
  }

  #piece(piece: TemplatePiece, where: string): string | Placeholder {
    if ('text' in piece) {
      if (piece.isStray) {
        this.problems.push(`${where} has a "${piece.text}" that is no {column}; write {{ and }} for braces.`);
      }
      return piece.text;
    }
    const placeholder = toPlaceholder(piece.placeholder);
    this.columns.add(placeholder.column);
    if (placeholder.isNumber) this.numberColumns.add(placeholder.column);
    return placeholder;
  }
}

function fillWhole({ column, isNumber }: Placeholder, ...[getValue, problems, notation]: Parameters<Filler>): unknown {
  const value = getValue(column);
  if (!isNumber || typeof value !== 'string') return value;
  const number = readCellNumber(value.trim(), notation);
  if (number !== undefined) return number;
  const expected = `expected ${expectedNumber(value.trim(), notation)}; text is {${column}} in the template`;
  problems.addField('VALUE', column, value, expected);
  return undefined;
}

function fillPart({ column }: Placeholder, ...[getValue, problems]: Parameters<Filler>): string {
  const value = getValue(column);
  if (value === undefined) return '';
  const text = plainText(value);
  if (text === undefined)
    problems.addField('VALUE', column, value, 'inside a text it must be text, a number or a boolean');
  return text ?? '';
}

export function plainText(value: unknown): string | undefined {
  const isPlain = typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);
  return isPlain ? String(value) : undefined;
}

function parseJson(json: string): unknown {
  // What is no UTF-8 was replaced when the file was read, and JSON has no zeros.
  if (/[\uFFFD\0]/.test(json)) throw new RowFileError('The template is not UTF-8; save it as UTF-8.');
  let template: unknown;
  try {
    template = JSON.parse(json);
  } catch (error) {
    const words = showValue(errorMessage(error));
    throw new RowFileError(`The template is not JSON (${words}); give { "webAppId", "inputs" }.`);
  }
  const repeated = repeatedField(json);
  if (repeated === undefined) return template;
  throw new RowFileError(`The template has the field ${showValue(repeated)} twice in one object; give it once.`);
}
