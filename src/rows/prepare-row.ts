import path from 'node:path';
import { lookup } from 'mime-types';
import { longFolderProblem, reservedFolderProblem } from '../contract/archive-folder';
import { parseTaskInput } from '../contract/parse-task-input';
import { type NewTaskInput, inputDigest } from '../contract/task-input';
import { isExactNumber, parseInputKey } from '../core/input-values';
import { isFields, isRecord } from '../core/json';
import { pickPlace } from '../core/batch/row-place';
import { showValue } from '../core/text';
import { isUri } from '../core/uri';
import { maxPreparedRowBytes, type PreparedRow, preparedRowLine } from './prepared-rows';
import { checkRowFields, InputProblemFields, type Place } from './row-fields';
import { givenKey, deriveKey, keyRemedy, maxOriginalKeyLength, type RowKey } from './row-key';
import type { RowOptions } from './row-options';
import { optionFor, type RowProblems } from './row-problem';
import type { RowTemplate } from './row-template';
import type { SaidRow, SourceRow } from './source-row';
import { trimUnseen } from './cells';
import { appColumn } from './table-columns';

/** What is left of a row that cannot become a task: enough to check its key and its files, too. */
export interface RefusedRow extends Pick<PreparedRow, 'line' | 'sheetRow' | 'table' | 'cells'> {
  /** Null when it gives none that can be one. */
  readonly key: RowKey | null;
  readonly inputs: Readonly<Record<string, unknown>>;
}

/** Makes the input of a task from a row; what is left of it when that is not possible, with the problems added. */
export function prepareRow(
  { problems, said, own = {}, ...source }: SourceRow,
  index: number,
  folder: string,
  options: RowOptions,
): { readonly row: PreparedRow } | { readonly refused: RefusedRow | null } {
  if (said === undefined) return { refused: null };
  const place = pickPlace(source);
  checkRowFields(said.fields, options, problems);
  checkFixedFields(said.fields, options, problems);
  const ownKey = readKey(said, problems);
  // A template that names the app has reported what keeps it from being one.
  const isAppRefused = options.template?.hasApp === true && problems.found.length > 0;
  if (options.common?.webAppId === undefined && !(appColumn in said.fields) && !isAppRefused) {
    const option = optionFor('webAppId', null, options);
    problems.addField('INPUT', appColumn, undefined, `give it in every row, or one app for all rows ${option}`);
  }
  const inputs = rowInputs(said.fields, folder, options, problems);
  const fixed = Object.entries(options.fixed ?? {}).filter(([, { value }]) => value !== undefined);
  const fixedValues = Object.fromEntries(fixed.map(([name, { value }]) => [name, value]));
  const input: unknown = { ...options.common, ...said.fields, ...fixedValues, inputs };
  const cells = new Map(own.table?.columns.map((column, index) => [column, own.cells?.[index] ?? '']));
  if (problems.found.length > 0 || !isTaskInput(input, options, { problems, cells })) {
    if (isRecord(input)) addOtherInputs(input, options, { problems, cells });
    return { refused: { ...place, key: ownKey ?? null, inputs: isRecord(inputs) ? inputs : {}, ...own } };
  }
  const rowKey = ownKey ?? deriveKey(said.content);
  const digest = inputDigest(input);
  const row: PreparedRow = { index, ...place, ...rowKey, input, digest, columns: said.columns };
  const bytes = Buffer.byteLength(preparedRowLine(row));
  if (bytes <= maxPreparedRowBytes) return { row: { ...row, ...own } };
  problems.add(
    'TOO_LARGE',
    `The row makes an input of ${bytes} bytes, more than a task takes; give long values as files.`,
  );
  return { refused: null };
}

/**
 * Adds the problems of those inputs whose cells have none: of the others, and of the task as a whole, they would be
 * repetitions.
 */
function addOtherInputs(input: object, { template }: RowOptions, found: FoundInRow): void {
  const { problems } = found;
  const { problems: refusals = [] } = parseTaskInput(input);
  const places = new InputProblemFields(input);
  for (const problem of refusals) {
    const place = places.of(problem);
    if (place === undefined || parseInputKey(place.field) === undefined) continue;
    const columns = template?.inputColumns.get(place.field) ?? [place.field];
    if (columns.some((column) => problems.has(column))) continue;
    addInputProblem(problem, place, template, found);
  }
}

