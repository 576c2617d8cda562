import type { FileHandle } from 'node:fs/promises';
import { parse } from 'node:path';
import type { Readable } from 'node:stream';
import type { S3Client } from '../s3/aws-sdk';
import type { S3Place } from '../../core/uri';
import { describeMismatch, headBytes } from '../content-check';
import { safeCause, SourceError, type SourceErrorCode } from '../errors';
import { lookUpContentType } from '../local-file';
import type { MinimumRate } from '../minimum-rate';
import { spoolFile, SpoolError } from '../spool';

export interface ObjectRules {
  readonly client: S3Client;
  readonly places: readonly S3Place[];
}

/** What a storage takes in one PUT. */
export const maxFileBytes = 5 * 1024 ** 3;

export interface SourceRules {
  readonly inputRoots: readonly string[];
  /** Lower-case hosts, with a port where one is meant, that may be asked although not public, also by http. */
  readonly inputHosts: readonly string[];
  /** Absent: no object may be read. */
  readonly objects?: ObjectRules;
  /** Absent: any rate. */
  readonly minimumRate?: MinimumRate;
  readonly maxBytes: number;
  /** For files from elsewhere while they are in use; made when it is missing. */
  readonly spoolFolder: string;
}

export interface OpenedSource {
  /** Without any folder. */
  readonly name: string;
  readonly sizeBytes: number;
  /** Read it by position, so that several can read at once. */
  readonly file: FileHandle;
  readonly contentType: string;
  /** Closes the file, which deletes a temporary copy. May be repeated. */
  release(): Promise<void>;
}

export type Fail = (code: SourceErrorCode, problem: string, remedy: string, cause?: unknown) => SourceError;

export interface IncomingSource {
  readonly name: string;
  readonly announcedBytes?: number;
  /** A server may answer a link with something else than the file. */
  readonly link?: { readonly askedName: string; readonly mediaType: string };
  readonly rules: Pick<SourceRules, 'maxBytes' | 'spoolFolder'>;
  readonly signal?: AbortSignal;
  readonly onProgress?: OnProgress;
  readonly fail: Fail;
}

/** Called often, with the bytes received so far. */
export type OnProgress = (bytes: number) => void;

export function createFail(source: string): Fail {
  return (code, problem, remedy, cause) =>
    new SourceError(code, { source, problem, remedy }, cause === undefined ? undefined : { cause: safeCause(cause) });
}

/** Throws SourceError where the content is not what its name says; without a link, only for a page. */
export async function requireContentOfName(
  { name, file }: Pick<OpenedSource, 'name' | 'file'>,
  fail: Fail,
  link?: IncomingSource['link'],
): Promise<void> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
  const head = buffer.subarray(0, bytesRead);
  if (link === undefined && !/^\uFEFF?\s*</.test(head.toString('utf8'))) return;
  for (const each of link === undefined ? [name] : [link.askedName, name]) {
    // A page is never the file of a link that names no type.
    const isTypeless = link !== undefined && lookUpContentType(each) === 'application/octet-stream';
    const content = { name: isTypeless ? 'input.bin' : each, head, mediaType: link?.mediaType };
    const problem = describeMismatch(content);
    const remedy =
      link === undefined ? 'give the file itself' : 'use a link that gives the file itself, without a sign-in';
    if (problem !== undefined) throw fail('NOT_THE_FILE', `does not have the content of its name: ${problem}`, remedy);
  }
}

/** Without separators, invisible characters and halves of characters; cut, with its extension. */
export function plainFileName(name: string): string {
  const { name: stem, ext } = parse(name.replace(/[\p{Cc}\p{Cf}\p{Cs}/\\]/gu, '_'));
  return `${cut(stem, 100)}${cut(ext, 20)}` || 'input';
}

/** No storage takes half of a surrogate pair. */
function cut(text: string, maxLength: number): string {
  return text.slice(0, maxLength).replace(/\p{Cs}$/u, '');
}

/** Streams a source into a nameless temporary file. Throws SourceError, the signal's reason, or the body's error. */
export async function spoolSource(body: Readable, incoming: IncomingSource): Promise<OpenedSource> {
  const { name, announcedBytes = 0, link, rules, signal, onProgress, fail } = incoming;
  const { maxBytes, spoolFolder } = rules;
  const requireSmall = (bytes: number): void => {
    if (bytes <= maxBytes) return;
    throw fail('TOO_LARGE', `has more than ${maxBytes} bytes`, `give a file of at most ${maxBytes} bytes`);
  };
  requireSmall(announcedBytes);
  const onBytes = (bytes: number): void => {
    onProgress?.(bytes);
    requireSmall(bytes);
  };
  const { file, bytes } = await spoolFile(body, spoolFolder, { signal, onBytes }).catch((error: unknown) => {
    if (!(error instanceof SpoolError)) throw error;
    throw fail('UNREADABLE_NOW', `cannot be brought here: ${error.problem}`, error.remedy, error.cause);
  });
  try {
    if (bytes === 0) throw fail('EMPTY', 'is empty', 'give a file that has content');
    await requireContentOfName({ name, file }, fail, link);
    return { name, sizeBytes: bytes, file, contentType: lookUpContentType(name), release: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}
