import { redact } from './redact';

/** Control, formatting and line characters. The two joiners stay: words and emoji are made of them. */
const activeCharacter = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;
const activeCharacters = new RegExp(activeCharacter, 'gu');

/** Text from outside as a terminal may print it: what a terminal acts on, but line breaks, is escaped as in JSON. */
export function printableText(text: string): string {
  return text.replace(activeCharacters, (character) => (character === '\n' ? character : jsonEscape(character)));
}

/** The same on one line: line breaks and tabs become a space, so that a value cannot make up a line of its own. */
export function printableLine(text: string): string {
  return printableText(text.replace(/[\t\n\v\f\r\u0085\u2028\u2029]+/g, ' '));
}

/** A word of a command line for bash or zsh: a command to copy must not run what is in an id, and shows all of it. */
export function shellWord(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  if (!activeCharacter.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  return `$'${text.replaceAll(/[\\']/g, String.raw`\$&`).replace(new RegExp(activeCharacter, 'gu'), octalBytes)}'`;
}

function octalBytes(character: string): string {
  const bytes = encodeURIComponent(character).match(/%[\dA-F]{2}|[^%]/g) ?? [];
  const codes = bytes.map((byte) => (byte.length === 1 ? byte.charCodeAt(0) : parseInt(byte.slice(1), 16)));
  return codes.map((code) => `\\${code.toString(8).padStart(3, '0')}`).join('');
}

/** Words in which no Markdown renderer finds a link, formatting, mathematics or anything to set in nicer type. */
const plainWords =
  /^(?!.*(?:\bwww\.|:\S|--|\.\.))(?:[\p{L}\p{M}\p{N} ,.;:’…%+=?!-]|(?<=[\p{L}\p{N}])_(?=[\p{L}\p{N}]))*$/iu;

/** Plain words, or a code span: backslashes do not help, as GitHub's flavour finds links after it has removed them. */
export function markdownText(text: string, maxLength = Infinity): string {
  const whole = printableLine(text);
  const line = whole.length > maxLength ? `${cutText(whole, maxLength - 1)}…` : whole;
  return plainWords.test(line) ? line : markdownCode(line);
}

/** A code span: closed by more backticks than the line has in a row; backticks at its ends need a space before them. */
export function markdownCode(line: string): string {
  const longestRun = Math.max(0, ...(line.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longestRun + 1);
  const pad = longestRun > 0 ? ' ' : '';
  return `${fence}${pad}${line}${pad}${fence}`;
}

function jsonEscape(character: string): string {
  return Array.from({ length: character.length }, (_, index) => {
    return `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }).join('');
}

const maxLineLength = 500;
/** Beyond what is shown, this much is read, so that a secret at the cut is found whole. */
const marginLength = 8_192;
/** True of most texts, and cheaper than the replacement. */
const plainAscii = /^[\x20-\x7e]*$/;
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
const unprintableInLines = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** Words of another system for an error, a log or a history: redacted, on one line, at most `maxLength` characters. */
export function safeText(text: string, secrets: readonly string[] = [], maxLength = maxLineLength): string {
  return shortened(text, secrets, maxLength, (words) =>
    (plainAscii.test(words) ? words : words.replace(unprintable, ' ')).trim(),
  );
}

/** The same for words whose lines are kept. */
export function boundedText(text: string, maxLength: number): string {
  return shortened(text, [], maxLength, (words) =>
    plainAscii.test(words) ? words : words.replace(unprintableInLines, ' '),
  );
}

function shortened(
  text: string,
  secrets: readonly string[],
  maxLength: number,
  printable: (text: string) => string,
): string {
  const readLength = maxLength + 2 * marginLength;
  // Printable before and after: what was decoded may hold control characters again.
  const words = printable(redact(printable(text.slice(0, readLength)), secrets));
  // The end of a text that was cut before it was redacted may be the beginning of a secret.
  const known = text.length > readLength ? words.slice(0, Math.max(0, words.length - marginLength)) : words;
  if (known.length <= maxLength && known.length === words.length) return words;
  return `${cutText(known, maxLength - 1)}…`;
}

/** The beginning of a text, without the first half of a character that the cut would divide. */
export function cutText(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');
}

const maxLength = 120;

/** A value as a person wrote it, for a message: as JSON, short, without secrets; `NaN`, `1n` and classes are named. */
export function showValue(value: unknown): string {
  if (value === undefined) return 'missing';
  const text = safeText(nameOfOpaque(value) ?? toJson(value));
  return text.length > maxLength ? `${cutText(text, maxLength - 3)}…` : text;
}

function nameOfOpaque(value: unknown): string | undefined {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (value instanceof Date && Number.isNaN(value.getTime())) return 'Invalid Date';
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  // A URL and a Date are texts in JSON, bytes a long list; a Map is nothing.
  const isShown = !('toJSON' in value) && !ArrayBuffer.isView(value) && toJson(value).startsWith('{"');
  const name = isShown ? '' : className(value);
  return name === '' || name === 'Object' ? undefined : `an object of the class ${name}`;
}

function className(value: object): string {
  const { constructor }: { readonly constructor?: unknown } = value;
  return typeof constructor === 'function' ? constructor.name : '';
}

function toJson(value: unknown): string {
  try {
    return jsonOrNothing(value) ?? `a value of the type ${typeof value}`;
  } catch (error) {
    if (error instanceof RangeError) return 'a value that is nested too deeply';
    const isCircular = errorMessage(error).startsWith('Converting circular structure');
    return isCircular ? 'a value that holds itself' : 'a value that JSON cannot hold';
  }
}

function jsonOrNothing(value: unknown): string | undefined {
  return JSON.stringify(value);
}

/** What to give in place of an object that stands for a text, a URL or a Date; else `otherwise`. */
export function textRemedy(value: unknown, otherwise: string): string {
  if (value instanceof Date) return 'a text, such as its toISOString()';
  if (typeof value !== 'object' || value === null || className(value) !== 'URL') return otherwise;
  const isLocal = 'protocol' in value && value.protocol === 'file:';
  return isLocal ? 'its path, which fileURLToPath of node:url makes' : 'its href';
}

export function errorMessage(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string') {
    return error.message;
  }
  return String(error);
}

/** The code of a system or network error (`ENOENT`, `ECONNRESET`, `UND_ERR_SOCKET`); empty when it has none. */
export function errorCode(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

/** `1,234`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** Such as `1 file`, `1,234 files`. */
export function formatCountOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `0 B`, `512 B`, `20.5 kB`, `1.2 GB`: powers of 1000, as file managers and disks count. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let index = 0;
  while (value >= 999.95 && index < units.length - 1) {
    value /= 1_000;
    index += 1;
  }
  return `${index === 0 ? String(value) : value.toFixed(1)} ${units[index] ?? ''}`;
}

/** The same for names that some file system takes for one. By way of capital letters: those of "ß" are "SS". */
export function foldCase(text: string): string {
  return text.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

export function utf8Bytes(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** The longest beginning of a text that has at most so many bytes in UTF-8; no character is split. */
export function cutToUtf8Bytes(text: string, maxBytes: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += utf8Bytes(character);
    if (bytes > maxBytes) break;
    end += character.length;
  }
  return text.slice(0, end);
}
