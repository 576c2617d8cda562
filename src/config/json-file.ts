import { parse, type ParseError } from 'jsonc-parser';
import * as z from 'zod';
import { parseJson } from '../core/json';
import { nearestName } from '../core/nearest-name';
import { boundedText, errorCode, showValue } from '../core/text';

/** Reads a small text file; throws as `readFileSync` does. Injected, so that the config itself stays pure. */
export type ReadTextFile = (path: string) => string;

/** A file that a variable or a field names. */
export interface NamedFile {
  /** The variable or field, as messages name it. */
  readonly what: string;
  readonly file: string;
}

/** Its text; undefined when it cannot be read, which `problems` gets. */
export function readNamedFile(
  { what, file }: NamedFile,
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

/** What a JSON file should be. */
export interface JsonFileRules<Schema extends z.ZodType> {
  /** Its messages say what should be there. */
  readonly schema: Schema;
  readonly remedy: string;
  /** Nothing that stands in it is shown. */
  readonly isSecret: boolean;
}

/** The content of a JSON file; undefined when it cannot be used, and `problems` gets each reason with its place. */
export function readJsonFile<Schema extends z.ZodType>(
  named: NamedFile,
  { schema, remedy, isSecret }: JsonFileRules<Schema>,
  readTextFile: ReadTextFile,
  problems: string[],
): z.output<Schema> | undefined {
  const text = readNamedFile(named, readTextFile, problems);
  if (text === undefined) return undefined;
  const where = `${named.what} is ${shownFile(named.file)}`;
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true });
  const [error] = errors;
  const content = parseJson(text);
  if (error !== undefined || content === undefined) {
    const line = text.slice(0, error?.offset ?? 0).split('\n').length;
    problems.push(`${where}, which is no JSON: see line ${line}; ${remedy}.`);
    return undefined;
  }
  const parsed = schema.safeParse(content);
  if (parsed.success) return parsed.data;
  for (const issue of parsed.error.issues) {
    const isNamed = issue.path.length > 0 && !(isSecret && issue.code === 'invalid_key');
    const place = isNamed ? issue.path.map(String).join('.') : issue.code === 'invalid_key' ? 'a name' : 'the file';
    problems.push(`${where}: ${place}${fault(issue, content, isSecret)}.`);
  }
  return undefined;
}

/** So much of a name is shown. */
const maxNameLength = 60;

function fault(issue: z.core.$ZodIssue, content: unknown, isSecret: boolean): string {
  if (issue.code === 'unrecognized_keys') {
    const { message: known, keys } = issue;
    // A name that is like no field may be a key at the wrong place.
    const shown = keys.filter((key) => !isSecret || nearestName(key, known.split(', ')) !== undefined);
    const names = shown.map((key) => ` ${showValue(boundedText(key, maxNameLength))}`).join(',');
    return ` has fields that Longhaul does not know${names === '' ? '' : `:${names}`}; it takes ${known}`;
  }
  const value = issue.path.reduce<unknown>((place, name) => {
    return typeof place === 'object' && place !== null ? Reflect.get(place, name) : undefined;
  }, content);
  const given = !isSecret && ['string', 'number'].includes(typeof value) ? ` is ${showValue(value)}, and` : '';
  return `${given} should be ${issue.code === 'invalid_key' ? issue.issues.map(({ message }) => message).join() : issue.message}`;
}

/** An object of these fields alone. */
export function fields<Shape extends z.ZodRawShape>(shape: Shape): z.ZodObject<Shape, z.core.$strict> {
  const known = Object.keys(shape).join(', ');
  return z.strictObject(shape, {
    error: ({ code }) => (code === 'unrecognized_keys' ? known : `an object with the fields ${known}`),
  });
}
