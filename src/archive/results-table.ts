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

const resultColumns: Readonly<Record<string, (line: ResultLine, number: NumberText) => unknown>> = {
  status: ({ status }) => status,
  output: ({ outputs }) => plainCell(outputs.map(({ path }) => path).join(pathSeparator)),
  message: ({ failure }) => plainCell(failure?.message),
  failure_type: ({ failure }) => plainCell(failure?.type),
  key: ({ key }) => plainCell(key),
  sheet_row: ({ sheetRow }) => sheetRow,
  line: ({ line }) => line,
  started_at: ({ startedAt }) => startedAt,
  ended_at: ({ endedAt }) => endedAt,
  seconds: ({ seconds }, number) => number(seconds),
  queued_seconds: ({ queuedSeconds }, number) => number(queuedSeconds),
  cost: ({ cost }, number) => number(cost && formatAmount(cost)),
  currency: ({ cost }) => cost?.currency,
  failed_outputs: ({ failedOutputCount }) => failedOutputCount,
  request_id: ({ requestId }) => plainCell(requestId),
  manifest: ({ manifest }) => plainCell(manifest),
};

type NumberText = (value: number | string | null) => string | null;

/** `results.csv`, quoted as RFC 4180 has it, in the form of the row file, whose columns come first. */
export class ResultsTable {
  readonly #own: OwnTable;

  constructor(own: OwnTable = { columns: [], delimiter: ',', hasBom: false }) {
    this.#own = own;
  }

  head(): string {
    const { columns, hasBom } = this.#own;
    return `${hasBom ? '\uFEFF' : ''}${this.#text([[...columns.map(plainCell), ...namesBeside(columns)]])}`;
  }

  text(lines: readonly ResultLine[]): string {
    const { columns, decimal } = this.#own;
    const number: NumberText = (value) => {
      if (value === null) return null;
      return decimal === 'comma' ? String(value).replace('.', ',') : String(value);
    };
    return this.#text(
      lines.map((line) => [
        ...columns.map((_, index) => plainCell(line.cells[index]?.[1])),
        ...Object.values(resultColumns).map((cell) => cell(line, number)),
      ]),
    );
  }

  #text(lines: readonly (readonly unknown[])[]): string {
    // Many readers take a lone carriage return for the end of a line.
    return stringify([...lines], { delimiter: this.#own.delimiter, quoted_match: '\r' });
  }
}

/** Capital letters make no difference to some programs. */
function namesBeside(columns: readonly string[]): readonly string[] {
  const taken = new Set(columns.map((name) => name.toLowerCase()));
  return Object.keys(resultColumns).map((name) => {
    let free = name;
    while (taken.has(free)) free = `result.${free}`;
    return free;
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
