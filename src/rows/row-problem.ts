import { nearestName } from '../core/nearest-name';
import { formatRowPlace, pickPlace, type RowPlace } from '../core/batch/row-place';
import { showValue } from '../core/text';

/** What is wrong with a row, to count by. */
export type RowProblemCode =
  /** Larger than a row may be. */
  | 'TOO_LARGE'
  /** Not UTF-8. */
  | 'NOT_UTF8'
  /** Not a row of its format: quotes, JSON. */
  | 'MALFORMED'
  /** More or fewer cells than the header has columns. */
  | 'COLUMN_COUNT'
  /** A cell or a field cannot be what it is used for. */
  | 'VALUE'
  /** Its key cannot be one. */
  | 'KEY'
  /** An earlier row has the same key, or the same content where none has a key. */
  | 'DUPLICATE'
  /** The task's input that it makes is refused. */
  | 'INPUT'
  /** An input file is missing or cannot be read. */
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
  /** A sentence that names field, value and remedy. */
  readonly message: string;
}

/** A problem as a person reads it. */
export function rowProblemText(problem: RowProblem): string {
  return `${formatRowPlace(problem)}: ${problem.message}`;
}

/** The message without the field and the value that it begins with, for a place that shows these beside it. */
export function rowProblemAdvice({ field, value, message }: RowProblem): string {
  if (field === null || value === null) return message;
  const name = showValue(field);
  const length = [`${name} is ${value}`, `inputs[${name}] is ${value}`]
    .filter((words) => message.startsWith(`${words}; `) || message.startsWith(`${words}, `))
    .map((words) => words.length + 2)[0];
  if (length === undefined) return message;
  return `${message.charAt(length).toUpperCase()}${message.slice(length + 1)}`;
}

/** Collects every problem of one row; of one field the first, of which all others would be repetitions. */
export class RowProblems {
  readonly found: RowProblem[];
  readonly #fields: Set<string>;
  readonly #place: RowPlace;

  /** @param found - what was found of the row before. */
  constructor(place: RowPlace, found: readonly RowProblem[] = []) {
    this.#place = pickPlace(place);
    this.found = [...found];
    this.#fields = new Set(found.flatMap(({ field }) => (field === null ? [] : [field])));
  }

  /** Whether a problem of this field was found. */
  has(field: string): boolean {
    return this.#fields.has(field);
  }

  /** A problem of the whole row, or one whose message names the field and its value itself. */
  add(code: RowProblemCode, message: string, at?: { readonly field: string; readonly value: unknown }): void {
    if (at !== undefined && this.#fields.has(at.field)) return;
    const [field, value] = at === undefined ? [null, null] : [at.field, showValue(at.value)];
    if (field !== null) this.#fields.add(field);
    this.found.push({ ...this.#place, code, field, value, message });
  }

  /** A problem of one field: "FIELD is VALUE; REMEDY." */
  addField(code: RowProblemCode, field: string, value: unknown, rest: string): void {
    this.add(code, `${showValue(field)} is ${showValue(value)}; ${rest}.`, { field, value });
  }
}

/** The row file or the template as a whole cannot be used: no row of it was read. */
export class RowFileError extends Error {
  /** Each names what is wrong and the remedy. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[], options?: ErrorOptions) {
    super(problems.join('\n'), options);
    this.name = 'RowFileError';
    this.problems = problems;
  }
}

/** The known name that is spelled alike: `webAppId` for `web_app_id`. `undefined` for none, and for the name itself. */
export function suggestName(name: string, known: readonly string[]): string | undefined {
  return known.find((one) => one !== name && plain(one) === plain(name));
}

/** So many letters of a name may be wrong, for another one to be meant. */
const maxTypos = 2;

/** The known name that is spelled alike, or else differs in a letter or two. `undefined` for none. */
export function meantName(name: string, known: readonly string[]): string | undefined {
  return suggestName(name, known) ?? nearestName(name, known, 0, maxTypos);
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** Whose options messages name as a remedy: those of the library, or of the command line. */
export type OptionNames = 'library' | 'commandLine';

const commandLineNames = {
  keyColumn: '--key-column',
  textColumns: '--text-column',
  ignoreColumns: '--ignore-column',
  emptyCells: '--empty',
  decimal: '--decimal',
  delimiter: '--delimiter',
  template: '--template',
  webAppId: '--app',
} as const;

/** An option as a remedy names it, with its value if that is given: `(ignoreColumns: ["notes"])`, or `(--ignore-column notes)`. */
export function optionFor(
  option: keyof typeof commandLineNames,
  value: string | null,
  { optionNames = 'library' }: { readonly optionNames?: OptionNames },
): string {
  if (optionNames === 'commandLine') {
    const name = commandLineNames[option];
    if (value === null) return `(${name})`;
    return `(${name} ${/^[\w.:/-]{1,120}$/.test(value) ? value : showValue(value)})`;
  }
  if (value === null) return option === 'webAppId' ? '(common: { webAppId })' : `(${option})`;
  const shown = showValue(value);
  return `(${option}: ${option === 'textColumns' || option === 'ignoreColumns' ? `[${shown}]` : shown})`;
}
