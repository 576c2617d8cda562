import { posix } from 'node:path';
import { type SaxesAttributePlain, SaxesParser } from 'saxes';
import yauzl from 'yauzl';
import { errorMessage, formatBytes, showValue } from '../core/text';
import type { NumberFormat } from './cell-format';
import { collectBytes } from './collect-bytes';
import { optionNames, RowFileError } from './row-problem';
import type { TableRecord } from './row-record';
import { type Attributes, SheetReader, TextOfCell, type WorkbookParts, type XmlHandlers } from './sheet-reader';

/** It is held as a whole: the list of its parts is at its end. */
const maxPackedBytes = 64 * 1024 * 1024;
/** Of a sheet, which is read as a stream, and of each other part. */
const maxSheetBytes = 512 * 1024 * 1024;
const maxPartBytes = 64 * 1024 * 1024;
/** Between two tags. */
const maxTextBytes = 4 * 1024 * 1024;
const maxParts = 10_000;
const maxDepth = 100;

interface Relationship {
  readonly id: string;
  readonly type: string;
  /** The name of the part. */
  readonly target: string;
}

/**
 * The rows of one sheet of an .xlsx file, empty ones left out. Nothing outside of the file is opened.
 * @param sheet - by default the first one that is not hidden.
 * @throws RowFileError for what is no workbook, one beyond bounds, and a sheet that is not there.
 */
export async function* readWorkbook(
  chunks: AsyncIterable<Uint8Array>,
  sheet: string | undefined,
  maxRowBytes: number,
): AsyncGenerator<TableRecord, void, undefined> {
  const archive = await WorkbookFile.open(chunks);
  const [main] = await archive.relationships('');
  if (main === undefined) throw new RowFileError('The workbook has no sheets.');
  const { sheets, is1904 } = await readSheets(archive, main.target);
  const related = await archive.relationships(main.target);
  const visible = sheets.find(({ id, isHidden }) => !isHidden && isWorksheet(related, id));
  const chosen = sheet === undefined ? visible : sheets.find(({ name }) => name === sheet);
  const target = related.find(({ id, type }) => id === chosen?.id && type === 'worksheet')?.target;
  if (target === undefined) {
    const list = sheets.slice(0, 20).map(({ name }) => showValue(name));
    const missing = sheet === undefined ? 'sheet that is not hidden' : `sheet ${showValue(sheet)}`;
    const remedy = `say which of ${list.join(', ')} it is by ${optionNames.sheet}`;
    throw new RowFileError(`The workbook has no ${missing}; ${remedy}.`);
  }
  const partOf = (type: string): string | undefined => related.find((one) => one.type === type)?.target;
  const styles = await readStyles(archive, partOf('styles'));
  const texts = await readTexts(archive, partOf('sharedStrings'));
  const reader = new SheetReader({ texts, styles, is1904 }, maxRowBytes);
  yield* archive.read(target, reader, maxSheetBytes, () => reader.take());
  yield* reader.take();
}

function isWorksheet(related: readonly Relationship[], sheet: string): boolean {
  return related.some(({ id, type }) => id === sheet && type === 'worksheet');
}

class WorkbookFile {
  readonly #parts: ReadonlyMap<string, yauzl.Entry>;
  readonly #zip: yauzl.ZipFile;

  private constructor(zip: yauzl.ZipFile, parts: ReadonlyMap<string, yauzl.Entry>) {
    this.#zip = zip;
    this.#parts = parts;
  }

  static async open(chunks: AsyncIterable<Uint8Array>): Promise<WorkbookFile> {
    const bytes = await collectBytes(chunks, maxPackedBytes, 'save the sheet as CSV');
    try {
      const zip = await yauzl.fromBufferPromise(bytes);
      const parts = new Map<string, yauzl.Entry>();
      for await (const entry of zip.eachEntry()) {
        parts.set(entry.fileName.toLowerCase(), entry);
        if (parts.size > maxParts) throw new Error('it has too many parts');
      }
      return new WorkbookFile(zip, parts);
    } catch (error) {
      const remedy = 'save it as .xlsx, without a password';
      throw new RowFileError(`The row file is no workbook (${showValue(errorMessage(error))}); ${remedy}.`);
    }
  }

  /** Of a part, or of the whole file (''). Without links to anything outside. */
  async relationships(part: string): Promise<readonly Relationship[]> {
    const { dir, base } = posix.parse(part);
    const found: Relationship[] = [];
    const open = (name: string, { Id = '', Type = '', Target = '', TargetMode }: Attributes): void => {
      if (name !== 'Relationship' || TargetMode === 'External') return;
      const type = Type.slice(Type.lastIndexOf('/') + 1);
      found.push({ id: Id, type, target: posix.resolve('/', dir, Target).slice(1) });
    };
    const rels = posix.join(dir, '_rels', `${base}.rels`);
    await this.readAll(rels, { open });
    return part === '' ? found.filter(({ type }) => type === 'officeDocument') : found;
  }

