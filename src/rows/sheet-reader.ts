import { type NumberFormat, showNumber } from './cell-format';
import { RowFileError } from './row-problem';
import type { RecordProblem, TableRecord } from './row-record';

export type Attributes = Readonly<Record<string, string>>;

/** What is called while XML is read; names are without prefixes. */
export interface XmlHandlers {
  readonly open: (name: string, attributes: Attributes) => void;
  readonly close?: (name: string) => void;
  readonly text?: (text: string) => void;
}

/** What the cells of all sheets refer to. */
export interface WorkbookParts {
  readonly texts: readonly string[];
  /** By the index that a cell names as its style. */
  readonly styles: readonly NumberFormat[];
  readonly is1904: boolean;
}

/** Of a row, and of cells that hold something. */
const maxColumns = 1_024;

interface OpenCell {
  readonly column: number;
  readonly type: string;
  readonly style: number;
  hasFormula: boolean;
  /** What stands in `v`. */
  value: string | undefined;
}

/** Rows of a sheet, from its XML. */
export class SheetReader implements XmlHandlers {
  readonly #parts: WorkbookParts;
  readonly #maxRowBytes: number;
  readonly #inline = new TextOfCell();
  #rows: TableRecord[] = [];
  #row = 0;
  /** Of the header: rows end with their last cell. */
  #width: number | undefined;
  #cells: string[] = [];
  #problems = new Map<number, string>();
  #bytes = 0;
  #cell: OpenCell | undefined;
  #next = 0;
  #isValue = false;

  constructor(parts: WorkbookParts, maxRowBytes: number) {
    this.#parts = parts;
    this.#maxRowBytes = maxRowBytes;
  }

  /** Those that are complete. */
  take(): readonly TableRecord[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  readonly open = (name: string, attributes: Attributes): void => {
    if (name === 'row') this.#openRow(Number(attributes['r']));
    else if (name === 'c') this.#openCell(attributes);
    else if (name === 'f' && this.#cell !== undefined) this.#cell.hasFormula = true;
    else if (name === 'v') this.#openValue();
    else this.#inline.open(name);
  };

  readonly close = (name: string): void => {
    if (name === 'row') this.#closeRow();
    else if (name === 'c') this.#closeCell();
    else if (name === 'v') this.#isValue = false;
    else this.#inline.close(name);
  };

  readonly text = (piece: string): void => {
    if (this.#isValue && this.#cell !== undefined) this.#cell.value = `${this.#cell.value ?? ''}${piece}`;
    else this.#inline.add(piece);
  };

  #openRow(number: number): void {
    this.#row = Number.isSafeInteger(number) && number > this.#row ? number : this.#row + 1;
    this.#cells = [];
    this.#problems = new Map();
    this.#bytes = 0;
    this.#next = 0;
  }

  #openCell({ r = '', t: type = 'n', s: style = '0' }: Attributes): void {
    const column = columnIndex(r) ?? this.#next;
    this.#next = column + 1;
    this.#cell = { column, type, style: Number(style), hasFormula: false, value: undefined };
  }

  #openValue(): void {
    this.#isValue = true;
    // A formula whose value is the empty text has an empty `v`; a number has none when it was never computed.
    if (this.#cell?.type === 'str') this.#cell.value ??= '';
  }

  #closeCell(): void {
    const cell = this.#cell;
    this.#cell = undefined;
    const inline = this.#inline.take();
    if (cell === undefined) return;
    const { column } = cell;
    const { text, problem } = this.#show(cell, inline);
    if (text === '' && problem === undefined) return;
    const place = `${columnName(column)}${this.#row}`;
    if (column >= maxColumns) {
      throw new RowFileError(`The cell ${place} is beyond column ${columnName(maxColumns - 1)}; remove it.`);
    }
    if (problem !== undefined) this.#problems.set(column, `${problem} (cell ${place})`);
    this.#bytes += Buffer.byteLength(text);
    while (this.#cells.length < column) this.#cells.push('');
    this.#cells[column] = this.#bytes > this.#maxRowBytes ? '' : text;
  }

  #show({ type, style, hasFormula, value }: OpenCell, inline: string): { text: string; problem?: string } {
    if (type === 'inlineStr') return { text: inline };
    if (value === undefined) {
      const remedy = 'open the workbook in a spreadsheet program and save it, or enter the value';
      return hasFormula ? { text: '', problem: `got a formula without its value; ${remedy}` } : { text: '' };
    }
    if (type === 's') return { text: this.#parts.texts[Number(value)] ?? '' };
    if (type === 'b') return { text: value === '1' ? 'TRUE' : 'FALSE' };
    if (type !== 'n') return { text: value };
    const { text = value, problem } = showNumber(value, this.#parts.styles[style] ?? { id: 0 }, this.#parts.is1904);
    return { text, problem };
  }

  #closeRow(): void {
    const [cells, cellProblems] = [this.#cells, this.#problems];
    if (cells.every((cell) => cell === '') && cellProblems.size === 0 && this.#bytes === 0) return;
    this.#width ??= cells.length;
    while (cells.length < this.#width) cells.push('');
    const message = `The row has ${this.#bytes} bytes, more than a row may have; give long values as files.`;
    const problem: RecordProblem | undefined =
      this.#bytes > this.#maxRowBytes ? { code: 'TOO_LARGE', message } : undefined;
    const place = { line: this.#row, sheetRow: this.#row };
    this.#rows.push(problem === undefined ? { ...place, cells, cellProblems } : { ...place, problem });
  }
}

/** `B3` is 1. */
function columnIndex(reference: string): number | undefined {
  const [letters] = /^[A-Z]{1,3}(?=\d)/.exec(reference) ?? [];
  if (letters === undefined) return undefined;
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : `${columnName(Math.floor(index / 26) - 1)}${letter}`;
}

/** What stands in `t`, also in pieces of several fonts, without the readings of Japanese words. */
export class TextOfCell {
  #text = '';
  #isText = false;
  #isReading = false;

  open(name: string): void {
    if (name === 'rPh') this.#isReading = true;
    else if (name === 't') this.#isText = !this.#isReading;
  }

  close(name: string): void {
    if (name === 'rPh') this.#isReading = false;
    else if (name === 't') this.#isText = false;
  }

  add(piece: string): void {
    if (this.#isText) this.#text += piece;
  }

  take(): string {
    const text = this.#text;
    this.#text = '';
    // So a workbook writes characters that XML does not have.
    return text.includes('_x')
      ? text.replace(/_x([\dA-Fa-f]{4})_/g, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
      : text;
  }
}
