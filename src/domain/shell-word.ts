import { activeCharacter } from './text';

/**
 * A word of a command line for a shell such as bash or zsh. Ids of tasks that another program started, and request ids of
 * the service, may hold anything: a command to copy must not run what is in them, and shows all of it.
 */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!activeCharacter.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${text.replaceAll(/[\\']/g, String.raw`\$&`).replace(new RegExp(activeCharacter, 'gu'), octalBytes)}'`;
}

/** `\342\200\256`: the bytes of a character in UTF-8, as `$'…'` has them. */
function octalBytes(character: string): string {
  const bytes = encodeURIComponent(character).match(/%[\dA-F]{2}|[^%]/g) ?? [];
  const codes = bytes.map((byte) => (byte.length === 1 ? byte.charCodeAt(0) : parseInt(byte.slice(1), 16)));
  return codes.map((code) => `\\${code.toString(8).padStart(3, '0')}`).join('');
}
