import { firstProblems } from '../contract/input-bounds';
import { parseInputKey } from '../core/input-values';
import { showValue } from '../core/text';
import { columnName, type Delimiter, delimiters, parseCells } from './cells';
import { getKeyColumn, type RowOptions } from './row-options';
import { meantName, optionFor, RowFileError, type RowProblem, suggestName } from './row-problem';
import type { RawRecord } from './split-records';

/** The column of a table, and the field of a row, that chooses the app. */
export const appColumn = 'webAppId';

/** The column, and the field, that chooses the account. In a table with a template it is a column like any other. */
export const accountColumn = 'account';

/** What the columns of a table are for, by their names. */
export interface TableColumns {
  readonly names: readonly string[];
  /** Those that are sent: input keys, or what the template asks for. */
  readonly sent: ReadonlySet<string>;
  /** Those that make a row what it is. */
  readonly used: readonly string[];
}

/**
 * Reads the names of a table's columns.
 *
 * @throws RowFileError with every problem: a column that is not understood would be paid for and not sent.
 */
export function readTableColumns(names: readonly string[], options: RowOptions): TableColumns {
  const { template, keyColumn, keepColumns = [], ignoreColumns = [] } = options;
  const own = [getKeyColumn(options), appColumn, ...(isAccountColumn(options) ? [accountColumn] : [])];
  const others = new Set([...own, ...keepColumns]);
  const asked = template?.columns ?? [];
  const sent = new Set<string>();
  const problems = [...nameProblems(names), ...missingColumns(names, options)];
  // Whether any name is known here, so that the line seems to be the header.
  let isHeader = template !== undefined && asked.length === 0;
  const unknown: string[] = [];
  for (const name of names) {
    const isInputKey = parseInputKey(name) !== undefined;
    const meant = suggestName(name, own);
    const isAsked = asked.includes(name);
    isHeader ||=
      isAsked || suggestName(name, asked) !== undefined || meant !== undefined || others.has(name) || isInputKey;
    if (template === undefined ? isInputKey : isAsked) {
      sent.add(name);
      continue;
    }
    const isIgnored = name === '' || others.has(name) || ignoreColumns.includes(name);
    // The column of the keys that is missing was named together with what it seems to be called.
    const isNamed = meant !== undefined && meant === keyColumn && !names.includes(meant);
    // With a template, other columns are a person's own.
    const mayBeOwn = template !== undefined && !isInputKey && meant === undefined;
    if (!isIgnored && !isNamed && !mayBeOwn) unknown.push(unknownColumn(name, meant, options));
  }
  if (!isHeader) {
    const template = optionFor('template', null, options);
    problems.push(
      `The first line does not name the columns that are expected; remove a title above the header, or say by a template what columns of your own are for ${template}.`,
    );
  }
  problems.push(...unknown);
  for (const name of ignoreColumns) sent.delete(name);
  if (problems.length > 0) throw new RowFileError(firstProblems(problems));
  return { names, sent, used: names.filter((name) => sent.has(name) || others.has(name)) };
}

/** Whether a column of that name is the account of its row. */
export function isAccountColumn(options: RowOptions): boolean {
  const { template, ignoreColumns = [] } = options;
  return template === undefined && getKeyColumn(options) !== accountColumn && !ignoreColumns.includes(accountColumn);
}

function nameProblems(names: readonly string[]): string[] {
  const last = new Map(names.map((name, index) => [name, index]));
  const duplicates = new Set(names.filter((name, index) => name !== '' && last.get(name) !== index));
  const problems = [...duplicates].map((name) => `The column ${showValue(name)} is there twice; rename or remove one.`);
  for (const [index, name] of names.entries()) {
    if (name === '') problems.push(`Column ${index + 1} has no name; name it or remove it.`);
    else if (/\p{Cc}/u.test(name)) {
      problems.push(
        `The column ${showValue(name)} has control characters in its name; end lines with \\n or \\r\\n, and close all quotes.`,
      );
    }
  }
  return problems;
}

const maxListedColumns = 50;

