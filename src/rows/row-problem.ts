import { formatRowPlace, pickPlace, type RowPlace } from '../core/batch/row-place';
import { showValue } from '../core/text';

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

export interface RowProblem extends RowPlace {
  /** As the row gives it; absent when it gives none, or could not be read so far. */
  readonly key?: string;
  /** The first cells of a table's row whose key is missing, shown as a value is. */
  readonly rowBegins?: string;
  readonly code: RowProblemCode;
  readonly field: string | null;
  /** Shortened, as JSON, without the secrets it may hold. */
  readonly value: string | null;
  readonly message: string;
}

export function rowProblemText(problem: RowProblem): string {
  return `${formatRowPlace(problem)}: ${problem.message}`;
}

/** Without the field and the value, for a place that shows these beside it. */
export function rowProblemAdvice({ field, value, message }: RowProblem): string {
  const name = showValue(field);
  const words = [`${name} is ${value}`, `inputs[${name}] is ${value}`].find(
    (beginning) => message.startsWith(`${beginning}; `) || message.startsWith(`${beginning}, `),
  );
  if (field === null || value === null || words === undefined) return message;
  const rest = message.slice(words.length + 2);
  return `${rest.charAt(0).toUpperCase()}${rest.slice(1)}`;
}

/** Of one field only the first problem is kept: all others would repeat it. */
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

  add(code: RowProblemCode, message: string, at?: { readonly field: string; readonly value: unknown }): void {
    if (at !== undefined && this.has(at.field)) return;
    const [field, value] = at === undefined ? [null, null] : [at.field, showValue(at.value)];
    this.#fields.add(field);
    this.found.push({ ...this.#place, code, field, value, message });
  }

  /** "FIELD is VALUE; REMEDY." */
  addField(code: RowProblemCode, field: string, value: unknown, rest: string): void {
    this.add(code, `${showValue(field)} is ${showValue(value)}; ${rest}.`, { field, value });
  }
}

/** The row file or the template as a whole cannot be used. */
export class RowFileError extends Error {
  readonly problems: readonly string[];

  constructor(problems: string | readonly string[], options?: ErrorOptions) {
    const all = typeof problems === 'string' ? [problems] : problems;
    super(all.join('\n'), options);
    this.name = 'RowFileError';
    this.problems = all;
  }
}

export const optionNames = {
  keyColumn: 'keyColumn (--key-column)',
  textColumns: 'textColumns (--text-column)',
  ignoreColumns: 'ignoreColumns (--ignore-column)',
  emptyCells: 'emptyCells (--empty)',
  decimal: 'decimal (--decimal)',
  delimiter: 'delimiter (--delimiter)',
  template: 'template (--template)',
  each: 'each (--each)',
  captions: 'captions (--captions)',
  columnInputs: 'columnInputs (-i KEY=column:NAME)',
  sheet: 'sheet (--sheet)',
  rows: 'rows (--rows)',
  vary: 'vary (--vary)',
  encoding: 'encoding (--encoding)',
  webAppId: 'common.webAppId (--app)',
} as const;
