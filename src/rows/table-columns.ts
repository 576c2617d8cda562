import { firstProblems } from '../contract/input-bounds';
import { parseInputKey } from '../domain/input-values';
import { showValue } from '../domain/text';
import { columnName, type Delimiter, delimiters, delimiterWord, parseCells } from './table-cells';
import { getKeyColumn, type RowOptions } from './row-options';
import { optionFor, optionName } from './option-names';
import { meantName, suggestName, RowFileError, type RowProblem } from './row-problem';
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
 * Reads the header of a table.
 *
 * @throws RowFileError with every problem: a column that is not understood would be paid for and not sent.
 */
export function readTableColumns(names: readonly string[], options: RowOptions): TableColumns {
  const problems = [...nameProblems(names), ...missing(names, options)];
  const { template, keyColumn, keepColumns = [], ignoreColumns = [] } = options;
  const own = [getKeyColumn(options), appColumn, ...(isAccountColumn(options) ? [accountColumn] : [])];
  const others = new Set([...own, ...keepColumns]);
  const sent = new Set<string>();
  const unknownColumns: string[] = [];
  const asked = template?.columns ?? [];
  let isHeader = template !== undefined && asked.length === 0;
  for (const name of names) {
    const meant = suggestName(name, own);
    const isColumn = asked.includes(name) || suggestName(name, asked) !== undefined;
    isHeader ||= isColumn || meant !== undefined || others.has(name) || parseInputKey(name) !== undefined;
    if (template === undefined ? parseInputKey(name) !== undefined : template.columns.includes(name)) sent.add(name);
    else if (name !== '' && !others.has(name) && !ignoreColumns.includes(name)) {
      // The column that is missing was named together with what it seems to be called.
      if (meant !== undefined && meant === keyColumn && !names.includes(meant)) continue;
      const problem = unknownColumnProblem(name, meant, options);
      if (problem !== undefined) unknownColumns.push(problem);
    }
  }
  if (!isHeader)
    problems.push(
      `The first line names the columns; remove what stands above it, such as a title, or put one before the rows if the file has none${byTemplate(options)}.`,
    );
  problems.push(...unknownColumns);
  for (const name of ignoreColumns) sent.delete(name);
  if (problems.length > 0) throw new RowFileError(firstProblems(problems));
  return { names, sent, used: names.filter((name) => sent.has(name) || others.has(name)) };
}

/** Whether a column of that name is the account of its row. */
export function isAccountColumn(options: RowOptions): boolean {
  const { template, ignoreColumns = [] } = options;
  return template === undefined && getKeyColumn(options) !== accountColumn && !ignoreColumns.includes(accountColumn);
}

/** The names of a sheet of one's own are no input keys. */
function byTemplate(options: RowOptions): string {
  if (options.template !== undefined) return '';
  return `; if they are names of your own, a template says what they are for ${optionName('template', options)}`;
}

function nameProblems(names: readonly string[]): string[] {
  const last = new Map(names.map((name, index) => [name, index]));
  const duplicates = new Set(names.filter((name, index) => name !== '' && last.get(name) !== index));
  return [
    ...names.flatMap((name, index) => (name === '' ? [`Column ${index + 1} has no name; name it or remove it.`] : [])),
    ...[...duplicates].map((name) => `The column ${showValue(name)} is there twice; rename or remove one.`),
    ...names
      .filter((name) => /\p{Cc}/u.test(name))
      .map(
        (name) =>
          `The column ${showValue(name)} has control characters in its name; end lines with \\n or \\r\\n, and close all quotes.`,
      ),
  ];
}

