import { createHash } from 'node:crypto';
import path from 'node:path';
import { digestedInput } from '../contract/digested-input';
import { parseTaskInput } from '../contract/parse-task-input';
import type { NewTaskInput } from '../contract/task-input';
import { isExactNumber, isFileUri } from '../domain/input-text';
import { isRecord } from '../domain/is-record';
import { maxPreparedRowBytes, type PreparedRow, preparedRowLine } from './prepared-row';
import { givenKey, keyOfContent, maxOriginalKeyLength, type RowKey } from './row-key';
import type { RowOptions } from './row-options';
import type { RowProblems } from './row-problem';
import type { SourceRow } from './source-row';
import { appColumn } from './table-columns';

/** Of a task's input, what a row cannot say: a row makes one new task. */
const refusedFields = ['adopt', 'batch', 'createNumber'];

/** Makes the input of a task of what a row says; `undefined` when that is not possible, with the reasons added. */
export function prepareRow(
  { line, problems, said }: SourceRow,
  index: number,
  folder: string,
  options: RowOptions,
): PreparedRow | undefined {
  if (said === undefined) return undefined;
  for (const name of refusedFields) {
    if (said.fields[name] !== undefined) problems.addField('INPUT', name, said.fields[name], 'a row cannot have it');
  }
  const ownKey = keyOf(said.key, problems);
  if (options.common?.webAppId === undefined && !(appColumn in said.fields)) {
    problems.addField('INPUT', appColumn, undefined, 'give it in every row, or one app for all rows');
  }
  const input: unknown = {
    ...options.common,
    ...said.fields,
    inputs: inputsOf(said.fields, folder, options, problems),
  };
  // The problems of the row itself are reason enough: what they leave of the input would only repeat them.
  if (problems.found.length > 0 || !isTaskInput(input, problems)) return undefined;
  const rowKey = ownKey ?? keyOfContent(said.content);
  const digest = digestOfInput(input);
  const row: PreparedRow = { index, line, ...rowKey, input, digest, columns: said.columns };
  const bytes = Buffer.byteLength(preparedRowLine(row));
  if (bytes <= maxPreparedRowBytes) return row;
  problems.add(
    'TOO_LARGE',
    `The row makes an input of ${bytes} bytes, more than a task takes; give long values as files.`,
  );
  return undefined;
}

/** What tells a row's input from another (SHA-256, hex): the input digest that its task has. */
export function digestOfInput(input: NewTaskInput): string {
  return createHash('sha256').update(digestedInput(input)).digest('hex');
}

function isTaskInput(input: unknown, problems: RowProblems): input is NewTaskInput {
  const parsed = parseTaskInput(input);
  for (const problem of parsed.problems ?? []) problems.add('INPUT', problem);
  return parsed.problems === undefined;
}

/** `undefined` when the row gives none. */
function keyOf(key: unknown, problems: RowProblems): RowKey | undefined {
  if (key === undefined) return undefined;
  const text = typeof key === 'number' && isExactNumber(key) ? String(key) : key;
  if (typeof text === 'string' && text !== '' && text.length <= maxOriginalKeyLength) return givenKey(text);
  const rest = `give text of 1 to ${maxOriginalKeyLength} characters, or no row a key`;
  problems.addField('KEY', 'key', key, rest);
  return undefined;
}

/** What is no object stays as it is, for the check of the whole input to say so. */
function inputsOf(
  { inputs }: Readonly<Record<string, unknown>>,
  folder: string,
  { constants, forms = {} }: RowOptions,
  problems: RowProblems,
): unknown {
  if (inputs === undefined) return constants ?? {};
  if (!isRecord(inputs)) return inputs;
  const own = Object.entries(inputs).map(([key, value]) => {
    if (typeof value === 'number' && !isExactNumber(value)) {
      problems.addField('VALUE', key, value, 'a double does not hold such a number exactly: give it as text');
    }
    if (!isRecord(value) || typeof value['file'] !== 'string') return [key, value] as const;
    const form = forms[key];
    return [key, { ...(form !== undefined && { as: form }), ...value, file: absolute(value['file'], folder) }] as const;
  });
  return { ...constants, ...Object.fromEntries(own) };
}

function absolute(file: string, folder: string): string {
  return file.trim() === '' || isFileUri(file) ? file : path.resolve(folder, file);
}
