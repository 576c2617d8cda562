import { type RowFile, utf8Mark } from './row-file';
import { declaredDelimiter, type Delimiter, delimiterByFormat } from './cells';
import { otherDelimiter } from './table-columns';

/** How a row file is written, for a table that a person opens beside it. */
export interface TableForm {
  readonly delimiter: Delimiter;
  /** Whether a first line such as `sep=;` says so. */
  readonly isDeclared: boolean;
  readonly lineEnd: '\n' | '\r\n';
}

/** The longest beginning that is kept, in bytes, where the first lines do not end before it. */
const maxHeadBytes = 65_536;

/** Notes the form of a row file while its rows are read: what comes by a pipe cannot be read twice. */
export class TableFormReader {
  /** The same file, to be read in its place. */
  readonly file: RowFile;
  readonly #said: Delimiter | undefined;
  #head: Buffer = Buffer.alloc(0);

  /** @param said - the delimiter that the caller gives; without it the file says it. */
  constructor(file: RowFile, said?: Delimiter) {
    this.file = { ...file, chunks: this.#noted(file.chunks) };
    this.#said = said;
  }

  /** The form, as far as it was read: of a file that could not be, that of its format. */
  get form(): TableForm {
    const { format } = this.file;
    const byFormat = delimiterByFormat[format === 'jsonl' ? 'csv' : format];
    if (format === 'jsonl') return { delimiter: byFormat, isDeclared: false, lineEnd: '\n' };
    const table = this.#head.subarray(this.#head.indexOf(utf8Mark) === 0 ? utf8Mark.length : 0);
    const declared = declaredDelimiter(table);
    const [line = ''] = table.toString('utf8').split('\n', 1);
    return {
      delimiter: this.#said ?? declared?.delimiter ?? otherDelimiter(line, byFormat) ?? byFormat,
      isDeclared: declared !== undefined,
      lineEnd: line.endsWith('\r') ? '\r\n' : '\n',
    };
  }

  async *#noted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    for await (const chunk of chunks) {
      if (this.#head.length < maxHeadBytes && !this.#head.includes('\n')) {
        this.#head = Buffer.concat([this.#head, chunk.subarray(0, maxHeadBytes)]);
      }
      yield chunk;
    }
  }
}
