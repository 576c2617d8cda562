import { z } from 'zod';

const decimal = /^-?\d{1,15}(\.\d+)?$/;

/** A number that may come as a numeric string. */
export const numberLike = z.union([
  z.number(),
  z
    .string()
    .regex(decimal)
    .transform((digits) => Number(digits)),
]);

/** A whole number that may come as a numeric string. */
export const integerLike = numberLike.pipe(z.int());

/**
 * Text that is nice to have: a null, an empty or another value counts as absent, because a malformed detail must not
 * keep a paid task from being followed. What came is in `raw`.
 */
export const optionalText = z.string().min(1).optional().catch(undefined);

/** A number that is nice to have; see {@link optionalText}. */
export const optionalNumber = numberLike.optional().catch(undefined);

/** An object whose numeric values are kept under their own names, numeric strings included, and the rest left out. */
export const numbersByName = z
  .record(z.string(), z.unknown())
  .catch({})
  .transform((values) =>
    Object.fromEntries(
      Object.entries(values).flatMap(([name, value]) => {
        const number = numberLike.safeParse(value);
        return number.success ? [[name, number.data] as const] : [];
      }),
    ),
  );

/** The schema's value together with the object that it was read from, untouched. */
export function withRaw<T>(schema: z.ZodType<T>): z.ZodType<{ wire: T; raw: Record<string, unknown> }> {
  return z.looseObject({}).transform((raw, context) => {
    const parsed = schema.safeParse(raw);
    if (parsed.success) return { wire: parsed.data, raw };
    for (const { path, message } of parsed.error.issues) context.addIssue({ code: 'custom', path: [...path], message });
    return z.NEVER;
  });
}

/** Without the properties whose value is undefined: `exactOptionalPropertyTypes` and JSON both mean absent. */
export function withoutUndefined<T extends object>(value: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as WithoutUndefined<T>;
}

type OptionalKeys<T> = { [K in keyof T]-?: undefined extends T[K] ? K : never }[keyof T];

/** `T` with every property that may be undefined made optional instead. */
export type WithoutUndefined<T> = Omit<T, OptionalKeys<T>> & { [K in OptionalKeys<T>]?: Exclude<T[K], undefined> };
