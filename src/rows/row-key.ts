import { createHash } from 'node:crypto';
import { isTaskKey } from '../contract/workflow-ids';
import { canonicalJson } from '../domain/json';

/** Under which key a row's task runs. */
export interface RowKey {
  /** Matches `[A-Za-z0-9._-]{1,80}`. */
  readonly key: string;
  /** As the row gives it; `null` when it gives none. */
  readonly originalKey: string | null;
}

/** Longest key that a row may give, in characters. */
export const maxOriginalKeyLength = 500;
const maxSlugLength = 50;

/** The key that a row gives. One that cannot stand in a workflow id becomes a slug and a hash. */
export function givenKey(originalKey: string): RowKey {
  return { key: isTaskKey(originalKey) ? originalKey : slugAndHash(originalKey), originalKey };
}

/** The key of a row that gives none: the same content has the same key, in whatever order its columns stand. */
export function deriveKey(content: Readonly<Record<string, unknown>>): RowKey {
  return { key: `row-${sha256(canonicalJson(content)).slice(0, 24)}`, originalKey: null };
}

function slugAndHash(original: string): string {
  // Two encodings of the same accented letter are one key: they look the same.
  const text = original.normalize('NFC');
  const slug = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, maxSlugLength)
    .replace(/^-+|(?<!-)-+$/g, '');
  return `${slug === '' ? 'key' : slug}-${sha256(text).slice(0, 16)}`;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * The keys of a file's rows and the lines they stand on. Keys that differ only in case are one key: on many file
 * systems their archived files would be. Remembers a hash and a line for each: some 140 bytes a row.
 */
export class RowKeys {
  readonly #lines = new Map<string, number>();

  /** The line of the earlier row with this key; `undefined` for a key that is new. */
  add(key: string, line: number): number | undefined {
    const name = createHash('sha256').update(key.toLowerCase()).digest('base64').slice(0, 22);
    const earlier = this.#lines.get(name);
    if (earlier === undefined) this.#lines.set(name, line);
    return earlier;
  }
}
