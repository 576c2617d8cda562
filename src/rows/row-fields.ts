import { createScanner } from 'jsonc-parser';
import type { NewTaskInput } from '../contract/task-input';
import { isRecord } from '../core/json';
import { maxSuggestions } from '../core/nearest-name';
import { showValue } from '../core/text';
import { meantName, optionFor, type OptionNames, type RowProblems, suggestName } from './row-problem';

/** Of a task's input, what a row may say. */
// prettier-ignore
const rowFields: readonly (keyof NewTaskInput)[] = [
  'webAppId', 'inputs', 'account', 'archive', 'watch', 'deadlines', 'onUncertain', 'uncertainWait',
  'suppressPreviewOutput',
];
/** Of a task's input, what a row cannot say: a row makes one new task. */
const refusedFields = ['adopt', 'batch', 'createNumber'];

/** Whether a row or a template may have this field of a task's input. Tuning is for tests, and not documented. */
export function isRowField(name: string): boolean {
  return name === 'tuning' || rowFields.some((known) => known === name);
}

/** What a row may have, for a message. */
export function listRowFields(keyField = 'key'): string {
  return [keyField, ...rowFields].join(', ');
}

interface FieldOptions {
  readonly keyColumn?: string;
  readonly optionNames?: OptionNames;
}

/**
 * Adds a problem for each field that a row cannot have.
 *
 * @param options - with the column of the keys.
 */
export function checkRowFields(fields: object, options: FieldOptions, problems: RowProblems): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || isRowField(name)) continue;
    if (refusedFields.includes(name)) problems.addField('INPUT', name, value, 'a row cannot have it');
    else {
      const message = unknownField(name, options, problems.found.length < maxSuggestions);
      problems.add('INPUT', message, { field: name, value });
    }
  }
}

function unknownField(name: string, options: FieldOptions, isSuggested: boolean): string {
  const { keyColumn: keyField = 'key' } = options;
  const known = [keyField, ...rowFields];
  const meant = isSuggested ? meantName(name, known) : suggestName(name, known);
  const hint = meant === undefined ? '' : `do you mean ${showValue(meant)}? Or `;
  const remedies = `say that it is the key ${optionFor('keyColumn', name, options)} or to be ignored ${optionFor('ignoreColumns', name, options)}`;
  return `Unknown field ${showValue(name)}; ${hint}${remedies}. A row has ${listRowFields(keyField)}.`;
}

/** Of the library's `SyntaxKind`, whose constants a module that is compiled by itself cannot read. */
const kinds = { openBrace: 1, closeBrace: 2, colon: 6, text: 10, end: 17 };

/**
 * The first field that is there twice in one object, at whatever depth: `JSON.parse` keeps the last of them without a
 * word. Reads token by token, so that depth costs no stack.
 *
 * @param json - must be what `JSON.parse` takes.
 */
export function repeatedField(json: string): string | undefined {
  const scanner = createScanner(json, true);
  const open: Set<string>[] = [];
  let text = '';
  for (let kind: number = scanner.scan(); kind !== kinds.end; kind = scanner.scan()) {
    if (kind === kinds.text) text = scanner.getTokenValue();
    else if (kind === kinds.openBrace) open.push(new Set());
    else if (kind === kinds.closeBrace) open.pop();
    else if (kind === kinds.colon) {
      const names = open.at(-1);
      if (names?.has(text) === true) return text;
      names?.add(text);
    }
  }
  return undefined;
}

/** A field of a task's input, and what stands there. */
export interface Place {
  readonly field: string;
  readonly value: unknown;
}

const beginning = /^(?:(?:inputs\[|The input key )("(?:[^"\\]|\\.)*")|(\w+) )/;

/** Finds the field that a problem of a task's input begins with. */
export class InputProblemFields {
  readonly #fields: ReadonlyMap<string, Place>;
  readonly #inputs: ReadonlyMap<string, Place>;

  constructor(input: unknown) {
    this.#fields = placesIn(input, (field) => field);
    this.#inputs = placesIn(isRecord(input) ? input['inputs'] : undefined, showValue);
  }

  /** `undefined` when it names none. */
  of(problem: string): Place | undefined {
    const [, shownKey, field] = beginning.exec(problem) ?? [];
    return shownKey === undefined ? this.#fields.get(field ?? '') : this.#inputs.get(shownKey);
  }
}

function placesIn(value: unknown, toName: (field: string) => string): ReadonlyMap<string, Place> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return new Map(entries.map(([field, one]) => [toName(field), { field, value: one }]));
}