function missing(names: readonly string[], options: RowOptions): string[] {
  const { template, keyColumn, keepColumns = [], textColumns = [], ignoreColumns = [] } = options;
  const wanted = new Map<string, string>();
  for (const name of template?.columns ?? []) wanted.set(name, 'the template asks for');
  for (const name of keepColumns) wanted.set(name, 'the names of archived files ask for');
  for (const name of textColumns) {
    // With a template it may also be an input that the template makes.
    if (template === undefined || parseInputKey(name) === undefined) wanted.set(name, 'is to be sent as text');
  }
  for (const name of ignoreColumns) wanted.set(name, 'is to be ignored');
  if (keyColumn !== undefined) wanted.set(keyColumn, 'is to hold the keys');
  const known = names.slice(0, maxListedColumns).map((name) => showValue(name));
  const more = names.length - known.length;
  const list = [...known, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
  return [...wanted]
    .filter(([name]) => !names.includes(name))
    .map(([name, why]) => {
      const meant = meantName(name, names);
      const hint = meant === undefined ? '' : `do you mean ${showValue(meant)}? `;
      return `There is no column ${showValue(name)}, which ${why}; ${hint}${hint === '' ? 'the' : 'The'} columns are ${list}.`;
    });
}

const maxListedColumns = 50;

function unknownColumnProblem(name: string, meant: string | undefined, options: RowOptions): string | undefined {
  const shown = showValue(name);
  const ignore = `ignore it ${optionFor('ignoreColumns', name, options)}`;
  const isInputKey = parseInputKey(name) !== undefined;
  if (meant !== undefined && !isInputKey) {
    return `There is a column ${shown}; do you mean ${showValue(meant)}? Rename it, or ${ignore}.`;
  }
  if (options.template === undefined) {
    return `The column ${shown} is no input key such as "1:LoadImage.image"; rename it, ${ignore}, or use it in a template ${optionName('template', options)}.`;
  }
  return isInputKey
    ? `The column ${shown} is an input key, and the template does not use it; add it there or ${ignore}.`
    : undefined;
}

/** The first line of a table: its text, its cells, and what kept them from being read. */
export interface HeaderLine {
  readonly record: RawRecord;
  readonly cells: readonly string[] | undefined;
  readonly problems: readonly RowProblem[];
}

/**
 * The names of a table's columns. Unnamed columns at the end, as spreadsheets leave them behind, are ignored.
 *
 * @throws RowFileError when there seems to be another delimiter: as one column, a header such as `key;1:A.b` is an
 * input key, and every row would be paid for.
 */
export function readHeader(
  { record, cells, problems }: HeaderLine,
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
  if (text !== undefined) refuseOtherDelimiter(text, delimiter, options);
  if (cells === undefined) {
    throw new RowFileError(problems.map(({ message }) => `The header cannot be read. ${message}`));
  }
  const { template, keyColumn, keepColumns = [], textColumns = [], ignoreColumns = [] } = options;
  const asked = [...(template?.columns ?? []), keyColumn ?? '', ...keepColumns, ...textColumns, ...ignoreColumns];
  const askedNames = new Map(asked.map((name) => [columnName(name), name]));
  const names = cells.map(columnName).map((name) => askedNames.get(name) ?? name);
  return names.slice(0, names.findLastIndex((name) => name !== '') + 1);
}

function refuseOtherDelimiter(text: string, delimiter: Delimiter, { optionNames }: RowOptions): void {
  const other = otherDelimiter(text, delimiter);
  if (other === undefined) return;
  const word = delimiterWord(other);
  const option = optionNames === 'commandLine' ? `--delimiter ${word}` : `delimiter: ${JSON.stringify(other)}`;
  throw new RowFileError([
    `The header is one column, ${showValue(text)}: its cells seem to be separated by ${word}. Say so (${option}).`,
  ]);
}

/** The delimiter that a header seems to have which is one column with the given one; `undefined` when it seems to have none. */
export function otherDelimiter(header: string, delimiter: Delimiter): Delimiter | undefined {
  if (countCells(header, delimiter) > 1) return undefined;
  const [other] = delimiters
    .filter((one) => one !== delimiter)
    .map((one) => ({ one, count: countCells(header, one) }))
    .filter(({ count }) => count > 1)
    .sort((one, two) => two.count - one.count);
  return other?.one;
}

function countCells(text: string, delimiter: Delimiter): number {
  return parseCells(text, delimiter).cells?.length ?? 0;
}
