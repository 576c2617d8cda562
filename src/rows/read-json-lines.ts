import { isFields } from '../core/json';
import { showValue, errorMessage } from '../core/text';
import { addFaults, type RawRecord } from './split-records';
import { repeatedField } from './row-fields';
import { RowFileError, RowProblems } from './row-problem';
import { getKeyColumn, type RowOptions } from './row-options';
import { sayObject, type SourceRow } from './source-row';

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
      yield { line: record.line, problems, said: row && sayObject(row, options, problems) };
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
