import { isFields, isRecord } from './json';
import { unknownNameProblems } from './nearest-name';
import { showValue } from './text';

export interface OptionRule {
  readonly is: (value: unknown) => boolean;
  readonly remedy: string;
}

/** A rule for every option of a type, and for no other. */
export type OptionRules<Options> = { readonly [Name in keyof Options]-?: OptionRule };

export const checkedElsewhere: OptionRule = { is: () => true, remedy: '' };
export const flag: OptionRule = { is: (value) => typeof value === 'boolean', remedy: 'true or false' };
/** Of a filter: `false` would be none, and not its opposite. */
export const onlyTrue: OptionRule = { is: (value) => value === true, remedy: 'true, or leave it out to list all' };
export const plainText: OptionRule = { is: (value) => typeof value === 'string' && value !== '', remedy: 'a text' };
/** The longest pause that a timer of Node has; one that is longer would be over at once. */
export const longestTimerMs = 2 ** 31 - 1;
export const milliseconds: OptionRule = {
  is: (value) => typeof value === 'number' && value > 0 && value <= longestTimerMs,
  remedy: `a number of milliseconds above 0, at most ${longestTimerMs} (24 days)`,
};
export const count: OptionRule = {
  is: (value) => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= 0),
  remedy: 'a whole number from 0',
};
export const abortSignal: OptionRule = {
  is: (value) => isRecord(value) && 'aborted' in value && typeof value['addEventListener'] === 'function',
  remedy: 'an AbortSignal',
};
export function objectWith(method: string, remedy: string): OptionRule {
  return { is: (value) => isRecord(value) && typeof value[method] === 'function', remedy };
}

/** Every problem of options, each with name, value and remedy. One that is undefined counts as left out. */
export function optionProblems<Options>(options: unknown, rules: OptionRules<Options>): readonly string[] {
  const known: Readonly<Record<string, OptionRule>> = rules;
  const names = Object.keys(rules);
  if (options === undefined) return [];
  if (!isFields(options)) {
    return [`The options are ${showValue(options)}; give an object with one or more of ${names.join(', ')}.`];
  }
  const wrong = Object.entries(options).flatMap(([name, value]) => {
    const rule = Object.hasOwn(rules, name) ? known[name] : undefined;
    if (rule === undefined || value === undefined || rule.is(value)) return [];
    return [`${name} is ${showValue(value)}; give ${rule.remedy}.`];
  });
  return [...unknownNameProblems('option', Object.keys(options), names), ...wrong];
}
