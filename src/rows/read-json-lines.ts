import { numberNotation } from './cell-number';
import { parseInputKey } from '../domain/input-values';
import { isFields } from '../domain/json';
import { showValue, errorMessage } from '../domain/text';
import { addFaults, type RawRecord } from './split-records';
import { repeatedField } from './row-fields';
import { keyRemedy } from './row-key';
import { RowFileError, RowProblems } from './row-problem';
import { getKeyColumn, type RowOptions, type SourceRow } from './row-options';

/**
 * The rows of a JSONL file: one JSON object a line; lines without anything are passed over.
 *
 * @param originals - see {@link RowFile}; each is taken out.
 * @throws RowFileError when there is none.
 */
export async function* readJsonLines(
  records: AsyncIterable<RawRecord>,
  options: RowOptions,
  originals?: Map<number, unknown>,
): AsyncGenerator<SourceRow, void, undefined> {
  let isEmpty = true;
  for await (const record of records) {
    if (record.text?.trim() === '') continue;
    isEmpty = false;
    const problems = new RowProblems({ line: record.line });
    if (record.fault !== undefined) {
      addFaults(record, problems);
      yield { line: record.line, problems };
    } else {
      const keyField = getKeyColumn(options);
      const row =
        originals?.has(record.line) === true
          ? toRow(originals.get(record.line), keyField, problems)
          : parseRow(record.text, keyField, problems);
      originals?.delete(record.line);
      yield row === undefined ? { line: record.line, problems } : sourceRow(record.line, row, options, problems);
    }
  }
  if (!isEmpty) return;
  throw new RowFileError([
    originals === undefined
      ? 'The row file is empty; give it rows, one JSON object a line.'
      : 'There are no rows; give rowsFrom at least one, or start no batch.',
  ]);
}

type Row = Readonly<Record<string, unknown>>;

function sourceRow(line: number, row: Row, options: RowOptions, problems: RowProblems): SourceRow {
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
    // A program's rows may have the usual field, unset, beside the column that is the key.
    if (row['key'] == null) aside.add('key');
    const rest = Object.fromEntries(Object.entries(row).filter(([name]) => !aside.has(name)));
    const fields = withInputsInPlace(rest, problems);
    const said = { fields, key: row[keyField], keyField, content: { ...fields, ...columns }, columns };
    return { line, problems, said };
  }
  for (const name of template.columns) {
    if (row[name] == null)
      problems.addField('VALUE', name, row[name], 'the template asks for it: give it in every row');
  }
  const { key, ...fields } = template.fill((name) => row[name] ?? undefined, problems, numberNotation(options));
  const content = Object.fromEntries(template.columns.map((name) => [name, row[name]]));
  const own = key === undefined ? { key: row[keyField], keyField } : { key, keyField: template.keyColumn ?? 'key' };
  return { line, problems, said: { fields, ...own, content: { ...content, ...columns }, columns } };
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
  // Without a prototype: a field is what the row has, whatever its name is (`constructor`, `__proto__`).
  if (isFields(value)) return Object.assign(Object.create(null) as Record<string, unknown>, value);
  const shown = value === undefined ? 'undefined' : showValue(value);
  problems.add('MALFORMED', `The row is ${shown}; give an object { ${showValue(keyField)}, "inputs" }.`);
  return undefined;
}

/** A field that is an input key is an input, as a column of a table is. */
function withInputsInPlace(row: Row, problems: RowProblems): Row {
  const isInput = ([name]: readonly [string, unknown]): boolean => parseInputKey(name) !== undefined;
  const entries = Object.entries(row);
  const inputs = Object.fromEntries(entries.filter(isInput));
  const fields = Object.fromEntries(entries.filter((entry) => !isInput(entry)));
  const { inputs: own } = fields;
  if (Object.keys(inputs).length === 0) return fields;
  // What is no object is returned unchanged: the check of the input reports it.
  if (own !== undefined && !isFields(own)) return fields;
  for (const name of Object.keys(inputs)) {
    if (own !== undefined && name in own) {
      problems.addField('VALUE', name, inputs[name], 'the row’s "inputs" have it, too: give it once');
    }
  }
  return { ...fields, inputs: { ...inputs, ...own } };
}

function columnText(row: Row, name: string, problems: RowProblems): string {
  const value = row[name];
  if (typeof value === 'string' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  problems.addField('VALUE', name, value, 'the names of archived files ask for it: give text, a number or a boolean');
  return '';
}