/** The columns that the options name and the table does not have. */
function missingColumns(names: readonly string[], options: RowOptions): string[] {
  const { template, keyColumn, keepColumns = [], textColumns = [], ignoreColumns = [] } = options;
  const wanted = new Set([...(template?.columns ?? []), ...keepColumns, ...ignoreColumns]);
  // With a template it may also be an input that the template makes.
  for (const name of textColumns) if (template === undefined || parseInputKey(name) === undefined) wanted.add(name);
  if (keyColumn !== undefined) wanted.add(keyColumn);
  const list = names.slice(0, maxListedColumns).map((name) => showValue(name));
  if (names.length > list.length) list.push(`and ${names.length - list.length} more`);
  return [...wanted]
    .filter((name) => !names.includes(name))
    .map((name) => {
      const meant = meantName(name, names);
      const hint = meant === undefined ? '' : ` Do you mean ${showValue(meant)}?`;
      return `There is no column ${showValue(name)}, which the options or the template name.${hint} The columns are ${list.join(', ')}.`;
    });
}

function unknownColumn(name: string, meant: string | undefined, options: RowOptions): string {
  const ignore = `Rename it, or ignore it ${optionFor('ignoreColumns', name, options)}.`;
  if (meant !== undefined && parseInputKey(name) === undefined) {
    return `The column ${showValue(name)} is not known; do you mean ${showValue(meant)}? ${ignore}`;
  }
  const expected = options.template === undefined ? 'an input key such as "1:LoadImage.image"' : 'one of the template';
  return `The column ${showValue(name)} is not known; expected ${expected}. ${ignore}`;
}

/**
 * The names of a table's columns, by its first line and what kept its cells from being read. Unnamed columns at the end, as spreadsheets leave them behind, are ignored.
 *
 * @throws RowFileError when there seems to be another delimiter: as one column, a header such as `key;1:A.b` is an
 * input key, and every row would be paid for.
 */
export function readHeader(
  record: RawRecord,
  cells: readonly string[] | undefined,
  problems: readonly RowProblem[],
  delimiter: Delimiter,
  options: RowOptions,
): readonly string[] {
  const { fault, text } = record;
  if (fault === 'TOO_LARGE') {
    throw new RowFileError([
      `The header has ${record.bytes} bytes, more than a row may have; end lines with \\n or \\r\\n, and close all quotes.`,
    ]);
  }
  if (text !== undefined && /\r(?!\n)/.test(text)) {
    throw new RowFileError(['The lines end with \\r, as on an old Mac; end them with \\n or \\r\\n.']);
  }
  const other = text === undefined ? undefined : otherDelimiter(text, delimiter);
  if (other !== undefined) {
    const said = other === '\t' && options.optionNames === 'commandLine' ? 'tab' : other;
    const option = optionFor('delimiter', said, options);
    throw new RowFileError([
      `The header is one column, ${showValue(text)}, and its cells seem to have another delimiter. Say so ${option}.`,
    ]);
  }
  if (cells === undefined) {
    throw new RowFileError(problems.map(({ message }) => `The header cannot be read. ${message}`));
  }
  const { template, keyColumn, keepColumns = [], textColumns = [], ignoreColumns = [] } = options;
  const asked = [...(template?.columns ?? []), keyColumn ?? '', ...keepColumns, ...textColumns, ...ignoreColumns];
  const askedNames = new Map(asked.map((name) => [columnName(name), name]));
  const names = cells.map(columnName).map((name) => askedNames.get(name) ?? name);
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1);
}

/** The delimiter that a header seems to have which is one column with the given one; `undefined` when it seems to have none. */
export function otherDelimiter(header: string, delimiter: Delimiter): Delimiter | undefined {
  const countCells = (one: Delimiter): number => parseCells(header, one).cells?.length ?? 0;
  if (countCells(delimiter) > 1) return undefined;
  const [other] = delimiters
    .filter((one) => one !== delimiter && countCells(one) > 1)
    .sort((one, two) => countCells(two) - countCells(one));
  return other;
}
