import { showValue } from '../domain/text';

/** Whose options messages name as a remedy: those of the library, or of the command line. */
export type OptionNames = 'library' | 'commandLine';

/** Options of the library whose names on the command line are others. */
const commandLineNames = {
  keyColumn: '--key-column',
  textColumns: '--text-column',
  ignoreColumns: '--ignore-column',
  emptyCells: '--empty',
  decimal: '--decimal',
} as const;

/** An option as a remedy names it: `(ignoreColumns: ["notes"])`, or `(--ignore-column notes)`. */
export function optionFor(
  option: keyof typeof commandLineNames,
  value: string,
  { optionNames = 'library' }: { readonly optionNames?: OptionNames },
): string {
  const shown = showValue(value);
  if (optionNames === 'library') {
    return `(${option}: ${option === 'textColumns' || option === 'ignoreColumns' ? `[${shown}]` : shown})`;
  }
  return `(${commandLineNames[option]} ${/^[\w.:/-]{1,120}$/.test(value) ? value : shown})`;
}

/** An option alone, as a remedy names it: `(decimal)`, or `(--decimal)`. */
export function optionName(
  option: 'template' | 'delimiter' | 'decimal',
  { optionNames = 'library' }: { readonly optionNames?: OptionNames },
): string {
  return optionNames === 'library' ? `(${option})` : `(--${option})`;
}

/** The format of a row file, named in the same way: in the library it is an argument of `rowFileAt`. */
export function formatOption(
  values: readonly string[],
  { optionNames = 'library' }: { readonly optionNames?: OptionNames },
): string {
  const [last = '', ...others] = values
    .map((value) => (optionNames === 'library' ? showValue(value) : value))
    .reverse();
  const list = others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`;
  return optionNames === 'library' ? `(the second argument of rowFileAt: ${list})` : `(--format ${list})`;
}

/** The app of all rows, named in the same way. */
export function appOption({ optionNames = 'library' }: { readonly optionNames?: OptionNames }): string {
  return optionNames === 'library' ? '(common: { webAppId })' : '(--app)';
}
