import * as z from 'zod';
import { isRecord } from '../core/json';
import { boundedText, safeText } from '../core/text';

// Bounded and redacted where it is read: what is read here goes into histories, logs and manifests.

const decimal = /^-?\d{1,15}(\.\d{1,20})?$/;

/** A number that may come as a numeric string; numbers beyond the safe integers are refused. */
export const numberLike = z
  .union([
    z.number(),
    z
      .string()
      .regex(decimal)
      .transform((digits) => Number(digits)),
  ])
  .refine((number) => Math.abs(number) <= Number.MAX_SAFE_INTEGER, 'too large');

/** A whole number that may come as a numeric string. */
export const integerLike = numberLike.pipe(z.int());

/** A text of one line, cut to this length. */
export function word(maxLength: number): z.ZodType<string> {
  return z
    .string()
    .transform((text) => safeText(text, [], maxLength))
    .pipe(z.string().min(1));
}

// Below: details that a null, an empty or a malformed value leaves out, because it must not keep a paid task from being
// followed. Plain functions, because a list of outputs has thousands of them.

/** A field for one of these functions to read. Named by each schema: a loose object would copy hundreds of thousands. */
export const unread = z.unknown().optional();

/** A word, as {@link word} bounds it. */
export function readWord(value: unknown, maxLength: number): string | undefined {
  return typeof value === 'string' ? safeText(value, [], maxLength) || undefined : undefined;
}

/** The same as a schema. */
export function optionalWord(maxLength: number): z.ZodType<string | undefined> {
  return z
    .unknown()
    .transform((value) => readWord(value, maxLength))
    .optional();
}

/** Longest message of the service that is kept. */
const maxMessageLength = 4_000;

/** A message for people, of several lines perhaps. */
export function readMessage(value: unknown): string | undefined {
  return typeof value === 'string' ? boundedText(value, maxMessageLength) || undefined : undefined;
}

/** Longest link that is followed; no server takes a request line as long. */
const maxLinkLength = 32 * 1024;

/** A link, unchanged: a secret that must not be shown. */
export function readLink(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= maxLinkLength ? value || undefined : undefined;
}

/** The same as a schema, required. */
export const link = z.string().min(1).max(maxLinkLength);

/** A number that may come as a numeric string. */
export function readNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && decimal.test(value) ? Number(value) : value;
  return typeof number === 'number' && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : undefined;
}

/** A whole number that may come as a numeric string. */
export function readInteger(value: unknown): number | undefined {
  const number = readNumber(value);
  return Number.isInteger(number) ? number : undefined;
}

/** More entries of a map than this are left out. */
const maxEntries = 64;
const maxNameLength = 100;

/** An object's numeric values under their own names, numeric strings included; empty where there is no object. */
export function readNumbers(value: unknown): Record<string, number> {
  const numbers: [string, number][] = [];
  for (const [name, field] of Object.entries(isRecord(value) ? value : {})) {
    const number = readNumber(field);
    if (number !== undefined) numbers.push([safeText(name, [], maxNameLength), number]);
    if (numbers.length === maxEntries) break;
  }
  return Object.fromEntries(numbers);
}

/** A list of at most so many items: a longer one is refused before any item is read. */
export function boundedList<T>(item: z.ZodType<T>, maxLength: number): z.ZodType<T[]> {
  return z.array(z.unknown()).max(maxLength).pipe(z.array(item));
}

/** Without the properties whose value is undefined. */
export function withoutUndefined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Partial<T>;
}