/** What is wrong with a row, and its cells by their columns; nothing of JSONL. */
interface FoundInRow {
  readonly problems: RowProblems;
  readonly cells: ReadonlyMap<string, string>;
}

/** A problem of the task's input; of what a template makes of columns, the message names these, too. */
function addInputProblem(
  problem: string,
  place: Place | undefined,
  template: RowTemplate | undefined,
  { problems, cells }: FoundInRow,
): void {
  const { field = '' } = place ?? {};
  const columns = template?.inputColumns.get(field) ?? template?.fieldColumns.get(field) ?? [];
  const [column, ...others] = columns;
  if (place === undefined || column === undefined) {
    problems.add('INPUT', problem, place);
    return;
  }
  const named = `column${others.length > 0 ? 's' : ''} ${columns.map((name) => showValue(name)).join(', ')}`;
  const at = others.length > 0 ? place : { field: column, value: cells.get(column) ?? place.value };
  problems.add('INPUT', `${problem.replace(/\.$/, '')} (${named}).`, at);
}

function checkFixedFields(fields: object, { fixed = {} }: RowOptions, problems: RowProblems): void {
  for (const [name, value] of Object.entries(fields)) {
    const field = Object.hasOwn(fixed, name) ? fixed[name] : undefined;
    if (field === undefined || value === undefined || value === field.value) continue;
    const remedy = 'leave it out of the row, or leave out the option';
    problems.addField('INPUT', name, value, `${field.option} holds for every row; ${remedy}`);
  }
}

function isTaskInput(input: unknown, { batchId, template }: RowOptions, inRow: FoundInRow): input is NewTaskInput {
  const { plan, problems: found = [] } = parseTaskInput(input);
  const folder =
    plan && (reservedFolderProblem(plan.archiveFolder, batchId ?? null) ?? longFolderProblem(plan.archiveFolder));
  const all = folder === undefined ? found : [folder];
  if (all.length === 0) return true;
  const places = new InputProblemFields(input);
  for (const problem of all) addInputProblem(problem, places.of(problem), template, inRow);
  return false;
}

/** `undefined` when the row gives none. */
function readKey({ key, keyField }: SaidRow, problems: RowProblems): RowKey | undefined {
  if (key === undefined) return undefined;
  const text = typeof key === 'number' && isExactNumber(key) ? String(key) : key;
  // A space at the end of a key is invisible: with it the row would be another one, and paid for again.
  const trimmed = typeof text === 'string' ? trimUnseen(text) : '';
  if (trimmed !== '' && trimmed.length <= maxOriginalKeyLength) return givenKey(trimmed);
  problems.addField('KEY', keyField, key, keyRemedy);
  return undefined;
}

/**
 * The inputs of a row's task: its own over those of all rows, with absolute paths. What is no object is returned
 * unchanged: the check of the input reports it.
 */
function rowInputs(
  fields: Readonly<Record<string, unknown>>,
  folder: string,
  options: RowOptions,
  problems: RowProblems,
): unknown {
  const { constants } = options;
  if (!('inputs' in fields)) return constants ?? {};
  const { inputs } = fields;
  if (!isFields(inputs)) return inputs;
  const own = Object.entries(inputs).map(([key, value]) => [key, ownInput(key, value, folder, options, problems)]);
  return { ...constants, ...Object.fromEntries(own) } as unknown;
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
    const asText = `text that begins so is named ${optionFor('textColumns', key, options)}`;
    problems.addField('VALUE', key, value, `expected { "file": … } for a file; ${asText}`);
  }
  if (!isFields(value) || typeof value['file'] !== 'string') return value;
  const form = forms[key];
  const file =
    value['file'].trim() === '' || isUri(value['file']) ? value['file'] : path.resolve(folder, value['file']);
  return { ...(form !== undefined && { as: form }), ...value, file };
}

/** Whether a text ends in the extension of a picture, a video or a sound. */
export function looksLikeMediaFile(text: string): boolean {
  return /^(?:image|video|audio)\//.test(lookup(path.extname(text)) || '');
}
