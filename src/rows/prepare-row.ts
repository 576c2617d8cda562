import path from 'node:path';
import { longFolderProblem, reservedFolderProblem } from '../contract/archive-folder';
import { parseTaskInput } from '../contract/parse-task-input';
import { type NewTaskInput, inputDigest } from '../contract/task-input';
import { pickPlace, type RowPlace } from '../core/batch/row-place';
import { isExactNumber, parseInputKey } from '../core/input-values';
import { isFields, isRecord } from '../core/json';
import { showValue } from '../core/text';
import { isUri } from '../core/uri';
import { trimUnseen } from './cells';
import { looksLikeMediaFile } from './media-files';
import { maxPreparedRowBytes, type PreparedRow, preparedRowLine } from './prepared-rows';
import { appColumn, checkRowFields } from './row-fields';
import { deriveKey, givenKey, keyRemedy, maxOriginalKeyLength, type RowKey } from './row-key';
import type { RowOptions } from './row-options';
import { optionNames, RowProblems } from './row-problem';
import { type Variation, variedKey } from './vary';

export interface SaidRow {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly key: unknown;
  readonly keyField: string;
  readonly content: Readonly<Record<string, unknown>>;
  readonly columns: Readonly<Record<string, string>>;
}

export interface SourceRow extends RowPlace {
  readonly problems: RowProblems;
  readonly own?: Pick<PreparedRow, 'table' | 'cells'>;
  readonly said?: SaidRow;
}

/** What is left of a row that cannot become a task: its key and its files are checked, too. */
export interface RefusedRow extends Pick<PreparedRow, 'line' | 'sheetRow' | 'table' | 'cells'> {
  readonly key: RowKey | null;
  readonly inputs: Readonly<Record<string, unknown>>;
}

export function prepareRow(
  { problems, said, own = {}, ...source }: SourceRow,
  index: number,
  folder: string,
  options: RowOptions,
  variation?: Variation,
): { readonly row: PreparedRow } | { readonly refused: RefusedRow | null } {
  if (said === undefined) return { refused: null };
  const { fields, columns } = said;
  const { common, fixed = {}, template } = options;
  const place = pickPlace(source);
  checkRowFields(fields, options.keyColumn, problems);
  for (const [name, { value, option }] of Object.entries(fixed)) {
    const own = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (own === undefined || own === value) continue;
    const remedy = 'leave it out of the row, or leave out the option';
    problems.addField('INPUT', name, own, `${option} holds for every row; ${remedy}`);
  }
  const ownKey = variedOwnKey(said, variation, problems);
  // A template that names the app has reported the problem.
  const isAppRefused = template?.hasApp === true && problems.found.length > 0;
  if (common?.webAppId === undefined && !(appColumn in fields) && !isAppRefused) {
    const remedy = `give it in every row, or one app for all rows by ${optionNames.webAppId}`;
    problems.addField('INPUT', appColumn, undefined, remedy);
  }
  const inputs = rowInputs(fields, folder, options, problems, variation);
  const fixedValues = Object.entries(fixed).flatMap(([name, { value }]) =>
    value === undefined ? [] : [[name, value]],
  );
  const input: unknown = { ...common, ...fields, ...Object.fromEntries(fixedValues), inputs };
  if (!isTaskInput(input, options, problems, own)) {
    return { refused: { ...place, key: ownKey ?? null, inputs: isRecord(inputs) ? inputs : {}, ...own } };
  }
  const rowKey = ownKey ?? (variation ? variedKey(deriveKey(said.content), variation) : deriveKey(said.content));
  const row: PreparedRow = { index, ...place, ...rowKey, input, digest: inputDigest(input), columns };
  const bytes = Buffer.byteLength(preparedRowLine(row));
  if (bytes <= maxPreparedRowBytes) return { row: { ...row, ...own } };
  const tooLarge = `The row makes an input of ${bytes} bytes, more than a task takes; give long values as files.`;
  problems.add('TOO_LARGE', tooLarge);
  return { refused: null };
}

function isTaskInput(
  input: unknown,
  { batchId, template }: RowOptions,
  problems: RowProblems,
  own: NonNullable<SourceRow['own']>,
): input is NewTaskInput {
  const isGood = problems.found.length === 0;
  const { plan, problems: refusals = [] } = parseTaskInput(input);
  const folder =
    plan && (reservedFolderProblem(plan.archiveFolder, batchId ?? null) ?? longFolderProblem(plan.archiveFolder));
  const cells = new Map(own.table?.columns.map((column, index) => [column, own.cells?.[index] ?? '']));
  for (const refusal of folder === undefined ? refusals : [folder]) {
    const place = placeOf(refusal, input);
    const { field = '' } = place ?? {};
    const columns = template?.inputColumns.get(field) ?? template?.fieldColumns.get(field) ?? [];
    const isRepeated = (columns.length === 0 ? [field] : columns).some((column) => problems.has(column));
    if (!isGood && (parseInputKey(field) === undefined || isRepeated)) continue;
    const [column, ...others] = columns;
    if (place === undefined || column === undefined) {
      problems.add('INPUT', refusal, place);
      continue;
    }
    const named = `column${others.length > 0 ? 's' : ''} ${columns.map((name) => showValue(name)).join(', ')}`;
    const at = others.length > 0 ? place : { field: column, value: cells.get(column) ?? place.value };
    problems.add('INPUT', `${refusal.replace(/\.$/, '')} (${named}).`, at);
  }
  return problems.found.length === 0;
}

