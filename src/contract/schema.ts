import * as v from 'valibot';
import { isFields, isRecord } from '../core/json';
import { unknownNameProblems } from '../core/nearest-name';
import { showValue } from '../core/text';

// A schema's message is its remedy. valibot keeps no state, so that workflows can share schemas (docs/decisions/0033).

export function textLike(pattern: RegExp, remedy: string): v.GenericSchema<string> {
  return v.pipe(v.string(remedy), v.regex(pattern, remedy));
}

/** A moment as a text, mostly ISO-8601. */
export const moment: v.GenericSchema<string> = v.custom(
  (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
);

/** A worker of another version may say another word. */
export function wordOf<Word extends string>(): v.GenericSchema<Word> {
  return v.custom<Word>((value) => typeof value === 'string');
}

/** An object of any names; valibot's `record` leaves out `constructor` and the like. */
export function dictionary<Schema extends v.GenericSchema>(
  of: Schema,
): v.GenericSchema<Readonly<Record<string, v.InferOutput<Schema>>>> {
  return v.custom((value) => isRecord(value) && Object.values(value).every((one) => v.is(of, one)));
}

export function wholeNumber(
  least: number,
  most = Number.MAX_SAFE_INTEGER,
  remedy = `a whole number from ${least}${most === Number.MAX_SAFE_INTEGER ? '' : ` to ${most}`}`,
): v.GenericSchema<number> {
  return v.pipe(v.number(remedy), v.safeInteger(remedy), v.minValue(least, remedy), v.maxValue(most, remedy));
}

export function oneOf<const Words extends readonly string[]>(words: Words): v.PicklistSchema<Words, string> {
  return v.picklist(words, `one of ${words.map((word) => showValue(word)).join(', ')}`);
}

export const flag = v.boolean('true or false');

export function listOf<Item extends v.GenericSchema>(
  item: Item,
): v.GenericSchema<readonly v.InferInput<Item>[], readonly v.InferOutput<Item>[]> {
  return v.array(item);
}

/** Unlike the schema itself it refuses a list, a Map and whatever else holds more than fields. */
export function fields<Entries extends v.ObjectEntries>(
  schema: v.ObjectSchema<Entries, undefined>,
  remedy: string,
): v.GenericSchema<v.InferInput<typeof schema>, v.InferOutput<typeof schema>> {
  return v.pipe(v.custom<v.InferInput<typeof schema>>(isFields, remedy), schema);
}

/** What a check of an input returns: its plan, or every problem with the field, its value and the remedy. */
export type Parsed<Plan> =
  { readonly plan: Plan; readonly problems?: never } | { readonly plan?: never; readonly problems: readonly string[] };

/** Checks a value against a schema. `path` names where it stands. */
export function check<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  path: readonly string[] = [],
): { readonly output?: v.InferOutput<Schema>; readonly problems: readonly string[] } {
  const result = v.safeParse(schema, value, { abortPipeEarly: true });
  if (result.success) return { output: result.output, problems: [] };
  const problems = result.issues.map((issue) => {
    const [first = '', ...keys] = [...path, ...(issue.path ?? []).map(({ key }) => String(key))];
    // Such as `deadlines.run` and `inputs["1:LoadImage.image"].file`.
    const where = first + keys.map((key) => (/^\w+$/.test(key) ? `.${key}` : `[${showValue(key)}]`)).join('');
    // As it was given: a schema that transforms it may have refused what came of it.
    const given: unknown = issue.path === undefined ? issue.input : issue.path.at(-1)?.value;
    return `${where} is ${showValue(given)}; give ${issue.message}.`;
  });
  return { problems };
}

/** The fields that the schema does not have. `where` stands before their names, such as `tuning.`. */
export function unknownFieldProblems(
  { entries }: { readonly entries: v.ObjectEntries },
  value: object,
  where = '',
): readonly string[] {
  return unknownNameProblems('field', Object.keys(value), Object.keys(entries), where);
}

/** An object's fields of these names; one that is missing is undefined, so that its own schema refuses it. */
export function pick(value: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.map((name) => [name, value[name]]));
}
