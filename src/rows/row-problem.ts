import { formatRowPlace, pickPlace, type RowPlace } from '../core/batch/row-place';
import { showValue } from '../core/text';

/** What is wrong with a row, to count by. */
export type RowProblemCode =
  | 'TOO_LARGE'
  | 'NOT_UTF8'
  /** Not a row of its format: quotes, JSON. */
  | 'MALFORMED'
  /** More or fewer cells than the header has columns. */
  | 'COLUMN_COUNT'
  | 'VALUE'
  | 'KEY'
  /** An earlier row has the same key, or the same content where none has a key. */
  | 'DUPLICATE'
  | 'INPUT'
  | 'FILE';

/** One thing that is wrong with one row. */
export interface RowProblem extends RowPlace {
  /** Of the row, as it gives it; absent when it gives none, or could not be read so far. */
  readonly key?: string;
  /** The first cells of a row of a table whose key is missing, as one text, shown as a value is. */
  readonly rowBegins?: string;
  readonly code: RowProblemCode;
  /** The column or field, where it is one. */
  readonly field: string | null;
  /** What stands there: shortened, as JSON, without the secrets it may hold. */
  readonly value: string | null;
  readonly message: string;
}

export function rowProblemText(problem: RowProblem): string {
  return `${formatRowPlace(problem)}: ${problem.message}`;
}

/** The message without the field and the value that it begins with, for a place that shows these beside it. */
export function rowProblemAdvice({ field, value, message }: RowProblem): string {
  const name = showValue(field);
  const words = [`${name} is ${value}`, `inputs[${name}] is ${value}`].find(
    (beginning) => message.startsWith(`${beginning}; `) || message.startsWith(`${beginning}, `),
  );
  if (field === null || value === null || words === undefined) return message;
  const rest = message.slice(words.length + 2);
  return `${rest.charAt(0).toUpperCase()}${rest.slice(1)}`;
}

/** Collects every problem of one row; of one field the first, of which all others would be repetitions. */
export class RowProblems {
  readonly found: RowProblem[];
  readonly #fields: Set<string | null>;
  readonly #place: RowPlace;

  constructor(place: RowPlace, found: readonly RowProblem[] = []) {
    this.#place = pickPlace(place);
    this.found = [...found];
    this.#fields = new Set(found.map(({ field }) => field));
  }

  has(field: string): boolean {
    return this.#fields.has(field);
  }

  /** A problem of the whole row, or one whose message names the field and its value itself. */
  add(code: RowProblemCode, message: string, at?: { readonly field: string; readonly value: unknown }): void {
    if (at !== undefined && this.has(at.field)) return;
    const [field, value] = at === undefined ? [null, null] : [at.field, showValue(at.value)];
    this.#fields.add(field);
    this.found.push({ ...this.#place, code, field, value, message });
  }

  /** A problem of one field: "FIELD is VALUE; REMEDY." */
  addField(code: RowProblemCode, field: string, value: unknown, rest: string): void {
    this.add(code, `${showValue(field)} is ${showValue(value)}; ${rest}.`, { field, value });
  }
}

/** The row file or the template as a whole cannot be used: no row of it was read. */
export class RowFileError extends Error {
  readonly problems: readonly string[];

  constructor(problems: string | readonly string[], options?: ErrorOptions) {
    const all = typeof problems === 'string' ? [problems] : problems;
    super(all.join('\n'), options);
    this.name = 'RowFileError';
    this.problems = all;
  }
}

/** Options as messages name them, for the remedy: in the library, and on the command line. */
export const optionNames = {
  keyColumn: 'keyColumn (--key-column)',
  textColumns: 'textColumns (--text-column)',
  ignoreColumns: 'ignoreColumns (--ignore-column)',
  emptyCells: 'emptyCells (--empty)',
  decimal: 'decimal (--decimal)',
  delimiter: 'delimiter (--delimiter)',
  template: 'template (--template)',
  webAppId: 'common.webAppId (--app)',
} as const;
