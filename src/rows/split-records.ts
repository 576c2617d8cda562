import type { Delimiter } from './cells';
import { formatRowPlace } from '../core/batch/row-place';
import { RowFileError } from './row-problem';
import type { RecordProblem } from './row-record';

/** The text of one row, however many lines it has, without its line end. */
export type RawRecord =
  | {
      /** Of its first line, from 1. */
      readonly line: number;
      /** Empty records counted, from 1: what a spreadsheet calls its row. */
      readonly number: number;
      readonly text: string;
      readonly fault?: never;
      readonly bytes?: never;
    }
  | {
      readonly line: number;
      readonly number: number;
      readonly fault: 'TOO_LARGE' | 'NOT_UTF8' | 'QUOTE_NOT_CLOSED';
      readonly bytes: number;
      /** Where a quote opens that is never closed; else `line`. */
      readonly faultLine: number;
      readonly lastLine: number;
      readonly text?: never;
    };

interface RecordRules {
  /** Of a table, whose cells may be quoted and hold line ends; without it every line is a record. */
  readonly delimiter?: Delimiter;
  /** Of the first byte. By default 1. */
  readonly firstLine?: number;
  /** Of one record. Of a larger one nothing is kept. */
  readonly maxBytes: number;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const quote = 0x22;

/** `closing` is after a quote that ends a cell unless another follows it. */
type Place = 'cell start' | 'plain' | 'quoted' | 'closing';

/**
 * Holds one chunk and one record, and goes on after a bad record; only a quote that is never closed takes the rest too.
 * The CSV parser would drop the rest of a chunk after a large record, and replace what is not UTF-8 silently.
 */
class RecordSplitter {
  readonly #delimiter: number | undefined;
  readonly #maxBytes: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  #place: Place = 'cell start';
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  #firstLine: number;
  #line: number;
  #records = 0;
  #quoteLine: number;

  constructor({ delimiter, firstLine = 1, maxBytes }: RecordRules) {
    this.#firstLine = firstLine;
    this.#line = firstLine;
    this.#quoteLine = firstLine;
    this.#delimiter = delimiter?.charCodeAt(0);
    this.#maxBytes = maxBytes;
  }

  *push(chunk: Uint8Array): Generator<RawRecord> {
    let start = 0;
    for (let end = this.#recordEnd(chunk, 0); end !== -1; end = this.#recordEnd(chunk, start)) {
      this.#keep(chunk.subarray(start, end));
      yield this.#take(this.#line - 1);
      start = end + 1;
    }
    this.#keep(chunk.subarray(start));
  }

  *end(): Generator<RawRecord> {
    if (this.#bytes > 0) yield this.#take(this.#line);
  }

  /** The index of the line feed that ends the record, or -1; `line` is then that of the byte after it. */
  #recordEnd(chunk: Uint8Array, from: number): number {
    if (this.#delimiter === undefined) {
      const end = chunk.indexOf(lineFeed, from);
      if (end !== -1) this.#line += 1;
      return end;
    }
    for (let index = from; index < chunk.length; index += 1) {
      const byte = chunk[index];
      if (byte === lineFeed) {
        this.#line += 1;
        if (this.#place !== 'quoted') return index;
      } else {
        if (byte === quote && this.#place === 'cell start') this.#quoteLine = this.#line;
        this.#place = this.#next(byte);
      }
    }
    return -1;
  }

  #next(byte: number | undefined): Place {
    if (this.#place === 'quoted') return byte === quote ? 'closing' : 'quoted';
    if (byte === this.#delimiter) return 'cell start';
    // A quote inside an unquoted cell opens nothing: the record stays one line, and the parser says what is wrong.
    return byte === quote && this.#place !== 'plain' ? 'quoted' : 'plain';
  }

  #keep(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  #take(lastLine: number): RawRecord {
    const [line, bytes, place] = [this.#firstLine, this.#bytes, this.#place];
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#bytes = 0;
    this.#place = 'cell start';
    this.#firstLine = this.#line;
    this.#records += 1;
    const number = this.#records;
    const extent = { line, number, bytes, faultLine: line, lastLine };
    if (place === 'quoted') return { ...extent, fault: 'QUOTE_NOT_CLOSED', faultLine: this.#quoteLine };
    if (bytes > this.#maxBytes) return { ...extent, fault: 'TOO_LARGE' };
    try {
      const text = this.#decoder.decode(whole.at(-1) === carriageReturn ? whole.subarray(0, -1) : whole);
      return { line, number, text };
    } catch {
      return { ...extent, fault: 'NOT_UTF8' };
    }
  }
}

export async function* splitRecords(
  chunks: AsyncIterable<Uint8Array>,
  rules: RecordRules,
): AsyncGenerator<RawRecord, void, undefined> {
  const splitter = new RecordSplitter(rules);
  for await (const chunk of chunks) yield* splitter.push(chunk);
  yield* splitter.end();
}

/** @throws RowFileError for a quote that is never closed: no row is known behind it. */
export function faultProblem(
  { fault, line, number, faultLine, lastLine, bytes }: Extract<RawRecord, { fault: string }>,
  quoteRemedy = '',
): RecordProblem {
  const lines = lastLine > line ? ` (to line ${lastLine})` : '';
  const message = {
    TOO_LARGE: `The row has ${bytes} bytes${lines}, more than a row may have; give long values as files.`,
    NOT_UTF8: `The row${lines} is not UTF-8; save the file as UTF-8 (in Excel: save as "CSV UTF-8").`,
    QUOTE_NOT_CLOSED: `A quote that opens in ${formatRowPlace({ line: faultLine, sheetRow: number })} is never closed, so that the rest of the file (to line ${lastLine}) cannot be read. ${quoteRemedy}`,
  }[fault];
  if (fault === 'QUOTE_NOT_CLOSED') throw new RowFileError(message);
  return { code: fault, message };
}
