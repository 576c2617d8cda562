import { z } from 'zod';
import { boundedText, safeText } from '../domain/safe-text';

/*
 * What comes over the wire, bounded and redacted where it is read: a service may write anything, of any length, into any
 * field, and what is read here goes into histories, logs and manifests.
 */

const decimal = /^-?\d{1,15}(\.\d{1,20})?$/;

/** A number that may come as a numeric string; beyond the safe integers nothing is a number of anything here. */
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

/** A word of the service: one line, at most so long. */
export function word(maxLength: number): z.ZodType<string> {
  return z
    .string()
    .transform((text) => safeText(text, [], maxLength))
    .pipe(z.string().min(1));
}

/**
 * A word that is nice to have: a null, an empty or another value counts as absent, because a malformed detail must not
 * keep a paid task from being followed.
 */
export function optionalWord(maxLength: number): z.ZodType<string | undefined> {
  return word(maxLength).optional().catch(undefined);
}

/** Longest message of the service that is kept. */
const maxMessageLength = 4_000;

/** A message for people, of several lines perhaps; absent as {@link optionalWord} is. */
export const optionalMessage = z
  .string()
  .transform((text) => boundedText(text, maxMessageLength))
  .pipe(z.string().min(1))
  .optional()
  .catch(undefined);

/** Longest link that is followed; no server takes a request line as long. */
const maxLinkLength = 32 * 1024;

/** A link as it came: a secret, which nothing may show. */
export const link = z.string().min(1).max(maxLinkLength);

/** A number that is nice to have; see {@link optionalWord}. */
export const optionalNumber = numberLike.optional().catch(undefined);

/** More entries of a map than this are left out. */
const maxEntries = 64;
const maxNameLength = 100;

/** An object whose numeric values are kept under their own names, numeric strings included, and the rest left out. */
export const numbersByName = z
  .record(z.string(), z.unknown())
  .catch({})
  .transform((values) => {
    const numbers: [string, number][] = [];
    for (const [name, value] of Object.entries(values)) {
      const number = numberLike.safeParse(value);
      if (number.success) numbers.push([safeText(name, [], maxNameLength), number.data]);
      if (numbers.length === maxEntries) break;
    }
    return Object.fromEntries(numbers);
  });

/** A list of at most so many items: a longer one is refused before any item is looked at. */
export function listOf<T>(item: z.ZodType<T>, maxLength: number): z.ZodType<T[]> {
  return z.array(z.unknown()).max(maxLength).pipe(z.array(item));
}

/** Without the properties whose value is undefined: `exactOptionalPropertyTypes` and JSON both mean absent. */
export function withoutUndefined<T extends object>(value: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as WithoutUndefined<T>;
}

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** `T` with every property that may be undefined made optional instead. */
export type WithoutUndefined<T> = Omit<T, OptionalKeys<T>> & { [K in OptionalKeys<T>]?: Exclude<T[K], undefined> };
