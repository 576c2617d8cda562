/** Asymmetric matchers that are typed `unknown`, as the wire is. */
export const aNumber: unknown = expect.any(Number);
export const aText: unknown = expect.any(String);
/** `YYYY-MM-DD HH:MM:SS`. */
export const aTimestamp: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);

/** A text with these words in it. */
export function textWith(words: string): unknown {
  return expect.stringContaining(words);
}

/** A text of this form. */
export function textLike(form: RegExp): unknown {
  return expect.stringMatching(form);
}

/** An object with at least these fields. */
export function objectWith(fields: Record<string, unknown>): unknown {
  return expect.objectContaining(fields);
}
