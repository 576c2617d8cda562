import { pickPlace } from '../core/batch/row-place';
import { parseInputKey } from '../core/input-values';
import { isFields } from '../core/json';
import { errorMessage, showValue } from '../core/text';
import { numberNotation, trimUnseen } from './cells';
import { collectBytes } from './collect-bytes';
import type { SaidRow, SourceRow } from './prepare-row';
import { repeatedField } from './row-fields';
import { keyRemedy } from './row-key';
import { getKeyColumn, type RowOptions } from './row-options';
import { optionNames, RowFileError, RowProblems } from './row-problem';
import type { ObjectRecord } from './row-record';
import { plainText } from './row-template';
import { faultProblem, type RawRecord } from './split-records';

type Row = Readonly<Record<string, unknown>>;

/** Rows of named values. @throws RowFileError when there are none. */
export async function* readObjects(
  records: AsyncIterable<ObjectRecord>,
  options: RowOptions,
): AsyncGenerator<SourceRow, void, undefined> {
  const keyField = getKeyColumn(options);
  let isEmpty = true;
  for await (const record of records) {
    isEmpty = false;
    const problems = new RowProblems(record);
    const { problem, value, own } = record;
    if (problem !== undefined) problems.add(problem.code, problem.message, problem.at);
    const row = problem === undefined ? toRow(value, keyField, problems) : undefined;
    yield { ...pickPlace(record), problems, own, said: row && sayObject(row, options, problems) };
  }
  if (isEmpty) throw new RowFileError('There are no rows; give at least one, or start no batch.');
}

/** One object a line. */
export async function* readJsonLines(records: AsyncIterable<RawRecord>): AsyncGenerator<ObjectRecord, void, undefined> {
  for await (const record of records) {
    const { line, text, fault } = record;
    if (fault !== undefined) yield { line, problem: faultProblem(record) };
    else if (text.trim() !== '') yield { line, ...parseLine(text) };
  }
}

/** One text a line. */
export async function* readTextLines(
  records: AsyncIterable<RawRecord>,
  input: string,
): AsyncGenerator<ObjectRecord, void, undefined> {
  for await (const record of records) {
    const { line, text, fault } = record;
    if (fault !== undefined) yield { line, problem: faultProblem(record) };
    else if (trimUnseen(text) !== '') yield { line, value: { [input]: trimUnseen(text) } };
  }
}

function parseLine(text: string): Pick<ObjectRecord, 'value' | 'problem'> {
  try {
    const value: unknown = JSON.parse(text);
    const repeated = isFields(value) ? repeatedField(text) : undefined;
    if (repeated === undefined || !isFields(value)) return { value };
    const message = `The field ${showValue(repeated)} is there twice in one object; give it once.`;
    return { problem: { code: 'MALFORMED', message, at: { field: repeated, value: value[repeated] } } };
  } catch (error) {
    const message = `The row is not JSON (${showValue(errorMessage(error))}); give one object on one line.`;
    return { problem: { code: 'MALFORMED', message } };
  }
}

/** It is held as a whole. */
const maxDocumentBytes = 64 * 1024 * 1024;

/**
 * The objects of an array, which is the document, or its field of this name.
 * @throws RowFileError when that is no array, or the document no JSON.
 */
export async function* readJsonDocument(
  chunks: AsyncIterable<Uint8Array>,
  name?: string,
): AsyncGenerator<ObjectRecord, void, undefined> {
  const smaller = 'write one object a line, such as with jq -c';
  const bytes = await collectBytes(chunks, maxDocumentBytes, smaller);
  let document: unknown;
  let repeated: string | undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    document = JSON.parse(text);
    repeated = repeatedField(text);
  } catch (error) {
    throw new RowFileError(`The row file is not JSON (${showValue(errorMessage(error))}); give an array of objects.`);
  }
  if (repeated !== undefined) {
    throw new RowFileError(`The field ${showValue(repeated)} is there twice in one object; give it once.`);
  }
  const rows = name === undefined ? document : isFields(document) ? valueAt(document, name) : undefined;
  if (!Array.isArray(rows)) throw noArray(document, name);
  for (const [index, value] of rows.entries()) yield { line: index + 1, sheetRow: index + 1, value };
}

