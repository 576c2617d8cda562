import { createHash } from 'node:crypto';
import type { TaskInput } from '../contract/task-input';

/**
 * SHA-256 over the canonical JSON of a task's input, as hex: what tells whether two starts with the same key mean the
 * same task. `createNumber` is left out, because a retry of the same task raises it.
 */
export function inputDigest(input: TaskInput): string {
  const entries = Object.entries(input).filter(([name]) => name !== 'createNumber');
  return createHash('sha256')
    .update(canonicalJson(Object.fromEntries(entries)))
    .digest('hex');
}

/** JSON with the names of every object in order, so that equal values are equal text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) => {
    if (typeof one !== 'object' || one === null || Array.isArray(one)) return one;
    return Object.fromEntries(Object.entries(one).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
