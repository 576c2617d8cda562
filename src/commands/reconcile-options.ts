import { createReadStream } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { parse } from 'csv-parse/sync';
import { InputInvalidError } from '../client/errors';
import { parseDate, parseDuration } from '../core/time';
import { parseJson } from '../core/json';
import { isRequestId } from '../core/create-outcome';
import { errorCode, errorMessage } from '../core/text';
import type { Settlement } from '../reconcile/settle';
import type { CommandContext } from './command-context';

/** `-`: standard input. Throws {@link InputInvalidError} with the file's name, every wrong line, and the remedy. */
export async function readRequestIds(
  file: string,
  { cwd, stdin }: Pick<CommandContext, 'cwd' | 'stdin'>,
): Promise<readonly string[]> {
  let content: string;
  try {
    content = await text(file === '-' ? stdin() : createReadStream(path.resolve(cwd, file)));
  } catch (error) {
    const reason = errorCode(error) || errorMessage(error);
    const problem = `--from is ${JSON.stringify(file)}, which cannot be read (${reason}); give a readable file, or "-" for standard input.`;
    throw new InputInvalidError([problem], 'arguments');
  }
  const { requestIds, problems } = parseRequestIds(content);
  if (problems.length === 0) return requestIds;
  const named = problems.map((problem) => `--from ${JSON.stringify(file)}: ${problem}`);
  throw new InputInvalidError(named, 'arguments');
}

/** A duration before now, or a date. Throws {@link InputInvalidError}. */
export function sinceMs(since: string | undefined, nowMs: number, option = '--since'): number {
  if (since === undefined) return 0;
  const durationMs = parseDuration(since);
  const atMs = durationMs === undefined ? parseDate(since) : nowMs - durationMs;
  if (atMs !== undefined) return atMs;
  throw new InputInvalidError(
    [`${option} is ${JSON.stringify(since)}; give a duration such as "30d", or a date such as "2026-03-01".`],
    'arguments',
  );
}

/** `WORKFLOW_ID/NUMBER=REQUEST_ID`. Throws {@link InputInvalidError}. */
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

/** The column or field of a request id. */
const fieldNames = ['requestId', 'request_id'] as const;
/** The rest is counted. */
const maxProblems = 10;

interface Row {
  readonly line: number;
  readonly value: unknown;
}

/**
 * One id a line, JSON Lines, or CSV (commas, semicolons or tabs) with `requestId` or `request_id`. Empty lines do not
 * count. Each problem has its line and a remedy.
 * @internal exported for tests
 */
export function parseRequestIds(content: string): {
  readonly requestIds: readonly string[];
  readonly problems: readonly string[];
} {
  let rows: readonly Row[];
  try {
    rows = readRows(content);
  } catch (error) {
    const words = `It begins like CSV and cannot be read as such: ${errorMessage(error)}`;
    return { requestIds: [], problems: [`${words}; correct it, or give one id a line.`] };
  }
  const requestIds = rows.map(({ value }) => value).filter(isRequestId);
  const problems = rows.filter(({ value }) => !isRequestId(value)).map(describeProblem);
  if (problems.length <= maxProblems) return { requestIds, problems };
  const shown = problems.slice(0, maxProblems - 1);
  return { requestIds, problems: [...shown, `And ${problems.length - shown.length} more lines.`] };
}

/** Throws what the reader of CSV throws. */
function readRows(content: string): readonly Row[] {
  const [header = ''] = content.trimStart().split(/\r?\n/, 1);
  if (header.startsWith('{')) {
    return readLines(content).map(({ line, value }) => ({ line, value: findId(parseJson(value)) }));
  }
  if (!fieldNames.some((name) => header.includes(name))) return readLines(content);
  const rows: { record: Record<string, string>; info: { lines: number } }[] = parse(content, {
    bom: true,
    columns: (names: string[]) => names.map((name) => name.trim()),
    delimiter: [',', ';', '\t'],
    info: true,
    skip_empty_lines: true,
    trim: true,
  });
  return rows.map(({ record, info }) => ({ line: info.lines, value: findId(record) }));
}

function readLines(content: string): { readonly line: number; readonly value: string }[] {
  return content
    .split('\n')
    .map((value, index) => ({ line: index + 1, value: value.replace(/^\uFEFF/, '').trim() }))
    .filter(({ value }) => value !== '');
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
