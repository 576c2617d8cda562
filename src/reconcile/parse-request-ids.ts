import { parse } from 'csv-parse/sync';
import { parseJson } from '../domain/json';
import { isRequestId } from '../domain/create-outcome';
import { errorMessage } from '../domain/text';

/** The names of the column or field that holds a request id. */
const fieldNames = ['requestId', 'request_id'] as const;
/** More complaints about one file help nobody. */
const maxProblems = 10;

/** The request ids of a text, or what is wrong with it, each problem with its line and a remedy. */
export type ParsedRequestIds =
  { readonly requestIds: readonly string[] } | { readonly problems: readonly [string, ...string[]] };

/**
 * Reads request ids: one a line, or JSON Lines, or CSV (commas, semicolons or tabs), with a field or column `requestId`
 * or `request_id`. Empty lines do not count. Pure.
 */
export function parseRequestIds(text: string): ParsedRequestIds {
  const rows = rowsOf(text);
  if ('problem' in rows) return { problems: [rows.problem] };
  const [first, ...others] = rows.filter(({ value }) => !isRequestId(value)).map(problemOf);
  if (first !== undefined) return { problems: [first, ...cut(others)] };
  return { requestIds: rows.map(({ value }) => value).filter(isRequestId) };
}

interface Row {
  readonly line: number;
  readonly value: unknown;
}

function rowsOf(text: string): readonly Row[] | { readonly problem: string } {
  const [header = ''] = text.trimStart().split(/\r?\n/, 1);
  if (header.startsWith('{')) return linesOf(text).map(({ line, value }) => ({ line, value: idIn(parseJson(value)) }));
  return fieldNames.some((name) => header.includes(name)) ? csvRows(text) : linesOf(text);
}

function linesOf(text: string): { readonly line: number; readonly value: string }[] {
  return text
    .split('\n')
    .map((value, index) => ({ line: index + 1, value: value.replace(/^\uFEFF/, '').trim() }))
    .filter(({ value }) => value !== '');
}

function csvRows(text: string): readonly Row[] | { readonly problem: string } {
  try {
    const rows: { record: Record<string, string>; info: { lines: number } }[] = parse(text, {
      bom: true,
      columns: (names: string[]) => names.map((name) => name.trim()),
      delimiter: [',', ';', '\t'],
      info: true,
      skip_empty_lines: true,
      trim: true,
    });
    return rows.map(({ record, info }) => ({ line: info.lines, value: idIn(record) }));
  } catch (error) {
    const words = errorMessage(error);
    return { problem: `It begins like CSV and cannot be read as such: ${words}; correct it, or give one id a line.` };
  }
}

function idIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([name]) => fieldNames.some((known) => known === name))?.[1];
}

function problemOf({ line, value }: Row): string {
  if (value === undefined || value === '') return `Line ${line} has no request id; give a field "requestId".`;
  const shown = JSON.stringify(value).slice(0, 80);
  return `Line ${line}: ${shown} is not a request id; give one a line, without spaces, or a column "requestId".`;
}

function cut(problems: readonly string[]): readonly string[] {
  if (problems.length < maxProblems) return problems;
  const shown = maxProblems - 2;
  return [...problems.slice(0, shown), `And ${problems.length - shown} more lines.`];
}
