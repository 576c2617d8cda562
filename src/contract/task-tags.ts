import { redact } from '../core/redact';
import { showValue } from '../core/text';

/** How many tags a task has at most. */
export const maxTags = 20;

const tagPattern = /^[A-Za-z0-9][A-Za-z0-9._:/=@+-]{0,63}$/;

/**
 * Whether this can be a tag: 1 to 64 letters, digits and `. _ : / = @ + -`, beginning with a letter or digit. It stands in
 * lists as it is, also where payloads are encrypted, so nothing that looks like a secret can be one.
 */
export function isTag(value: unknown): value is string {
  return typeof value === 'string' && tagPattern.test(value) && redact(value) === value;
}

/** Every problem of a task's tags, each with the value and the remedy. */
export function tagProblems(tags: unknown): readonly string[] {
  if (!Array.isArray(tags)) return [`tags is ${showValue(tags)}; give a list of texts.`];
  if (tags.length > maxTags) return [`tags has ${tags.length} entries; a task takes at most ${maxTags}.`];
  return tags.flatMap((tag: unknown, index) => (isTag(tag) ? [] : [tagProblem(`tags[${index}]`, tag)]));
}

/** The problem of what is no tag. */
export function tagProblem(where: string, value: unknown): string {
  return `${where} is ${showValue(value)}; give 1 to 64 letters, digits or . _ : / = @ + -, beginning with a letter or digit, and no secret.`;
}
