import * as v from 'valibot';
import { dictionary, wholeNumber } from '../contract/schema';
import { parseJson } from '../core/json';
import { isMoney, type Money } from '../money/money';

export const count = wholeNumber(0);
export const money = v.custom<Money>(isMoney);
export const endStatus = v.picklist(['Success', 'Failed', 'Canceled']);
/** ISO-8601 with a zone, on a day that there is. */
export const isoTime = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/),
  v.check((text) => {
    const day = new Date(`${text.slice(0, 10)}T00:00Z`);
    return !Number.isNaN(day.getTime()) && text.startsWith(day.toISOString().slice(0, 10));
  }),
);

/** The service's, in milliseconds. */
export const costTimes = dictionary(v.number());

/** Undefined when there is no text, or it is something else. */
export function parseStored<Schema extends v.GenericSchema>(
  schema: Schema,
  text: { readonly toString: () => string } | undefined,
): v.InferOutput<Schema> | undefined {
  const { success, output } = v.safeParse(schema, parseJson(text?.toString() ?? ''));
  return success ? output : undefined;
}

/** For a file that a person may open. */
export function storedText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
