import type { NewTaskInput } from '../contract/task-input';
import { showValue } from '../domain/text';
import { meantName } from './meant-name';
import { optionFor } from './option-for';
import type { RowProblems } from './row-problem';

/** Of a task's input, what a row may say. */
const rowFields: readonly (keyof NewTaskInput)[] = [
  ...(['webAppId', 'inputs', 'account', 'archive', 'watch', 'deadlines'] as const),
  ...(['onUncertain', 'uncertainWait', 'suppressPreviewOutput'] as const),
];
/** Of a task's input, what a row cannot say: a row makes one new task. */
const refusedFields = ['adopt', 'batch', 'createNumber'];

/** Whether it can be said of a task's input in a row or a template. Tuning is for tests, and not told of. */
export function isRowField(name: string): boolean {
  return name === 'tuning' || rowFields.some((known) => known === name);
}

/** What a row may have, for a message. */
export function rowFieldWords(keyField = 'key'): string {
  return [keyField, ...rowFields].join(', ');
}

/**
 * Tells of the fields that a row cannot have.
 *
 * @param keyField - where rows have their key.
 */
export function checkRowFields(fields: object, keyField: string, problems: RowProblems): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || isRowField(name)) continue;
    if (refusedFields.includes(name)) problems.addField('INPUT', name, value, 'a row cannot have it');
    else problems.add('INPUT', unknownField(name, keyField), { field: name, value });
  }
}

function unknownField(name: string, keyField: string): string {
  const meant = meantName(name, [keyField, ...rowFields]);
  const hint = meant === undefined ? '' : `do you mean ${showValue(meant)}? Or `;
  const remedies = `say that it is the key ${optionFor('--key-column', name)} or to be ignored ${optionFor('--ignore-column', name)}`;
  return `Unknown field ${showValue(name)}; ${hint}${remedies}. A row has ${rowFieldWords(keyField)}.`;
}
