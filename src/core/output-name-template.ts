import { boundedPathPart, columnPart, isLiteralSafe, partOf, safeExtension } from './archive-name';
import { parseTemplate, type TemplatePiece } from './column-template';
import { utf8Bytes } from './text';

export interface OutputNameTemplate {
  readonly text: string;
  readonly columns: readonly string[];
  readonly parts: readonly (readonly TemplatePiece[])[];
}

export type ParsedOutputNameTemplate =
  | { readonly template: OutputNameTemplate; readonly problems?: never }
  | { readonly template?: never; readonly problems: readonly string[] };

export interface OutputNameValues {
  readonly batch: string;
  /** The row's key; keys of one batch differ in more than case. */
  readonly key: string;
  /** The service's; those of one archive differ in more than case, as UUIDs do. */
  readonly requestId: string;
  readonly columns: Readonly<Record<string, string>>;
}

/** Leaves room for the archive's own prefix in the 1,024 bytes that an object's name may have. */
const maxNameBytes = 900;
/** What one part may have before the archive shortens it. */
const maxPartBytes = 255;
/** The most that a value of a task takes in a part, in bytes. */
const valueBytes = 84;
const columnBytes = 80;
const placeholderBytes: ReadonlyMap<string, number> = new Map([
  ...['batch', 'key', 'requestId'].map((name) => [name, valueBytes] as const),
  ['index', 16],
  ['ext', 11],
]);

/** Reads `{batch}/{key}/{index}{ext}` and the like; refused where two outputs could get one name, or an unsafe one. */
export function parseOutputNameTemplate(text: string): ParsedOutputNameTemplate {
  const composed = (piece: TemplatePiece): TemplatePiece =>
    'text' in piece ? { ...piece, text: piece.text.normalize('NFC') } : piece;
  const parts = text.split('/').map((part) => parseTemplate(part).map(composed));
  const problems = [...literalProblems(parts), ...apartProblems(parts), ...lengthProblems(parts)];
  if (problems.length > 0) return { problems: problems.map((problem) => `The name template "${text}" ${problem}.`) };
  const names = new Set(parts.flatMap(placeholdersOf));
  return { template: { text, columns: [...names].filter((name) => !placeholderBytes.has(name)), parts } };
}

/** Rows with other keys never share one, whatever the case. Throws `RangeError`: no such column, or a bad `index`. */
export function outputNameBy(
  template: OutputNameTemplate,
  values: OutputNameValues,
  index: number,
  ext: string,
): string {
  if (!Number.isSafeInteger(index) || index < 0) throw new RangeError(`The output index ${index} is no count.`);
  return fill(template, values, String(index), safeExtension(ext));
}

export function manifestNameBy(template: OutputNameTemplate, values: OutputNameValues): string {
  return fill(template, values, 'manifest.json', '');
}

function fill({ parts }: OutputNameTemplate, values: OutputNameValues, index: string, ext: string): string {
  const textOf = (token: TemplatePiece): string => {
    if ('text' in token) return token.text;
    switch (token.placeholder) {
      case 'index':
        return index;
      case 'ext':
        return ext;
      case 'batch':
      case 'key':
      case 'requestId':
        return boundedPathPart(values[token.placeholder], valueBytes);
      default: {
        const { placeholder: name } = token;
        const value = Object.hasOwn(values.columns, name) ? values.columns[name] : undefined;
        if (value === undefined) throw new RangeError(`The row has no column ${JSON.stringify(name)} for its names.`);
        return columnPart(value, columnBytes);
      }
    }
  };
  return parts.map((part, position) => partOf(part.map(textOf).join(''), position === 0)).join('/');
}

function placeholdersOf(part: readonly TemplatePiece[]): string[] {
  return part.flatMap((token) => ('placeholder' in token ? [token.placeholder] : []));
}

function literalProblems(parts: readonly (readonly TemplatePiece[])[]): string[] {
  const problems: string[] = [];
  for (const part of parts) {
    if (part.length === 0) problems.push('has an empty part; remove the slash too many');
    for (const token of part) {
      if ('text' in token && !isLiteralSafe(token.text)) {
        problems.push(`has ${JSON.stringify(token.text)} in it, which not every file system takes; leave it out`);
      }
    }
    const [first, last] = [part.at(0), part.at(-1)];
    if (first !== undefined && 'text' in first && /^[. ]/.test(first.text)) {
      problems.push('has a part that begins with a dot or a space; begin it with something else');
    }
    if (last !== undefined && 'text' in last && /[. ]$/.test(last.text)) {
      problems.push('has a part that ends in a dot or a space; end it with something else');
    }
  }
  return problems;
}

function apartProblems(parts: readonly (readonly TemplatePiece[])[]): string[] {
  const problems: string[] = [];
  if (!endsInIndex(parts)) {
    problems.push('must end in {index}{ext}, for the outputs of a task to have names of their own; put it last, once');
  }
  const mixed = (name: string): boolean => !parts.some((part) => canBeReadOff(part, name));
  if (!mixed('requestId')) return problems;
  const named = new Set(parts.flatMap(placeholdersOf));
  for (const name of ['batch', 'key'].filter(mixed)) {
    problems.push(
      named.has(name)
        ? `mixes {${name}} with what stands beside it, so that two tasks could share a name; give it a part of its own: {${name}}/`
        : `has no {${name}}, so that two tasks could share a name; put {${name}}/ in front, or {requestId}/`,
    );
  }
  return problems;
}

function endsInIndex(parts: readonly (readonly TemplatePiece[])[]): boolean {
  const last = parts.at(-1) ?? [];
  const tail = isPlaceholder(last.at(-1), 'ext') ? last.slice(0, -1) : last;
  const rest = [...parts.slice(0, -1).flat(), ...tail.slice(0, -1)];
  const isOnlyThere = !rest.some((token) => isPlaceholder(token, 'index') || isPlaceholder(token, 'ext'));
  return isPlaceholder(tail.at(-1), 'index') && isOnlyThere;
}

/** Alone with fixed text in its part, or before `{index}` with a character between that no index or extension has. */
function canBeReadOff(part: readonly TemplatePiece[], name: string): boolean {
  const varying = placeholdersOf(part).filter((one) => one !== 'index' && one !== 'ext');
  if (varying.length !== 1 || varying[0] !== name) return false;
  const index = part.findIndex((token) => isPlaceholder(token, 'index'));
  if (index === -1) return true;
  const before = part.slice(part.findIndex((token) => isPlaceholder(token, name)) + 1, index);
  return before.some((token) => 'text' in token && /[^A-Za-z0-9.]/.test(token.text));
}

function isPlaceholder(token: TemplatePiece | undefined, name: string): boolean {
  return token !== undefined && 'placeholder' in token && token.placeholder === name;
}

function lengthProblems(parts: readonly (readonly TemplatePiece[])[]): string[] {
  const lengths = parts.map((part) =>
    part.reduce(
      (sum, token) =>
        sum + ('text' in token ? utf8Bytes(token.text) : (placeholderBytes.get(token.placeholder) ?? columnBytes)),
      4, // partOf may escape the character at each end
    ),
  );
  const problems: string[] = [];
  if (lengths.some((bytes) => bytes > maxPartBytes)) {
    problems.push(`can make a part of more than ${maxPartBytes} bytes; use fewer placeholders between two slashes`);
  }
  if (lengths.reduce((sum, bytes) => sum + bytes + 1, 0) > maxNameBytes) {
    problems.push(`can make names of more than ${maxNameBytes} bytes; use fewer placeholders`);
  }
  return problems;
}
