import { parseInputKey } from '../core/input-values';
import { isFields } from '../core/json';
import { errorMessage, showValue } from '../core/text';
import { numberNotation } from './cells';
import type { SaidRow, SourceRow } from './prepare-row';
import { repeatedField } from './row-fields';
import { keyRemedy } from './row-key';
import { getKeyColumn, type RowOptions } from './row-options';
import { RowFileError, RowProblems } from './row-problem';
import { plainText } from './row-template';
import { addFaults, type RawRecord } from './split-records';

type Row = Readonly<Record<string, unknown>>;

/** @throws RowFileError when there are no rows. */
export async function* readJsonLines(
  records: AsyncIterable<RawRecord>,
  options: RowOptions,
  originals?: Map<number, unknown>,
): AsyncGenerator<SourceRow, void, undefined> {
  const keyField = getKeyColumn(options);
  let isEmpty = true;
  for await (const record of records) {
    const { line, text, fault } = record;
    if (text?.trim() === '') continue;
    isEmpty = false;
    const problems = new RowProblems({ line });
    if (fault !== undefined) {
      addFaults(record, problems);
      yield { line, problems };
      continue;
    }
    const row =
      originals?.has(line) === true
        ? toRow(originals.get(line), keyField, problems)
        : parseRow(text, keyField, problems);
    originals?.delete(line);
    yield { line, problems, said: row && sayObject(row, options, problems) };
  }
  if (!isEmpty) return;
  throw new RowFileError(
    originals === undefined
      ? 'The row file is empty; give it rows, one JSON object a line.'
      : 'There are no rows; give rowsFrom at least one, or start no batch.',
  );
}

function parseRow(text: string, keyField: string, problems: RowProblems): Row | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    problems.add('MALFORMED', `The row is not JSON (${showValue(errorMessage(error))}); give one object on one line.`);
    return undefined;
  }
  const row = toRow(value, keyField, problems);
  const repeated = row && repeatedField(text);
  if (row === undefined || repeated === undefined) return row;
  const message = `The field ${showValue(repeated)} is there twice in one object; give it once.`;
  problems.add('MALFORMED', message, { field: repeated, value: row[repeated] });
  return undefined;
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
  for (const name of template.columns.filter((column) => row[column] == null)) {
    problems.addField('VALUE', name, row[name], 'the template asks for it: give it in every row');
  }
  const notation = numberNotation(options.decimal);
  const { key, ...fields } = template.fill((name) => row[name] ?? undefined, problems, notation);
  const content = Object.fromEntries(template.columns.map((name) => [name, row[name]]));
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
  const text = plainText(row[name]);
  if (text === undefined) {
    const remedy = 'the names of archived files ask for it: give text, a number or a boolean';
    problems.addField('VALUE', name, row[name], remedy);
  }
  return text ?? '';
}
