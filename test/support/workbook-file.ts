import { crc32, deflateRawSync } from 'node:zlib';

/** What a cell of {@link workbook} is: text, a number, with a style, or XML of its own. */
export type TestCell = string | number | { readonly number: string; readonly style: number } | { readonly xml: string };

/** A zip file of these parts. */
export function zip(parts: Readonly<Record<string, string | Buffer>>): Buffer {
  const files: Buffer[] = [];
  const list: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of Object.entries(parts)) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const title = Buffer.from(name);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(0x0800, 2);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(bytes), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(bytes.length, 18);
    facts.writeUInt16LE(title.length, 22);
    files.push(Buffer.from('PK\u0003\u0004'), facts, title, packed);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    list.push(Buffer.from('PK\u0001\u0002\u0014\0'), facts, place, title);
    offset += 30 + title.length + packed.length;
  }
  const directory = Buffer.concat(list);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(Object.keys(parts).length, 4);
  end.writeUInt16LE(Object.keys(parts).length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, directory, Buffer.from('PK\u0005\u0006'), end]);
}

const relationship = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** What every part of {@link workbook} may be replaced with. */
export interface WorkbookContent {
  /** By sheet. */
  readonly rows: Readonly<Record<string, readonly (readonly TestCell[])[]>>;
  /** Codes of number formats; style 1 has the first. */
  readonly formats?: readonly string[];
  readonly is1904?: boolean;
  readonly parts?: Readonly<Record<string, string | Buffer>>;
}

/** An .xlsx file with texts that are shared. */
export function workbook({ rows, formats = [], is1904 = false, parts = {} }: WorkbookContent): Buffer {
  const texts = new Map<string, number>();
  const sheets = Object.entries(rows).map(([, table]) =>
    sheetXml(table.map((cells) => cells.map((one) => cellXml(one, texts)))),
  );
  const names = Object.keys(rows);
  const styles = formats.map((code, index) => `<numFmt numFmtId="${200 + index}" formatCode="${escapeXml(code)}"/>`);
  const uses = formats.map((_, index) => `<xf numFmtId="${200 + index}"/>`);
  return zip({
    '_rels/.rels': relations([['main', 'officeDocument', 'xl/workbook.xml']]),
    'xl/workbook.xml': `<workbook xmlns:r="${relationship}"><workbookPr${is1904 ? ' date1904="1"' : ''}/><sheets>${names
      .map((name, index) => `<sheet name="${escapeXml(name)}" sheetId="${index + 1}" r:id="s${index}"/>`)
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations([
      ...names.map((_, index): [string, string, string] => [
        `s${index}`,
        'worksheet',
        `/xl/worksheets/sheet${index}.xml`,
      ]),
      ['styles', 'styles', 'styles.xml'],
      ['texts', 'sharedStrings', 'sharedStrings.xml'],
    ]),
    'xl/styles.xml': `<styleSheet><numFmts>${styles.join('')}</numFmts><cellXfs><xf numFmtId="0"/>${uses.join('')}</cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst>${[...texts.keys()].map((text) => `<si><t>${escapeXml(text)}</t></si>`).join('')}</sst>`,
    ...Object.fromEntries(sheets.map((xml, index) => [`xl/worksheets/sheet${index}.xml`, xml])),
    ...parts,
  });
}

function sheetXml(rows: readonly (readonly string[])[]): string {
  const lines = rows.map((cells, index) => `<row r="${index + 1}">${cells.join('')}</row>`);
  return `<worksheet><sheetData>${lines.join('')}</sheetData></worksheet>`;
}

function cellXml(cell: TestCell, texts: Map<string, number>): string {
  if (typeof cell === 'number') return `<c><v>${cell}</v></c>`;
  if (typeof cell !== 'string') return 'xml' in cell ? cell.xml : `<c s="${cell.style}"><v>${cell.number}</v></c>`;
  const index = texts.get(cell) ?? texts.size;
  texts.set(cell, index);
  return `<c t="s"><v>${index}</v></c>`;
}

function relations(list: readonly (readonly [string, string, string])[]): string {
  const all = list.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${relationship}/${type}" Target="${target}"/>`,
  );
  return `<Relationships>${all.join('')}</Relationships>`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
