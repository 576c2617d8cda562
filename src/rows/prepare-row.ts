import { longFolderProblem, reservedFolderProblem } from '../contract/task-place';
import { inputDigest, type NewTaskInput } from '../contract/task-input';
import { parseTaskInput } from '../contract/parse-task-input';
import { isExactNumber } from '../domain/input-values';
import { InputProblemPlaces } from './input-problem-places';
import { maxPreparedRowBytes, type PreparedRow, preparedRowLine } from './prepared-row';
import { checkRowFields } from './row-fields';
import { rowInputs } from './row-inputs';
import { givenKey, keyOfContent, maxOriginalKeyLength, type RowKey } from './row-key';
import { keyColumnOf, type RowOptions } from './row-options';
import type { RowProblems } from './row-problem';
import type { SourceRow } from './source-row';
import { appColumn } from './table-columns';

/** Makes the input of a task of what a row says; `undefined` when that is not possible, with the reasons added. */
export function prepareRow(
  { line, problems, said }: SourceRow,
  index: number,
  folder: string,
  options: RowOptions,
): PreparedRow | undefined {
  if (said === undefined) return undefined;
  checkRowFields(said.fields, keyColumnOf(options), problems);
  checkFixedFields(said.fields, options, problems);
  const ownKey = keyOf(said.key, problems);
  if (options.common?.webAppId === undefined && !(appColumn in said.fields)) {
    problems.addField('INPUT', appColumn, undefined, 'give it in every row, or one app for all rows (--app)');
  }
  const input: unknown = {
    ...options.common,
    ...said.fields,
    ...fixedValues(options),
    inputs: rowInputs(said.fields, folder, options, problems),
  };
  // The problems of the row itself are reason enough: what they leave of the input would only repeat them.
  if (problems.found.length > 0 || !isTaskInput(input, options, problems)) return undefined;
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

function checkFixedFields(fields: object, { fixed = {} }: RowOptions, problems: RowProblems): void {
  for (const [name, value] of Object.entries(fields)) {
    const field = Object.hasOwn(fixed, name) ? fixed[name] : undefined;
    if (field === undefined || value === undefined || value === field.value) continue;
    problems.addField(
      'INPUT',
      name,
      value,
      `${field.option} holds for every row; leave it out of the row, or leave out the option`,
    );
  }
}

function fixedValues({ fixed = {} }: RowOptions): Readonly<Record<string, string>> {
  const given = Object.entries(fixed).flatMap(([name, { value }]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return Object.fromEntries(given);
}

/** What tells a row's input from another (SHA-256, hex): the input digest that its task has. */
export function digestOfInput(input: NewTaskInput): string {
  return inputDigest(input);
}

function isTaskInput(input: unknown, { batchId }: RowOptions, problems: RowProblems): input is NewTaskInput {
  const { plan, problems: found = [] } = parseTaskInput(input);
  const folder =
    plan && (reservedFolderProblem(plan.archiveFolder, batchId ?? null) ?? longFolderProblem(plan.archiveFolder));
  const all = folder === undefined ? found : [folder];
  if (all.length === 0) return true;
  const places = new InputProblemPlaces(input);
  for (const problem of all) problems.add('INPUT', problem, places.of(problem));
  return false;
}

/** `undefined` when the row gives none. */
function keyOf(key: unknown, problems: RowProblems): RowKey | undefined {
  if (key === undefined) return undefined;
  const text = typeof key === 'number' && isExactNumber(key) ? String(key) : key;
  // Nobody sees a space at the end of a key: with it the row would be another one, and paid for again.
  const trimmed = typeof text === 'string' ? text.trim() : '';
  if (trimmed !== '' && trimmed.length <= maxOriginalKeyLength) return givenKey(trimmed);
  const rest = `give text of 1 to ${maxOriginalKeyLength} characters, or no row a key`;
  problems.addField('KEY', 'key', key, rest);
  return undefined;
}
