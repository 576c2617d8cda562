import { createHash, hash } from 'node:crypto';
import { isTaskKey } from '../contract/workflow-ids';
import { canonicalJson } from '../core/json';
import type { RowPlace } from '../core/batch/row-place';
import { foldCase } from '../core/text';

export interface RowKey {
  readonly key: string;
  readonly originalKey: string | null;
}

/** In characters. */
export const maxOriginalKeyLength = 500;
export const keyRemedy = `give text of 1 to ${maxOriginalKeyLength} characters, or no row a key`;
const maxSlugLength = 50;

/** One that cannot stand in a workflow id becomes a slug and a hash. */
export function givenKey(originalKey: string): RowKey {
  return { key: isTaskKey(originalKey) ? originalKey : slugAndHash(originalKey), originalKey };
}

/** The same content has the same key, in whatever order its columns stand. */
export function deriveKey(content: Readonly<Record<string, unknown>>): RowKey {
  return { key: `row-${sha256(canonicalJson(content)).slice(0, 24)}`, originalKey: null };
}

function slugAndHash(original: string): string {
  // Two encodings of the same accented letter look the same, and are one key.
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

/** Without the joiners of emoji, which change what is seen. */
const invisible = /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/g;

function foldKey(originalKey: string): string {
  return foldCase(originalKey.replace(invisible, '').replace(/\s+/g, ' ').trim());
}

export interface EarlierKey {
  readonly place: RowPlace;
  readonly originalKey: string | null;
}

/** Keys that look the same are one, as their archived files would be on many file systems. Some 200 bytes a row. */
export class RowKeys {
  readonly #rows = new Map<string, { readonly place: RowPlace; readonly text?: string }>();

  /** Undefined for a key that is new. */
  add({ key, originalKey }: RowKey, place: RowPlace): EarlierKey | undefined {
    const folded = foldKey(originalKey ?? key);
    const names = [...new Set([folded, key.toLowerCase()])].map(keptHash);
    const earlier = names.map((name) => this.#rows.get(name)).find((row) => row !== undefined);
    if (earlier !== undefined) {
      return { place: earlier.place, originalKey: originalKey === null ? null : (earlier.text ?? folded) };
    }
    const row = { place, text: originalKey === null || originalKey === folded ? undefined : originalKey };
    for (const name of names) this.#rows.set(name, row);
    return undefined;
  }
}

/** A part of it would keep the whole in memory. */
export function keptHash(text: string): string {
  return hash('sha256', text, 'base64url');
}
