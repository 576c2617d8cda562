import { exactNumber, parseInputKey } from '../domain/input-values';
import { isRecord } from '../domain/json';
import { errorMessage, showValue } from '../domain/text';
import { isRowField, rowFieldWords } from './row-fields';
import { repeatedField } from './repeated-field';
import { RowFileError, type RowProblems } from './row-problem';

/** What a row gives for a column: a cell's text, a field of JSON, or nothing. */
export type ColumnValue = (column: string) => unknown;

/** A task's input as JSON with `{column}` in its texts: what every row is filled into. */
export interface RowTemplate {
  /** The columns that it asks for. */
  readonly columns: readonly string[];
  /**
   * What it makes of one row, like a row of JSONL. What cannot be filled in is added to `problems`.
   */
  readonly fill: (valueOf: ColumnValue, problems: RowProblems) => Readonly<Record<string, unknown>>;
}

interface Placeholder {
  readonly column: string;
  readonly isNumber: boolean;
}

/** Fills in one value; `undefined` leaves its property out. */
type Filler = (valueOf: ColumnValue, problems: RowProblems) => unknown;

const tokens = /\{\{|\}\}|\{([^{}]*)\}|[^{}]+|[{}]/g;
const numberSuffix = ':number';

/**
 * Reads a template. In its texts `{column}` stands for what the row has there, `{{` and `}}` for braces. A text that is
 * one placeholder becomes the value as it is, so that a number of JSONL stays one; `{column:number}` becomes a number
 * whatever the format. Names of properties, numbers and all else stay as they are.
 *
 * @param json - may begin with a byte order mark.
 * @throws RowFileError with every problem.
 */
export function parseRowTemplate(json: string): RowTemplate {
  const template = parseJson(json.replace(/^\uFEFF/, ''));
  const reader = new TemplateReader();
  const fill = isRecord(template) ? reader.object(template, 'template') : undefined;
  if (!isRecord(template) || fill === undefined) {
    throw new RowFileError([`The template is ${showValue(template)}; give an object { "webAppId", "inputs" }.`]);
  }
  const problems = [...Object.keys(template).flatMap(fieldProblem), ...reader.problems];
  if (problems.length > 0) throw new RowFileError(problems);
  return { columns: [...reader.columns], fill };
}

function fieldProblem(name: string): string[] {
  if (name === 'key' || isRowField(name)) return [];
  const remedy =
    parseInputKey(name) === undefined ? `a template has ${rowFieldWords()}` : 'move it into { "inputs": { … } }';
  return [`The template has the field ${showValue(name)}; ${remedy}.`];
}

class TemplateReader {
  readonly problems: string[] = [];
  readonly columns = new Set<string>();

  object(template: Readonly<Record<string, unknown>>, where: string) {
    const properties = Object.entries(template).map(
      ([name, one]) => [name, this.value(one, `${where}.${name}`)] as const,
    );
    return (valueOf: ColumnValue, problems: RowProblems): Readonly<Record<string, unknown>> =>
      Object.fromEntries(
        properties
          .map(([name, fill]) => [name, fill(valueOf, problems)] as const)
          .filter(([, one]) => one !== undefined),
      );
  }

  private value(one: unknown, where: string): Filler {
    if (typeof one === 'string') return this.text(one, where);
    if (isRecord(one)) return this.object(one, where);
    return () => one;
  }

  private text(text: string, where: string): Filler {
    const pieces = [...text.matchAll(tokens)].map(([token, name]) => this.piece(token, name, where));
    const [only] = pieces;
    if (pieces.length === 1 && typeof only === 'object') return (valueOf, problems) => whole(only, valueOf, problems);
    if (pieces.some((piece) => typeof piece === 'object' && piece.isNumber)) {
      this.problems.push(`${where} is ${showValue(text)}; a {column${numberSuffix}} must be the whole text.`);
    }
    return (valueOf, problems) =>
      pieces.map((piece) => (typeof piece === 'string' ? piece : part(piece, valueOf, problems))).join('');
  }

  private piece(token: string, name: string | undefined, where: string): string | Placeholder {
    if (token === '{{' || token === '}}') return token.charAt(0);
    if (token === '{' || token === '}' || name === '') {
      this.problems.push(`${where} has a "${token}" that is no {column}; write {{ and }} for braces.`);
      return token;
    }
    if (name === undefined) return token;
    const isNumber = name.endsWith(numberSuffix);
    const column = isNumber ? name.slice(0, -numberSuffix.length) : name;
    this.columns.add(column);
    return { column, isNumber };
  }
}

function whole({ column, isNumber }: Placeholder, valueOf: ColumnValue, problems: RowProblems): unknown {
  const value = valueOf(column);
  if (!isNumber || typeof value !== 'string') return value;
  const number = exactNumber(value.trim());
  if (number === undefined) problems.addField('VALUE', column, value, 'give a number that a double holds exactly');
  return number;
}

function part({ column }: Placeholder, valueOf: ColumnValue, problems: RowProblems): string {
  const value = valueOf(column);
  if (value === undefined) return '';
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  problems.addField('VALUE', column, value, 'inside a text it must be text, a number or a boolean');
  return '';
}

function parseJson(json: string): unknown {
  // What is no UTF-8 was replaced when the file was read, and JSON has no zeros.
  if (/[\uFFFD\0]/.test(json)) throw new RowFileError(['The template is not UTF-8; save it as UTF-8.']);
  let template: unknown;
  try {
    template = JSON.parse(json);
  } catch (error) {
    throw new RowFileError([
      `The template is not JSON (${showValue(errorMessage(error))}); give { "webAppId", "inputs" }.`,
    ]);
  }
  const repeated = repeatedField(json);
  if (repeated === undefined) return template;
  throw new RowFileError([`The template has the field ${showValue(repeated)} twice in one object; give it once.`]);
}
