import { stringify } from 'csv-stringify/sync';
import { formatAmount } from '../money/money';
import type { ResultLine } from './result-line';

/** Between the paths of one cell. No name in an archive has one. */
const pathSeparator = '|';

// prettier-ignore
const resultColumns = [
  'key', 'line', 'status', 'request_id', 'failure_type', 'failure', 'outputs', 'manifest', 'started_at', 'ended_at',
  'seconds', 'failed_outputs', 'cost', 'currency', 'queued_seconds', 'cost_times', 'sheet_row',
];

/** The form of the row file, where that is a table. */
export interface OwnTable {
  readonly columns: readonly string[];
  readonly delimiter: string;
  readonly hasBom: boolean;
  /** What stands before the fraction of a number. @default point */
  readonly decimal?: 'point' | 'comma';
}

/** A row as `results.csv` tells it. */
export interface TableLine extends ResultLine {
  /** What stands in the row's own columns, in their order. */
  readonly cells: readonly string[];
}

/** Makes `results.csv`: quoted as RFC 4180 has it, and in the form of the row file, whose columns follow the results. */
export class ResultsTable {
  readonly #own: OwnTable;

  constructor(own: OwnTable = { columns: [], delimiter: ',', hasBom: false }) {
    this.#own = own;
  }

  /** The first line. */
  head(): string {
    const { columns, hasBom } = this.#own;
    return `${hasBom ? '\uFEFF' : ''}${this.#text([[...resultColumns, ...ownNames(columns).map(plainCell)]])}`;
  }

  text(lines: readonly TableLine[]): string {
    const { columns } = this.#own;
    return this.#text(
      lines.map(({ key, line, status, requestId, failure, outputs, manifest, startedAt, endedAt, ...more }) => [
        plainCell(key),
        line,
        status,
        plainCell(requestId),
        plainCell(failure?.type),
        plainCell(failure?.message),
        plainCell(outputs.map(({ path }) => path).join(pathSeparator)),
        plainCell(manifest),
        startedAt,
        endedAt,
        this.#number(more.seconds),
        more.failedOutputCount,
        this.#number(more.cost && formatAmount(more.cost)),
        more.cost?.currency,
        this.#number(more.queuedSeconds),
        Object.keys(more.costTimes).length === 0 ? null : JSON.stringify(more.costTimes),
        more.sheetRow,
        ...columns.map((_, index) => plainCell(more.cells[index])),
      ]),
    );
  }

  #number(value: number | string | null | undefined): string | null {
    if (value == null) return null;
    return this.#own.decimal === 'comma' ? String(value).replace('.', ',') : String(value);
  }

  #text(lines: readonly (readonly unknown[])[]): string {
    // Many readers take a lone carriage return for the end of a line.
    return stringify([...lines], { delimiter: this.#own.delimiter, quoted_match: '\r' });
  }
}

/** The names of a row file's columns beside those of the results; capital letters make no difference to some programs. */
function ownNames(columns: readonly string[]): readonly string[] {
  const taken = new Set([...resultColumns, ...columns].map((name) => name.toLowerCase()));
  return columns.map((column) => {
    if (!resultColumns.includes(column.toLowerCase())) return column;
    let name = column;
    do name = `row.${name}`;
    while (taken.has(name.toLowerCase()));
    taken.add(name.toLowerCase());
    return name;
  });
}

const formula = /^'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]/;
const plainNumber = /^[+-]?\d+(?:[.,]\d+)?$/;

/**
 * A cell that no spreadsheet takes for a formula: what would begin one gets an apostrophe in front, and so does what has
 * apostrophes before it already. To have the text back, take one away where what follows is such a text. Numbers stay.
 *
 * @internal exported for tests
 */
export function plainCell(text: string | null | undefined): string | null {
  if (text == null) return null;
  return formula.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}
