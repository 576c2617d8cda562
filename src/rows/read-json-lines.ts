import { numberNotation } from './cell-number';
import { parseInputKey } from '../domain/input-values';
import { isRecord } from '../domain/json';
import { showValue, errorMessage } from '../domain/text';
import { addFaults, type RawRecord } from './split-records';
import { repeatedField } from './row-fields';
import { RowFileError, RowProblems } from './row-problem';
import { getKeyColumn, type RowOptions, type SourceRow } from './row-options';

/**
 * The rows of a JSONL file: one JSON object a line; lines without anything are passed over.
 *
 * @throws RowFileError when there is none.
 */
export async function* readJsonLines(
  records: AsyncIterable<RawRecord>,
  options: RowOptions,
): AsyncGenerator<SourceRow, void, undefined> {
  let isEmpty = true;
  for await (const record of records) {
    if (record.text?.trim() === '') continue;
    isEmpty = false;
    const problems = new RowProblems({ line: record.line });
    if (record.fault !== undefined) {
      addFaults(record, problems);
      yield { line: record.line, problems };
    } else yield sourceRow(record.line, record.text, options, problems);
  }
  if (isEmpty) throw new RowFileError(['The row file is empty; give it rows, one JSON object a line.']);
}

function sourceRow(line: number, text: string, options: RowOptions, problems: RowProblems): SourceRow {
  const keyField = getKeyColumn(options);
  const row = parseObject(text, keyField, problems);
  if (row === undefined) return { line, problems };
  const { template, keyColumn, keepColumns = [], ignoreColumns = [] } = options;
  if (keyColumn !== undefined && row[keyColumn] === undefined) {
    problems.addField('KEY', keyColumn, undefined, 'give every row its key');
  }
  const columns = Object.fromEntries(keepColumns.map((name) => [name, columnText(row, name, problems)]));
  if (template === undefined) {
    const aside = new Set([keyField, ...keepColumns, ...ignoreColumns]);
    // A program's rows may have the usual field, unset, beside the column that is the key.
    if (row['key'] === null) aside.add('key');
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

function parseObject(
  text: string,
  keyField: string,
  problems: RowProblems,
): Readonly<Record<string, unknown>> | undefined {
  try {
    const row: unknown = JSON.parse(text);
    if (isRecord(row)) {
      const repeated = repeatedField(text);
      // Without a prototype: a field is what the row has, whatever its name is (`constructor`, `__proto__`).
      if (repeated === undefined) return Object.assign(Object.create(null) as Record<string, unknown>, row);
      const message = `The field ${showValue(repeated)} is there twice in one object; give it once.`;
      problems.add('MALFORMED', message, { field: repeated, value: row[repeated] });
      return undefined;
    }
    problems.add('MALFORMED', `The row is ${showValue(row)}; give an object { ${showValue(keyField)}, "inputs" }.`);
  } catch (error) {
    problems.add('MALFORMED', `The row is not JSON (${showValue(errorMessage(error))}); give one object on one line.`);
  }
  return undefined;
}

/** A field that is an input key is an input, as a column of a table is. */
function withInputsInPlace(
  row: Readonly<Record<string, unknown>>,
  problems: RowProblems,
): Readonly<Record<string, unknown>> {
  const isInput = ([name]: readonly [string, unknown]): boolean => parseInputKey(name) !== undefined;
  const entries = Object.entries(row);
  const inputs = Object.fromEntries(entries.filter(isInput));
  const fields = Object.fromEntries(entries.filter((entry) => !isInput(entry)));
  const { inputs: own } = fields;
  if (Object.keys(inputs).length === 0) return fields;
  // What is no object is returned unchanged: the check of the input reports it.
  if (own !== undefined && !isRecord(own)) return fields;
  for (const name of Object.keys(inputs)) {
    if (own !== undefined && name in own) {
      problems.addField('VALUE', name, inputs[name], 'the row’s "inputs" have it, too: give it once');
    }
  }
  return { ...fields, inputs: { ...inputs, ...own } };
}

function columnText(row: Readonly<Record<string, unknown>>, name: string, problems: RowProblems): string {
  const value = row[name];
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value);
  problems.addField('VALUE', name, value, 'the names of archived files ask for it: give text, a number or a boolean');
  return '';
}
