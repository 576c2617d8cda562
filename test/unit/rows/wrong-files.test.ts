import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { readRows, rowFileAt, type RowFormat } from '../../../src/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { fileProblemsOf, rowsOf } from './rows-under-test';

const common = { webAppId: 7 };
const width = '2:ImageScale.width';
const csv = `key,${width}\na,1\n`;
const asUtf8 = 'save it as UTF-8 (in Excel: save as "CSV UTF-8").';
const json = '{"key":"a","inputs":{}}';

/** What a program makes of text when it writes four bytes a character, least first. */
function utf32(text: string): Buffer {
  return Buffer.from(new Uint32Array(Buffer.from(text, 'latin1')).buffer);
}

describe('a file that is no row file', () => {
  it.each<[string, RowFormat, string | Uint8Array, string]>([
    [
      'a workbook',
      'csv',
      'PK\u0003\u0004rest',
      'The row file is an Excel workbook or the like; save it as "CSV UTF-8".',
    ],
    ['a workbook of old', 'csv', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'The row file is an Excel workbook'],
    ['UTF-16', 'csv', Buffer.from(`\uFEFF${csv}`, 'utf16le'), `The row file is in UTF-16; ${asUtf8}`],
    ['UTF-16 the other way', 'csv', Buffer.from(`\uFEFF${csv}`, 'utf16le').swap16(), 'The row file is in UTF-16;'],
    ['UTF-16 without a mark', 'csv', Buffer.from(csv, 'utf16le'), `seems, in UTF-16 or UTF-32; ${asUtf8}`],
    ['UTF-32', 'csv', Buffer.concat([Buffer.from('fffe0000', 'hex'), utf32(csv)]), `in UTF-32; ${asUtf8}`],
    ['UTF-32 without a mark', 'jsonl', utf32(json), `seems, in UTF-16 or UTF-32; ${asUtf8}`],
    [
      'lines of an old Mac',
      'csv',
      csv.replaceAll('\n', '\r'),
      'The lines end with \\r, as on an old Mac; end them with',
    ],
    [
      'one line that is too long',
      'csv',
      'x'.repeat(2_000_000),
      'The header has 2000000 bytes, more than a row may have; end',
    ],
    [
      'one JSON array',
      'jsonl',
      `[${json}]`,
      "The row file is one JSON array; write one object a line, e.g. jq -c '.[]'",
    ],
    [
      'a JSON array over lines',
      'jsonl',
      `\n[\n  ${json},\n  ${json}\n]\n`,
      'The row file is one JSON array; write one',
    ],
    [
      'JSON over lines',
      'jsonl',
      JSON.stringify({ inputs: {} }, null, 2),
      'The row file is JSON over several lines; write',
    ],
    ['a header alone', 'csv', `key,${width}\n\n,\n`, 'There are no rows under the header.'],
    ['nothing', 'csv', '', 'The row file is empty; give it a header and rows.'],
    ['no JSON', 'jsonl', '\n \n', 'The row file is empty; give it rows, one JSON object a line.'],
    [
      'a header in other bytes',
      'csv',
      Buffer.from(`Schlüssel,${width}\n`, 'latin1'),
      'The header cannot be read. The row is',
    ],
  ])('such as %s is told once, as a whole', async (_, format, content, problem) => {
    const [told, ...more] = await fileProblemsOf(content, format, { common });

    expect(told).toContain(problem);
    expect(more).toEqual([]);
  });

  it.each([
    ['table.xlsx', 'is a workbook; save it as "CSV UTF-8".'],
    ['rows.txt', 'rename it or say its format (the second argument of rowFileAt: "jsonl", "csv" or "tsv").'],
  ])('such as %s is known by its name', (name, problem) => {
    expect(() => rowFileAt(name)).toThrow(problem);
  });

  it.each([
    [
      'a quote that is never closed',
      `key,${width}\na,"x\ny","z\nb,1\n`,
      'opens in row 2, line 3 of the file is never closed',
    ],
    [
      'a quote that ends in another row',
      `key,${width}\na,"x\nb,"y"\n`,
      'The quotes in row 2, lines 2 to 3 of the file, do not match',
    ],
  ])('such as one with %s names the line', async (_, content, problem) => {
    expect((await fileProblemsOf(content, 'csv', { common })).join()).toContain(problem);
  });

  it('such as a TSV of Google Sheets, where a cell begins with a quote, is to be saved as CSV there', async () => {
    const problems = await fileProblemsOf(`key\t${width}\na\t"x\nb\t1\n`, 'tsv', { common });
    expect(problems.join()).toMatch(/is never closed.* Google Sheets quotes nothing in TSV: download CSV there\./);
  });

  it('is closed when it is refused, and when nobody reads on', async () => {
    for (const content of ['PK\u0003\u0004', csv]) {
      const chunks = Readable.from([Buffer.from(content), Buffer.alloc(100, 'x')]);
      const rows = readRows({ format: 'csv', folder: '/', chunks }, { common });
      await rows.next().catch(() => undefined);
      await rows.return();
      expect(chunks.destroyed).toBe(true);
    }
  });
});

describe('a row file', () => {
  const files = temporaryFolder();
  afterAll(() => {
    files.remove();
  });

  it('may have one object a line in .json', async () => {
    const path = join(files.path, 'rows.json');
    writeFileSync(path, `${json}\n`);

    const { value } = await readRows(rowFileAt(path), { common }).next();

    expect(value).toMatchObject({ row: { key: 'a' } });
  });

  it('may have zeros where they are text', async () => {
    const [row] = await rowsOf(`key,${width},3:Text.text\na,1,x\0y\n`, 'csv', { common });
    expect(row?.input.inputs['3:Text.text']).toBe('x\0y');
  });
});
