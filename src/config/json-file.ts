import { parse, type ParseError } from 'jsonc-parser';
import * as v from 'valibot';
import { isRecord, parseJson } from '../core/json';
import { nearestName } from '../core/nearest-name';
import { boundedText, showValue } from '../core/text';
import { namePattern, type Parse } from './values';

/** The messages of the schema say what should be there. */
export interface JsonFileRules<Schema extends v.GenericSchema> {
  readonly schema: Schema;
  /** Nothing of its content is shown. */
  readonly isSecret: boolean;
}

/**
 * The content, or what is wrong with it, as it follows the file's name.
 * @param remedy - what to give instead of a file that is no JSON.
 */
export function parseJsonFile<Schema extends v.GenericSchema>(
  text: string,
  { schema, isSecret }: JsonFileRules<Schema>,
  remedy: string,
): { readonly content?: v.InferOutput<Schema>; readonly faults: readonly string[] } {
  const content = parseJson(text);
  if (content === undefined) {
    const errors: ParseError[] = [];
    parse(text, errors, { disallowComments: true });
    const line = text.slice(0, errors[0]?.offset ?? 0).split('\n').length;
    return { faults: [`, which is no JSON: see line ${line}; ${remedy}.`] };
  }
  const result = v.safeParse(schema, content, { abortPipeEarly: true });
  if (result.success) return { content: result.output, faults: [] };
  return { faults: result.issues.map((issue) => `: ${faultWords(issue, isSecret)}.`) };
}

/** Characters of a name that are shown. */
const maxNameLength = 60;

function faultWords({ path, message, input, expected }: v.BaseIssue<unknown>, isSecret: boolean): string {
  // What is no name may be a misplaced secret.
  const isShownKey = (key: string): boolean => !isSecret || namePattern.test(key);
  const keys = (path ?? []).map(({ key }) => (isShownKey(String(key)) ? String(key) : 'a name'));
  const last = path?.at(-1);
  if (expected === 'never') {
    const name = keys.pop() ?? '';
    // A name that is like no field may be a misplaced key.
    const isShown = !isSecret || nearestName(name, message.split(', ')) !== undefined;
    const shown = isShown ? `: ${showValue(boundedText(name, maxNameLength))}` : '';
    return `${keys.join('.') || 'the file'} has a field that Longhaul does not know${shown}; it takes ${message}`;
  }
  if (last?.origin === 'key') return `a name should be ${message}`;
  const value: unknown = last === undefined ? input : last.value;
  const given = !isSecret && ['string', 'number'].includes(typeof value) ? ` is ${showValue(value)}, and` : '';
  return `${keys.join('.') || 'the file'}${given} should be ${message}`;
}

/** An object of these fields alone. */
export function fields<Entries extends v.ObjectEntries>(
  entries: Entries,
): v.GenericSchema<Record<string, unknown>, v.InferOutput<v.StrictObjectSchema<Entries, string>>> {
  const known = Object.keys(entries).join(', ');
  // A field that is missing is refused by its own schema.
  const missing = Object.fromEntries(Object.keys(entries).map((name) => [name, undefined]));
  return v.pipe(
    v.custom<Record<string, unknown>>(isRecord, `an object with the fields ${known}`),
    v.transform((value) => ({ ...missing, ...value })),
    v.strictObject(entries, known),
  );
}

export function byName<Schema extends v.GenericSchema>(
  schema: Schema,
  remedy: string,
): v.GenericSchema<Record<string, unknown>, Record<string, v.InferOutput<Schema>>> {
  const name = v.pipe(v.string(), v.regex(namePattern, '1 to 80 letters, digits, dots, _ and -'));
  // valibot leaves these names out silently.
  const isNamed = (value: unknown): boolean =>
    isRecord(value) && ['__proto__', 'constructor', 'prototype'].every((one) => !Object.hasOwn(value, one));
  return v.pipe(v.custom<Record<string, unknown>>(isNamed, remedy), v.record(name, schema));
}

export function parsed<Value>(parseText: Parse<Value>, remedy: string): v.GenericSchema<string, Value> {
  return v.pipe(
    v.string(remedy),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const value = parseText(dataset.value);
      if (value !== undefined) return value;
      addIssue({ message: remedy });
      return NEVER;
    }),
  );
}

export function text(remedy: string): v.GenericSchema<string> {
  return v.pipe(v.string(remedy), v.minLength(1, remedy));
}
