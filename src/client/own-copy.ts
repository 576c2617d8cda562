import { Readable } from 'node:stream';

/** As deep as the fields of an input go (`batch.names.columns`): what is nested deeper is refused. */
const maxDepth = 3;

/**
 * What a program gives to a start, as it is now: the start waits before it sends, and a program that goes on to fill the same
 * object for its next task must not change this one. Contents stay what they are.
 */
export function ownCopy<Given>(given: Given): Given {
  return copyOf(given, 0) as Given;
}

function copyOf(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Readable || depth > maxDepth) return value;
  if (Array.isArray(value)) return value.map((one: unknown) => copyOf(one, depth + 1));
  const fields: readonly [string, unknown][] = Object.entries(value);
  // What JSON writes in a way of its own is refused with its own words.
  if (fields.length === 0 || 'toJSON' in value || ArrayBuffer.isView(value)) return value;
  return Object.fromEntries(fields.map(([name, one]) => [name, name === 'content' ? one : copyOf(one, depth + 1)]));
}