  async readAll(part: string, handlers: XmlHandlers): Promise<void> {
    await this.read(part, handlers, maxPartBytes, () => []).next();
  }

  /** Yields what there is to take after each piece. */
  async *read<Item>(
    part: string,
    handlers: XmlHandlers,
    maxBytes: number,
    take: () => readonly Item[],
  ): AsyncGenerator<Item, void, undefined> {
    const entry = this.#parts.get(part.toLowerCase());
    const name = `The part ${showValue(part)} of the workbook`;
    if (entry === undefined) throw new RowFileError(`${name} is missing; save the workbook again.`);
    const parser = parserFor(name, handlers);
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let bytes = 0;
    try {
      const stream = await this.#zip.openReadStreamPromise(entry);
      for await (const piece of stream as AsyncIterable<Uint8Array>) {
        bytes += piece.length;
        if (bytes > maxBytes) {
          throw new RowFileError(`${name} has more than ${formatBytes(maxBytes)} unpacked; save the sheet as CSV.`);
        }
        parser.write(decoder.decode(piece, { stream: true }), piece.length);
        yield* take();
      }
      parser.close();
    } catch (error) {
      if (error instanceof RowFileError) throw error;
      throw new RowFileError(`${name} cannot be read (${showValue(errorMessage(error))}); save the workbook again.`);
    }
  }
}

function parserFor(name: string, { open, close, text }: XmlHandlers) {
  const parser = new SaxesParser({ position: false });
  let [silent, depth] = [0, 0];
  const local = (full: string): string => full.slice(full.indexOf(':') + 1);
  parser.on('doctype', () => {
    throw new RowFileError(`${name} has a document type, as no workbook has; save the workbook again.`);
  });
  parser.on('opentag', (tag) => {
    silent = 0;
    depth += 1;
    if (depth > maxDepth)
      throw new RowFileError(`${name} has elements in more than ${maxDepth} others; save the workbook again.`);
    open(local(tag.name), tag.attributes as Record<string, SaxesAttributePlain['value']>);
  });
  parser.on('closetag', (tag) => {
    silent = 0;
    depth -= 1;
    close?.(local(tag.name));
  });
  if (text !== undefined) {
    parser.on('text', text);
    parser.on('cdata', text);
  }
  return {
    write: (piece: string, bytes: number): void => {
      silent += bytes;
      // The parser holds what is between two tags.
      if (silent > maxTextBytes)
        throw new RowFileError(
          `${name} has a text of more than ${formatBytes(maxTextBytes)}; give long values as files.`,
        );
      parser.write(piece);
    },
    close: (): void => void parser.close(),
  };
}

interface Sheet {
  readonly name: string;
  readonly id: string;
  readonly isHidden: boolean;
}

async function readSheets(
  archive: WorkbookFile,
  part: string,
): Promise<Pick<WorkbookParts, 'is1904'> & { sheets: Sheet[] }> {
  const sheets: Sheet[] = [];
  let is1904 = false;
  const open = (tag: string, attributes: Attributes): void => {
    if (tag === 'workbookPr') is1904 = ['1', 'true'].includes(attributes['date1904'] ?? '');
    if (tag !== 'sheet') return;
    const id = Object.entries(attributes).find(([name]) => name.endsWith(':id'))?.[1] ?? '';
    sheets.push({ name: attributes['name'] ?? '', id, isHidden: (attributes['state'] ?? 'visible') !== 'visible' });
  };
  await archive.readAll(part, { open });
  return { sheets, is1904 };
}

async function readStyles(archive: WorkbookFile, part: string | undefined): Promise<NumberFormat[]> {
  const codes = new Map<number, string>();
  const ids: number[] = [];
  let isCellFormats = false;
  const open = (name: string, { numFmtId, formatCode }: Attributes): void => {
    if (name === 'cellXfs') isCellFormats = true;
    else if (name === 'numFmt') codes.set(Number(numFmtId), formatCode ?? '');
    else if (name === 'xf' && isCellFormats) ids.push(Number(numFmtId ?? 0));
  };
  const close = (name: string): void => {
    if (name === 'cellXfs') isCellFormats = false;
  };
  if (part !== undefined) await archive.readAll(part, { open, close });
  return ids.map((id) => ({ id, code: codes.get(id) }));
}

async function readTexts(archive: WorkbookFile, part: string | undefined): Promise<string[]> {
  const texts: string[] = [];
  const text = new TextOfCell();
  const close = (name: string): void => {
    text.close(name);
    if (name === 'si') texts.push(text.take());
  };
  const open = (name: string): void => {
    text.open(name);
  };
  const handlers = {
    open,
    close,
    text: (piece: string) => {
      text.add(piece);
    },
  };
  if (part !== undefined) await archive.readAll(part, handlers);
  return texts;
}