function noArray(document: unknown, name: string | undefined): RowFileError {
  const arrays = isFields(document) ? Object.keys(document).filter((one) => Array.isArray(document[one])) : [];
  const remedy =
    arrays.length === 0
      ? 'give an array of objects'
      : `its arrays are ${arrays
          .slice(0, 10)
          .map((one) => showValue(one))
          .join(', ')}: say which has the rows by ${optionNames.rows}`;
  const what = name === undefined ? 'The row file is one JSON value' : `The row file has no array ${showValue(name)}`;
  return new RowFileError(`${what}; ${remedy}.`);
}

/** The field of this name, or else where a path such as `image.src` leads to in objects. */
function valueAt(row: Row, name: string): unknown {
  if (Object.hasOwn(row, name)) return row[name];
  let value: unknown = row;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Row)[part];
  }
  return value;
}

function toRow(value: unknown, keyField: string, problems: RowProblems): Row | undefined {
  // Without a prototype, for fields such as `constructor` and `__proto__`.
  if (isFields(value)) return Object.assign(Object.create(null) as Record<string, unknown>, value);
  const shown = value === undefined ? 'undefined' : showValue(value);
  problems.add('MALFORMED', `The row is ${shown}; give an object { ${showValue(keyField)}, "inputs" }.`);
  return undefined;
}

function sayObject(row: Row, options: RowOptions, problems: RowProblems): SaidRow {
  const keyField = getKeyColumn(options);
  const { template, keyColumn, keepColumns = [], ignoreColumns = [] } = options;
  if (keyColumn !== undefined && row[keyColumn] === undefined) {
    problems.addField('KEY', keyColumn, undefined, 'give every row its key');
  } else if (template?.hasKey !== true && keyField in row && row[keyField] === undefined) {
    problems.add('KEY', `"key" is there and undefined; ${keyRemedy}.`, { field: keyField, value: undefined });
  }
  const columns = Object.fromEntries(keepColumns.map((name) => [name, columnText(row, name, problems)]));
  if (template === undefined) {
    const aside = new Set([keyField, ...keepColumns, ...ignoreColumns]);
    // A program's rows may have "key", unset, beside the column that is the key.
    if (row['key'] == null) aside.add('key');
    const entries = Object.entries(row).filter(([name]) => !aside.has(name));
    const fields = withInputsInPlace(entries, problems);
    return { fields, key: row[keyField], keyField, content: { ...fields, ...columns }, columns };
  }
  for (const name of template.columns.filter((column) => valueAt(row, column) == null)) {
    problems.addField('VALUE', name, valueAt(row, name), 'the template asks for it: give it in every row');
  }
  const notation = numberNotation(options.decimal);
  const { key, ...fields } = template.fill((name) => valueAt(row, name) ?? undefined, problems, notation);
  const content = Object.fromEntries(template.columns.map((name) => [name, valueAt(row, name)]));
  const own = key === undefined ? { key: row[keyField], keyField } : { key, keyField: template.keyColumn ?? 'key' };
  return { fields, ...own, content: { ...content, ...columns }, columns };
}

/** A field that is an input key is an input, as in a table. */
function withInputsInPlace(entries: readonly (readonly [string, unknown])[], problems: RowProblems): Row {
  const isInput = ([name]: readonly [string, unknown]): boolean => parseInputKey(name) !== undefined;
  const inputs = Object.fromEntries(entries.filter(isInput));
  const fields = Object.fromEntries(entries.filter((entry) => !isInput(entry)));
  const { inputs: own } = fields;
  if (Object.keys(inputs).length === 0 || (own !== undefined && !isFields(own))) return fields;
  for (const name of Object.keys(inputs)) {
    if (own !== undefined && name in own) {
      problems.addField('VALUE', name, inputs[name], 'the row’s "inputs" have it, too: give it once');
    }
  }
  return { ...fields, inputs: { ...inputs, ...own } };
}

function columnText(row: Row, name: string, problems: RowProblems): string {
  const value = valueAt(row, name);
  const text = plainText(value);
  if (text === undefined) {
    const remedy = 'the names of archived files ask for it: give text, a number or a boolean';
    problems.addField('VALUE', name, value, remedy);
  }
  return text ?? '';
}
