import { showValue } from '../domain/text';

/** An option of the command line as a remedy names it: `(--ignore-column notes)`. */
export function optionFor(option: string, name: string): string {
  return `(${option} ${/^[\w.:/-]{1,120}$/.test(name) ? name : showValue(name)})`;
}
