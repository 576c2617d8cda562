import { createScanner } from 'jsonc-parser';
import type { NewTaskInput } from '../contract/task-input';
import { nearestName } from '../core/nearest-name';
import { optionNames, type RowProblems } from './row-problem';

export const appColumn = 'webAppId';

// prettier-ignore
const rowFields: readonly (keyof NewTaskInput)[] = [
  appColumn, 'inputs', 'account', 'archive', 'watch', 'deadlines', 'onUncertain', 'uncertainWait',
  'suppressPreviewOutput',
];
/** A row makes one new task. */
const refusedFields = ['adopt', 'batch', 'createNumber'];

/** Also of a template. Tuning is for tests, and not documented. */
export function isRowField(name: string): boolean {
  return name === 'tuning' || rowFields.some((known) => known === name);
}

export function listRowFields(): string {
  return ['key', ...rowFields].join(', ');
}

const maxMistyped = 2;

export function checkRowFields(fields: object, keyField: string | undefined, problems: RowProblems): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || isRowField(name)) continue;
    const known = [keyField ?? 'key', ...rowFields];
    const nearest = nearestName(name, known, 0, maxMistyped);
    const meant = nearest === undefined ? '' : `did you mean ${nearest}? Or `;
    const mayBeKey = keyField === undefined && typeof value !== 'object';
    const keys = mayBeKey ? `, that it is the key by ${optionNames.keyColumn}` : '';
    const remedy = `${meant}say what it is for by ${optionNames.template}${keys}, or ignore it by ${optionNames.ignoreColumns}`;
    problems.addField('INPUT', name, value, refusedFields.includes(name) ? 'a row cannot have it' : remedy);
  }
}

/** Of `SyntaxKind`, whose constants a module that is compiled by itself cannot read. */
const kinds = { openBrace: 1, closeBrace: 2, colon: 6, text: 10, end: 17 };

/** The first field that is twice in one object. Reads by tokens, because depth then costs no stack. */
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
