import { stringify } from 'csv-stringify/sync';
import { formatAmount } from '../money/money';
import type { ResultLine } from './result-line';

/** No name in an archive has one. */
const pathSeparator = '|';

export interface OwnTable {
  readonly columns: readonly string[];
  readonly delimiter: string;
  readonly hasBom: boolean;
  /** What stands before a number's fraction. @default point */
  readonly decimal?: 'point' | 'comma';
}

export interface TableLine extends ResultLine {
  readonly cells: readonly string[];
}

const resultColumns: Readonly<Record<string, (line: ResultLine, number: NumberText) => unknown>> = {
  key: ({ key }) => plainCell(key),
  line: ({ line }) => line,
  status: ({ status }) => status,
  request_id: ({ requestId }) => plainCell(requestId),
  failure_type: ({ failure }) => plainCell(failure?.type),
  failure: ({ failure }) => plainCell(failure?.message),
  outputs: ({ outputs }) => plainCell(outputs.map(({ path }) => path).join(pathSeparator)),
  manifest: ({ manifest }) => plainCell(manifest),
  started_at: ({ startedAt }) => startedAt,
  ended_at: ({ endedAt }) => endedAt,
  seconds: ({ seconds }, number) => number(seconds),
  failed_outputs: ({ failedOutputCount }) => failedOutputCount,
  cost: ({ cost }, number) => number(cost && formatAmount(cost)),
  currency: ({ cost }) => cost?.currency,
  queued_seconds: ({ queuedSeconds }, number) => number(queuedSeconds),
  cost_times: ({ costTimes }) => (Object.keys(costTimes).length === 0 ? null : JSON.stringify(costTimes)),
  sheet_row: ({ sheetRow }) => sheetRow,
};

type NumberText = (value: number | string | null) => string | null;

/** `results.csv`, quoted as RFC 4180 has it, in the form of the row file, whose columns follow the results. */
export class ResultsTable {
  readonly #own: OwnTable;

  constructor(own: OwnTable = { columns: [], delimiter: ',', hasBom: false }) {
    this.#own = own;
  }

  head(): string {
    const { columns, hasBom } = this.#own;
    const names = [...Object.keys(resultColumns), ...ownNames(columns).map(plainCell)];
    return `${hasBom ? '\uFEFF' : ''}${this.#text([names])}`;
  }

  text(lines: readonly TableLine[]): string {
    const { columns, decimal } = this.#own;
    const number: NumberText = (value) => {
      if (value === null) return null;
      return decimal === 'comma' ? String(value).replace('.', ',') : String(value);
    };
    return this.#text(
      lines.map((line) => [
        ...Object.values(resultColumns).map((cell) => cell(line, number)),
        ...columns.map((_, index) => plainCell(line.cells[index])),
      ]),
    );
  }

  #text(lines: readonly (readonly unknown[])[]): string {
    // Many readers take a lone carriage return for the end of a line.
    return stringify([...lines], { delimiter: this.#own.delimiter, quoted_match: '\r' });
  }
}

/** Capital letters make no difference to some programs. */
function ownNames(columns: readonly string[]): readonly string[] {
  const taken = new Set([...Object.keys(resultColumns), ...columns].map((name) => name.toLowerCase()));
  return columns.map((column) => {
    if (!Object.hasOwn(resultColumns, column.toLowerCase())) return column;
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
 * An apostrophe keeps spreadsheets from taking a text for a formula; a text with apostrophes in front gets one, too, so
 * that it can be taken away again. Numbers stay. @internal exported for tests
 */
export function plainCell(text: string | null | undefined): string | null {
  if (text == null) return null;
  return formula.test(text) && !plainNumber.test(text) ? `'${text}` : text;
}