const fieldAtBeginning = /^(?:(?:inputs\[|The input key )("(?:[^"\\]|\\.)*")|(\w+) )/;

function placeOf(problem: string, input: unknown): { readonly field: string; readonly value: unknown } | undefined {
  if (!isRecord(input)) return undefined;
  const [, shownKey, field] = fieldAtBeginning.exec(problem) ?? [];
  const entries = Object.entries(shownKey !== undefined && isRecord(input['inputs']) ? input['inputs'] : input);
  const [found, value] =
    entries.find(([name]) => (shownKey === undefined ? name : showValue(name)) === (shownKey ?? field)) ?? [];
  return found === undefined ? undefined : { field: found, value };
}

function readKey({ key, keyField }: SaidRow, problems: RowProblems): RowKey | undefined {
  if (key === undefined) return undefined;
  const text = typeof key === 'number' && isExactNumber(key) ? String(key) : key;
  // With an invisible space it would be another row, paid again.
  const trimmed = typeof text === 'string' ? trimUnseen(text) : '';
  if (trimmed !== '' && trimmed.length <= maxOriginalKeyLength) return givenKey(trimmed);
  problems.addField('KEY', keyField, key, keyRemedy);
  return undefined;
}

/** Without a look at what is wrong with it. */
export function readRowKey(said: SaidRow): RowKey {
  return readKey(said, new RowProblems({ line: 0 })) ?? deriveKey(said.content);
}

function variedOwnKey(said: SaidRow, variation: Variation | undefined, problems: RowProblems): RowKey | undefined {
  const own = readKey(said, problems);
  if (own === undefined || variation === undefined) return own;
  const key = variedKey(own, variation);
  if ((key.originalKey ?? '').length <= maxOriginalKeyLength) return key;
  const remedy = `with the values of ${optionNames.vary} it has more than ${maxOriginalKeyLength} characters: shorten it`;
  problems.addField('KEY', said.keyField, said.key, remedy);
  return undefined;
}

function rowInputs(
  fields: Readonly<Record<string, unknown>>,
  folder: string,
  options: RowOptions,
  problems: RowProblems,
  variation?: Variation,
): unknown {
  const { constants } = options;
  const inputs = 'inputs' in fields ? fields['inputs'] : {};
  if (!isFields(inputs)) return inputs;
  const varied = variation?.inputs ?? {};
  for (const name of Object.keys(varied).filter((one) => Object.hasOwn(inputs, one))) {
    const remedy = `${optionNames.vary} gives it to every row: leave it out of the row, or leave out the option`;
    problems.addField('INPUT', name, inputs[name], remedy);
  }
  const own = Object.entries(inputs).map(([key, value]) => [key, ownInput(key, value, folder, options, problems)]);
  return { ...constants, ...varied, ...Object.fromEntries(own) } as unknown;
}

function ownInput(key: string, value: unknown, folder: string, options: RowOptions, problems: RowProblems): unknown {
  const { forms = {}, textColumns = [] } = options;
  const isText = textColumns.includes(key);
  if (key !== key.trim()) problems.addField('VALUE', key, value, 'expected a name without spaces around it');
  if (typeof value === 'number' && !Number.isNaN(value)) {
    if (isExactNumber(value)) return isText ? String(value) : value;
    problems.addField('VALUE', key, value, 'a double does not hold such a number exactly: give it as text');
  }
  // `@photos/cat.jpg` is a file in cells alone; `@ada` is text.
  const isMarked = typeof value === 'string' && value.startsWith('@');
  if (isMarked && !isText && (looksLikeMediaFile(value) || isUri(value.slice(1)))) {
    const remedy = `expected { "file": … } for a file; text that begins so is named by ${optionNames.textColumns}`;
    problems.addField('VALUE', key, value, remedy);
  }
  if (!isFields(value) || typeof value['file'] !== 'string') return value;
  const { file } = value;
  // Absent without a form: inputs are compared by their digest.
  const form = forms[key] === undefined ? {} : { as: forms[key] };
  return { ...form, ...value, file: file.trim() === '' || isUri(file) ? file : path.resolve(folder, file) };
}
