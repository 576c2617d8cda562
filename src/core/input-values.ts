/** Splits an input key at its first `:` and last `.`, as in `27:LayerColor: Levels.channel`. */
export function parseInputKey(
  key: string,
): { readonly nodeId: string; readonly nodeClass: string; readonly parameter: string } | undefined {
  const colon = key.indexOf(':');
  const dot = key.lastIndexOf('.');
  if (colon < 1 || dot < colon) return undefined;
  const nodeClass = key.slice(colon + 1, dot);
  const parameter = key.slice(dot + 1);
  const parts = { nodeId: key.slice(0, colon), nodeClass, parameter };
  return Object.values(parts).every((part) => part.trim() !== '') ? parts : undefined;
}

/** What a text on a command line or in a table means as an input; a file's path is as it was written. */
export type InputFromText = string | number | { readonly file: string };

/** A number as JSON writes it; `007`, `1e`, `.5` and `0x10` are text. */
const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** `@FILE` is a file; a number that a double holds exactly is one; everything else is text. */
export function readInputText(text: string): InputFromText {
  if (text.startsWith('@')) return { file: text.slice(1) };
  return exactNumber(text) ?? text;
}

export function exactNumber(text: string): number | undefined {
  if (!numberPattern.test(text)) return undefined;
  const value = Number(text);
  const isLost = value === 0 && /^[^e]*[1-9]/i.test(text);
  return isExactNumber(value) && !isLost ? value : undefined;
}

/** Whether a number is surely the one that was written: finite, and not a whole number beyond 2^53. */
export function isExactNumber(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}
