import { createReadStream } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'csv-parse/sync';
import { InputInvalidError } from '../client/errors';
import { parseDuration } from '../core/time';
import { parseJson } from '../core/json';
import { isRequestId } from '../core/create-outcome';
import { errorCode, errorMessage } from '../core/text';
import type { Settlement } from '../reconcile/settle';

/**
 * The request ids of a file, or of standard input for `-`. Throws {@link InputInvalidError} with the file's name, every
 * line that is wrong, and what to do.
 */
export async function readRequestIds(
  file: string,
  { cwd, stdin }: { readonly cwd: string; readonly stdin: NodeJS.ReadableStream },
): Promise<readonly string[]> {
  const parsed = parseRequestIds(await readText(file, cwd, stdin));
  if ('requestIds' in parsed) return parsed.requestIds;
  throw new InputInvalidError(
    parsed.problems.map((problem) => `--from ${JSON.stringify(file)}: ${problem}`),
    'arguments',
  );
}

async function readText(file: string, cwd: string, stdin: NodeJS.ReadableStream): Promise<string> {
  if (file === '-') return await text(stdin);
  try {
    return await text(createReadStream(path.resolve(cwd, file)));
  } catch (error) {
    const reason = errorCode(error) || errorMessage(error);
    throw new InputInvalidError(
      [
        `--from is ${JSON.stringify(file)}, which cannot be read (${reason}); give a readable file, or "-" for standard input.`,
      ],
      'arguments',
    );
  }
}

/** The moment that `--since` means: a duration before now, or a date. Throws {@link InputInvalidError}. */
export function sinceMs(since: string | undefined, nowMs: number, option = '--since'): number {
  if (since === undefined) return 0;
  const durationMs = parseDuration(since);
  const atMs = durationMs === undefined ? dateMs(since) : nowMs - durationMs;
  if (!Number.isNaN(atMs)) return atMs;
  throw new InputInvalidError(
    [`${option} is ${JSON.stringify(since)}; give a duration such as "30d", or a date such as "2026-03-01".`],
    'arguments',
  );
}

/** Of a day that there is: `Date` takes the 31st of February for the 3rd of March. */
function dateMs(text: string): number {
  const [day] = /^\d{4}-\d{2}-\d{2}(?![^T ])/.exec(text) ?? [];
  const startMs = Date.parse(day ?? '');
  const isDay = !Number.isNaN(startMs) && new Date(startMs).toISOString().slice(0, 10) === day;
  return isDay ? Date.parse(text) : Number.NaN;
}

/** What `--settle WORKFLOW_ID/NUMBER=REQUEST_ID` says. Throws {@link InputInvalidError}. */
export function parseSettlement(value: string, force: boolean): Settlement {
  const [, workflowId = '', number = '', answer = ''] = /^(.+)\/([1-9]\d{0,8})=(.+)$/.exec(value) ?? [];
  if (workflowId !== '' && isRequestId(answer)) {
    return { workflowId, createNumber: Number(number), requestId: answer === 'none' ? null : answer, force };
  }
  throw new InputInvalidError(
    [
      `--settle is ${JSON.stringify(value)}; give WORKFLOW_ID/NUMBER=REQUEST_ID, or WORKFLOW_ID/NUMBER=none when nothing was created.`,
    ],
    'arguments',
  );
}

/** The names of the column or field that holds a request id. */
const fieldNames = ['requestId', 'request_id'] as const;
/** Problems that are listed; the rest is counted. */
const maxProblems = 10;

/** The request ids of a text, or what is wrong with it, each problem with its line and a remedy. */
export type ParsedRequestIds =
  { readonly requestIds: readonly string[] } | { readonly problems: readonly [string, ...string[]] };

/**
 * Reads request ids: one a line, or JSON Lines, or CSV (commas, semicolons or tabs), with a field or column `requestId`
 * or `request_id`. Empty lines do not count. Pure.
 *
 * @internal exported for tests
 */
export function parseRequestIds(text: string): ParsedRequestIds {
  const rows = readRows(text);
  if ('problem' in rows) return { problems: [rows.problem] };
  const [first, ...others] = rows.filter(({ value }) => !isRequestId(value)).map(describeProblem);
  if (first === undefined) return { requestIds: rows.map(({ value }) => value).filter(isRequestId) };
  if (others.length < maxProblems) return { problems: [first, ...others] };
  const shown = maxProblems - 2;
  return { problems: [first, ...others.slice(0, shown), `And ${others.length - shown} more lines.`] };
}

interface Row {
  readonly line: number;
  readonly value: unknown;
}

function readRows(text: string): readonly Row[] | { readonly problem: string } {
  const [header = ''] = text.trimStart().split(/\r?\n/, 1);
  if (header.startsWith('{'))
    return readLines(text).map(({ line, value }) => ({ line, value: findId(parseJson(value)) }));
  return fieldNames.some((name) => header.includes(name)) ? csvRows(text) : readLines(text);
}

function readLines(text: string): { readonly line: number; readonly value: string }[] {
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
    return rows.map(({ record, info }) => ({ line: info.lines, value: findId(record) }));
  } catch (error) {
    const words = errorMessage(error);
    return { problem: `It begins like CSV and cannot be read as such: ${words}; correct it, or give one id a line.` };
  }
}

function findId(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.entries(value).find(([name]) => fieldNames.some((known) => known === name))?.[1];
}

function describeProblem({ line, value }: Row): string {
  if (value === undefined || value === '') return `Line ${line} has no request id; give a field "requestId".`;
  const shown = JSON.stringify(value).slice(0, 80);
  return `Line ${line}: ${shown} is not a request id; give one a line, without spaces, or a column "requestId".`;
}
