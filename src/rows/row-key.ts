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

/** Of a key as a row gives it, in characters. */
export const maxOriginalKeyLength = 500;
const maxSlugLength = 50;

/** The key that a row gives. One that cannot stand in a workflow id becomes a slug and a hash. */
export function givenKey(originalKey: string): RowKey {
  return { key: isTaskKey(originalKey) ? originalKey : slugAndHash(originalKey), originalKey };
}

/** The key of a row that gives none: the same content has the same key, in whatever order its columns stand. */
export function keyOfContent(content: Readonly<Record<string, unknown>>): RowKey {
  return { key: `row-${sha256(canonicalJson(content)).slice(0, 24)}`, originalKey: null };
}

function slugAndHash(original: string): string {
  // Two spellings of the same accented letter are one key: nobody could tell them apart.
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
