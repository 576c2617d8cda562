import { z } from 'zod';

/** What a parameter's value may be on the wire (specification section 2.2: strings or numbers). */
export type ParameterValue = string | number;

/** The schema of one node parameter. */
export type ParameterSchema = z.ZodType<ParameterValue>;

const NUMERIC_TEXT = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** A number within limits; a string that spells a number is accepted (specification section 2.2). */
export function numberParameter(limits: {
  min: number;
  max: number;
  whole?: boolean;
}): ParameterSchema & z.ZodType<number> {
  const base = z.number({ error: 'must be a number' });
  const number = (limits.whole === true ? base.int('must be a whole number') : base)
    .min(limits.min, `must be at least ${limits.min}`)
    .max(limits.max, `must be at most ${limits.max}`);
  return z.preprocess((value) => {
    const text = typeof value === 'string' ? value.trim() : '';
    return NUMERIC_TEXT.test(text) ? Number(text) : value;
  }, number);
}

/** A whole number within limits. */
export function wholeNumberParameter(min: number, max: number): ParameterSchema & z.ZodType<number> {
  return numberParameter({ min, max, whole: true });
}

/** Text of bounded length; a number is taken as its decimal text. */
export function textParameter(maxLength = 500): ParameterSchema & z.ZodType<string> {
  return z.preprocess(
    (value) => (typeof value === 'number' ? String(value) : value),
    z.string({ error: 'must be a text' }).max(maxLength, `must have at most ${maxLength} characters`),
  );
}

/** One of a few words. */
export function choiceParameter<const Choice extends string>(
  ...choices: Choice[]
): ParameterSchema & z.ZodType<Choice> {
  return z.enum(choices, { error: `must be one of ${choices.join(', ')}` });
}

/** A colour as six hexadecimal digits after `#`. */
export function colorParameter(): ParameterSchema & z.ZodType<string> {
  return z
    .string({ error: 'must be a color such as #ff8800' })
    .regex(/^#[0-9a-f]{6}$/i, 'must be a color such as #ff8800');
}

/**
 * A committed input resource: its URL, name or id as the caller gives it, its object key once resolved. This one
 * object marks the parameters that must be resolved before a task is accepted.
 */
export const resourceParameter: ParameterSchema & z.ZodType<string> = textParameter(4096);
