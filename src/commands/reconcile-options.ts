import { createReadStream } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { InputInvalidError } from '../client/errors';
import { parseDuration } from '../domain/time';
import { isRequestId } from '../domain/create-outcome';
import { errorCode, errorMessage } from '../domain/text';
import { parseRequestIds } from '../reconcile/parse-request-ids';
import type { Settlement } from '../reconcile/settle-record';

/**
 * The request ids of a file, or of standard input for `-`. Throws {@link InputInvalidError} with the file's name, every
 * line that is wrong, and what to do.
 */
export async function readRequestIds(
  file: string,
  { cwd, stdin }: { readonly cwd: string; readonly stdin: NodeJS.ReadableStream },
): Promise<readonly string[]> {
  const parsed = parseRequestIds(await contentOf(file, cwd, stdin));
  if ('requestIds' in parsed) return parsed.requestIds;
  throw new InputInvalidError(parsed.problems.map((problem) => `--from ${JSON.stringify(file)}: ${problem}`));
}

async function contentOf(file: string, cwd: string, stdin: NodeJS.ReadableStream): Promise<string> {
  if (file === '-') return await text(stdin);
  try {
    return await text(createReadStream(path.resolve(cwd, file)));
  } catch (error) {
    const reason = errorCode(error) || errorMessage(error);
    throw new InputInvalidError([
      `--from is ${JSON.stringify(file)}, which cannot be read (${reason}); give a readable file, or "-" for standard input.`,
    ]);
  }
}

/** The moment that `--since` means: a duration before now, or a date. Throws {@link InputInvalidError}. */
export function sinceMs(since: string | undefined, nowMs: number): number {
  if (since === undefined) return 0;
  const durationMs = parseDuration(since);
  const atMs = durationMs === undefined ? dateMs(since) : nowMs - durationMs;
  if (!Number.isNaN(atMs)) return atMs;
  throw new InputInvalidError([
    `--since is ${JSON.stringify(since)}; give a duration such as "30d", or a date such as "2026-03-01".`,
  ]);
}

function dateMs(text: string): number {
  return /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
}

/** What `--settle WORKFLOW_ID/NUMBER=REQUEST_ID` says. Throws {@link InputInvalidError}. */
export function parseSettlement(value: string): Settlement {
  const [, workflowId = '', number = '', answer = ''] = /^(.+)\/([1-9]\d{0,8})=(.+)$/.exec(value) ?? [];
  if (workflowId !== '' && isRequestId(answer)) {
    return { workflowId, createNumber: Number(number), requestId: answer === 'none' ? null : answer };
  }
  throw new InputInvalidError([
    `--settle is ${JSON.stringify(value)}; give WORKFLOW_ID/NUMBER=REQUEST_ID, or WORKFLOW_ID/NUMBER=none when nothing was created.`,
  ]);
}
