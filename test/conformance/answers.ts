import type { Answer } from './plain-http';
import { doesNotHold, holds, NotCheckable, type Verdict } from './verdict';

/** An object of the wire; reading a field that is not there gives undefined. */
export type Fields = Readonly<Record<string, unknown>>;

/** Longest part of an answer that a verdict quotes. */
const QUOTE_LENGTH = 300;

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
}

/** The fields of an envelope's `data` (section 2.1). */
export function dataOf(answer: Answer): Fields {
  return fieldsOf(fieldsOf(answer.json)['data']);
}

/** The objects of a list; none when it is no array. */
export function itemsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Whether the answer is a success by section 7. */
export function isSuccess({ status, json }: Answer): boolean {
  const { code, status: isOk } = fieldsOf(json);
  return status >= 200 && status < 300 && code === 20000 && isOk === true;
}

/** Whether a create was accepted: anything with a requestId (section 7). */
export function isAccepted({ json }: Answer): boolean {
  return textOf(fieldsOf(json)['requestId']) !== '';
}

/**
 * A time in `cost_times`, in milliseconds.
 *
 * @throws NotCheckable when it is not there.
 */
export function costOf(detail: Answer, name: string): number {
  const cost = fieldsOf(dataOf(detail)['cost_times'])[name];
  if (typeof cost !== 'number') throw new NotCheckable(`the detail of the finished task has no ${name}`);
  return cost;
}

export function describe({ status, text }: Answer): string {
  return `HTTP ${status} ${quote(text)}`;
}

/** The value as JSON, shortened. */
export function quote(value: unknown): string {
  const text = typeof value === 'string' ? value : value === undefined ? 'absent' : JSON.stringify(value);
  return text.length > QUOTE_LENGTH ? `${text.slice(0, QUOTE_LENGTH)}…` : text;
}

export type Kind = 'string' | 'integer' | 'boolean' | 'object' | 'array' | 'timestamp' | 'null' | 'absent';

const isKind: Readonly<Record<Kind, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string' && value !== '',
  integer: Number.isInteger,
  boolean: (value) => typeof value === 'boolean',
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  array: Array.isArray,
  timestamp: (value) => parseTimestamp(value) !== undefined,
  null: (value) => value === null,
  absent: (value) => value === undefined,
};

export function fieldIs(fields: Fields, name: string, ...kinds: readonly Kind[]): Verdict {
  const value = fields[name];
  return kinds.some((kind) => isKind[kind](value))
    ? holds
    : doesNotHold(`${name} is ${quote(value)}, not ${kinds.join(' or ')}`);
}

/** Milliseconds since the epoch of `YYYY-MM-DD HH:MM:SS` in UTC+8; undefined when the value is no such text. */
export function parseTimestamp(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value)) return undefined;
  const ms = Date.parse(`${value.replace(' ', 'T')}+08:00`);
  return Number.isNaN(ms) ? undefined : ms;
}
