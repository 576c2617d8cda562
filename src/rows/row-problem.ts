import { showValue } from '../domain/text';

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
export interface RowProblem {
  /** Of the row's first line, from 1. */
  readonly line: number;
  /** Of the row, as it gives it; absent when it gives none, or could not be read so far. */
  readonly key?: string;
  readonly code: RowProblemCode;
  /** The column or field, where it is one. */
  readonly field: string | null;
  /** What stands there: shortened, as JSON, without the secrets it may hold. */
  readonly value: string | null;
  /** A sentence that names field, value and remedy. */
  readonly message: string;
}

/** A problem as a person reads it. */
export function rowProblemText({ line, message }: RowProblem): string {
  return `line ${line}: ${message}`;
}

/** What is wrong, and what to do about it; a message that is not divided says both in one. */
export function rowProblemParts({ field, value, message }: RowProblem): {
  readonly words: string;
  readonly remedy: string;
} {
  const ofField = `${showValue(field)} is ${value ?? ''}; `;
  const length = message.startsWith(ofField) ? ofField.length : (firstPart.exec(message)?.[0].length ?? 0);
  if (length === 0) return { words: message, remedy: '' };
  return { words: message.slice(0, length - 2), remedy: message.slice(length).replace(/\.$/, '') };
}

/** Up to the first semicolon that stands in no quotes. */
const firstPart = /^(?:"(?:[^"\\]|\\.)*"|[^";]|;(?! ))*; /;

/** Collects every problem of one row; of one field the first, of which all others would be repetitions. */
export class RowProblems {
  readonly found: RowProblem[];
  readonly #fields: Set<string>;
  readonly #line: number;

  /** @param found - what was found of the row before. */
  constructor(line: number, found: readonly RowProblem[] = []) {
    this.#line = line;
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
    this.found.push({ line: this.#line, code, field, value, message });
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

/** An option of the command line as a remedy names it: `(--ignore-column notes)`. */
export function optionFor(option: string, name: string): string {
  return `(${option} ${/^[\w.:/-]{1,120}$/.test(name) ? name : showValue(name)})`;
}

/** The known name that is spelled alike: `webAppId` for `web_app_id`. `undefined` for none, and for the name itself. */
export function suggestName(name: string, known: readonly string[]): string | undefined {
  return known.find((one) => one !== name && plain(one) === plain(name));
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}
