import type * as z from 'zod';
import { boundedText, errorCode, errorMessage, showValue } from '../domain/text';
import { nearestName } from '../domain/nearest-name';

/** Reads a small text file; throws as `readFileSync` does. Injected, so that the config itself stays pure. */
export type ReadTextFile = (path: string) => string;

/** The text of the file that a variable or a field names; undefined when it cannot be read, which `problems` gets. */
export function readNamedFile(
  { what, file }: { readonly what: string; readonly file: string },
  readTextFile: ReadTextFile,
  problems: string[],
): string | undefined {
  try {
    // Editors of Windows put a mark before UTF-8.
    return readTextFile(file).replace(/^\uFEFF/, '');
  } catch (error) {
    const reason = errorCode(error) || 'it cannot be read';
    const remedy = isPath(file) ? 'give a readable file' : 'write it to a file, and give the path of that';
    problems.push(`${what} is ${shownFile(file)}, which cannot be read (${reason}); ${remedy}.`);
    return undefined;
  }
}

/** A path as a message may show it. What does not look like one may be what belongs into the file: a secret. */
export function shownFile(file: string): string {
  return isPath(file) ? JSON.stringify(file) : `a text of ${file.length} characters that is no path`;
}

/** From some folder, or with the ending of a file. Keys in base64 end with `=`, JSON and PEM have quotes or spaces. */
function isPath(text: string): boolean {
  return /^(?:\.{0,2}|~|[A-Za-z]:)[/\\][^"'{}=+\r\n]*$/.test(text) || /^[^"'{}=+\s]{1,200}\.[A-Za-z]{1,5}$/.test(text);
}

/** Where the parser's message quotes the text around a fault: so much of it stands before the fault. */
const quotedBefore = 10;
/** So much of a name is shown. */
const maxNameLength = 60;

/**
 * Why a text is no JSON, with the line; undefined when it is JSON. Nothing of the text is quoted: such a file may hold
 * keys.
 */
export function jsonFault(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    if (text.trim() === '') return 'is empty';
    const position = faultPosition(text, errorMessage(error));
    if (position === undefined) return 'is no JSON';
    const line = text.slice(0, position).split('\n').length;
    if (position >= text.trimEnd().length) return `is no JSON: it ends too early, in line ${line}`;
    const isComma = /[}\]]/.test(text[position] ?? '') && text.slice(0, position).trimEnd().endsWith(',');
    return `is no JSON: line ${line} has a ${isComma ? 'closing bracket after a comma, which is to be removed' : 'syntax error'}`;
  }
}

/** The parser names the position, or quotes what surrounds it, or says that the text ended. */
function faultPosition(text: string, message: string): number | undefined {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  if (position !== undefined) return Number(position);
  if (message.includes('end of JSON')) return text.length;
  const [, token = '', start = '', quoted = ''] =
    /^Unexpected token '(.+?)', (\.{3})?"(.*?)"(?:\.{3})? is not valid JSON$/s.exec(message) ?? [];
  const at = quoted === '' ? -1 : text.indexOf(quoted);
  if (at < 0) return undefined;
  return start === '' ? at + Math.max(0, quoted.indexOf(token)) : at + quotedBefore;
}

/** What a field of a file should be, where its schema has no words of its own. */
const kinds: Readonly<Record<string, string>> = {
  object: 'an object with named fields',
  record: 'an object with named fields',
  array: 'a list',
  string: 'a text',
  number: 'a number',
};

/** What the schema says that a value should be, in words of ours. */
export function shouldBe(issue: z.core.$ZodIssue): string {
  return issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')
    ? (kinds[issue.expected] ?? issue.expected)
    : issue.message;
}

/** What stands at a path that the schema names; undefined when nothing does. */
export function valueAt(content: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((place, name) => {
    return typeof place === 'object' && place !== null ? Reflect.get(place, name) : undefined;
  }, content);
}

/** The fields that are not known: each with the nearest known one, or with all of them. */
export function unknownFields(fields: readonly string[], known: readonly string[]): string {
  const named = fields.map((field) => {
    const nearest = nearestName(field, known);
    return `${showValue(boundedText(field, maxNameLength))}${nearest === undefined ? '' : ` (did you mean "${nearest}"?)`}`;
  });
  const are = fields.length === 1 ? 'the field' : 'the fields';
  return `${are} ${named.join(', ')}, which Longhaul does not know; it takes ${known.join(', ')}`;
}
