import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { parseRowTemplate, readRows, rowFileAt, RowFileError, type RowFormat } from '../../../src/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { fileProblemsOf, outcomesOf, problemsOf, rowsOf } from './rows-under-test';

const common = { webAppId: 7 };
const image = '1:LoadImage.image';
const width = '2:ImageScale.width';
const csv = `key,${width}\na,1\n`;
const json = '{"key":"a","inputs":{}}';
const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

/** What a program makes of text when it writes four bytes a character, least first. */
function utf32(text: string): Buffer {
  return Buffer.from(new Uint32Array(Buffer.from(text, 'latin1')).buffer);
}

const bytes = (hex: string): Buffer => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(60, 0xf1)]);

describe('a file that is no row file', () => {
  it.each<[string, RowFormat, string | Uint8Array]>([
    ['a workbook', 'csv', 'PK\u0003\u0004rest'],
    ['a workbook of old', 'csv', Buffer.from('d0cf11e0a1b11ae1', 'hex')],
    ['UTF-16', 'csv', Buffer.from(`\uFEFF${csv}`, 'utf16le')],
    ['UTF-16 the other way', 'csv', Buffer.from(`\uFEFF${csv}`, 'utf16le').swap16()],
    ['UTF-16 without a mark', 'csv', Buffer.from(csv, 'utf16le')],
    ['UTF-32', 'csv', Buffer.concat([Buffer.from('fffe0000', 'hex'), utf32(csv)])],
    ['UTF-32 without a mark', 'jsonl', utf32(json)],
    ['gzip', 'csv', gzipSync(csv)],
    ['an empty zip', 'csv', Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex')],
    ['bzip2', 'csv', bytes('425a683931415926')],
    ['a PDF', 'csv', '%PDF-1.7\n%\u00e2\n'],
    ['a PNG', 'csv', bytes('89504e470d0a1a0a0000000d')],
    ['a web page', 'csv', '\n<html><table><tr><td>key</td></tr></table></html>'],
    ['JSONL', 'csv', `${json}\n`],
    ['lines of an old Mac', 'csv', csv.replaceAll('\n', '\r')],
    ['one line that is too long', 'csv', 'x'.repeat(2_000_000)],
    ['an array that is not closed', 'jsonl', `[${json}`],
    ['JSON over lines', 'jsonl', JSON.stringify({ inputs: {} }, null, 2)],
    ['a header alone', 'csv', `key,${width}\n\n,\n`],
    ['nothing', 'csv', ''],
    ['no JSON', 'jsonl', '\n \n'],
    ['a header in other bytes', 'csv', Buffer.from(`Schlüssel,${width}\n`, 'latin1')],
    ['a quote that is never closed', 'csv', `key,${width}\na,"x\ny","z\nb,1\n`],
    ['a quote that ends in another row', 'csv', `key,${width}\na,"x\nb,"y"\n`],
  ])('is refused as a whole: %s', async (_, format, content) => {
    expect(await fileProblemsOf(content, format, { common })).not.toEqual([]);
  });

  it('is a table where JSONL is asked for, in each of its rows', async () => {
    const problems = await problemsOf(`"key";${width}\na;1\n`, 'jsonl', { common });
    expect(problems.map(({ code, line }) => [code, line])).toEqual([
      ['MALFORMED', 1],
      ['MALFORMED', 2],
    ]);
  });

  it.each(['table.xls', 'rows.csv.gz', 'rows.doc'])('is known by its name: %s', (name) => {
    expect(() => rowFileAt(name)).toThrow(RowFileError);
    expect(rowFileAt(name, { format: 'csv' }).format).toBe('csv');
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

describe('a row file on the disk', () => {
  async function keysOf(file: string): Promise<string[]> {
    const keys: string[] = [];
    for await (const { row } of readRows(rowFileAt(file), { common })) if (row !== undefined) keys.push(row.key);
    return keys;
  }

  it('is refused when it changes while it is read, so that no rows of two versions are run together', async () => {
    const file = join(folder.path, 'changing.csv');
    writeFileSync(file, csv + Array.from({ length: 10_000 }, (_, index) => `k${index},2\n`).join(''));
    const rows = readRows(rowFileAt(file), { common });
    await rows.next();
    appendFileSync(file, 'late,1\n');
    const readAll = async (): Promise<void> => {
      for await (const { problems } of rows) if (problems !== undefined) throw new Error(JSON.stringify(problems));
    };
    await expect(readAll()).rejects.toThrow(RowFileError);
  });

  it('may be a pipe, and no folder', async () => {
    const pipe = join(folder.path, 'pipe.csv');
    execFileSync('mkfifo', [pipe]);
    const [keys] = await Promise.all([keysOf(pipe), writeFile(pipe, csv)]);
    expect(keys).toEqual(['a']);
    mkdirSync(join(folder.path, 'folder.csv'));
    await expect(keysOf(join(folder.path, 'folder.csv'))).rejects.toThrow(RowFileError);
  });
});

describe('a table with another delimiter', () => {
  const table = `key,${image},${width}\ncat,@cat.jpg,512\n`;

  it.each([
    ['csv', ';'],
    ['csv', '|'],
    ['csv', '\t'],
    ['tsv', ','],
  ] as const)('as %s with %j is refused, and the option that reads it is named', async (format, delimiter) => {
    const written = table.replaceAll(',', delimiter);
    const option = `${JSON.stringify(delimiter)}; say so by delimiter (--delimiter)`;
    expect(await fileProblemsOf(written, format, { common })).toEqual([expect.stringContaining(option)]);
    const form = { columns: ['key', image, width], delimiter, hasBom: false };
    const decimal = delimiter === ';' ? 'comma' : undefined;
    expect(await rowsOf(written, format, { common, delimiter })).toEqual(
      (await rowsOf(table, 'csv', { common })).map((row) => ({ ...row, table: { ...form, decimal } })),
    );
  });

  it('is refused with quotes that fit no other one, and with a template', async () => {
    const template = parseRowTemplate('{"webAppId":7,"inputs":{"3:Text.text":"{animal}"}}');
    for (const written of ['"key";"animal"\n"a";"cat"\n', 'key;animal\na;cat\n'])
      expect(await fileProblemsOf(written, 'csv', { template })).toEqual([
        expect.stringContaining('";"; say so by delimiter'),
      ]);
  });

  it.each(['sep=;\r\n', '\uFEFFsep=;\n', '"sep=;"\n'])(
    'is read when its first line is %j, and lines are counted with it',
    async (first) => {
      const rows = await rowsOf(`${first}key;${width}\na;1\nb;"x;y"\n`, 'csv', { common });
      expect(rows.map(({ line, sheetRow, input }) => [line, sheetRow, input.inputs[width]])).toEqual([
        [3, 2, 1],
        [4, 3, 'x;y'],
      ]);
    },
  );

  it('is no JSONL', async () => {
    expect(await fileProblemsOf('{}', 'jsonl', { delimiter: ';' })).toHaveLength(1);
    expect(await fileProblemsOf('{}', 'jsonl', { common, decimal: 'comma' })).toHaveLength(1);
  });
});

describe('a row of a damaged or joined table', () => {
  it.each([
    ['zero bytes in a key', 'b\0,2', 'VALUE'],
    ['zero bytes in the path of a file', 'b,@c\0.jpg', 'VALUE'],
    ['padding of zero bytes', '\0'.repeat(50), 'MALFORMED'],
    ['line ends of an old Mac', 'b,2\rc,3', 'MALFORMED'],
    ['the header once more', ` key ,${width}`, 'MALFORMED'],
    ['a shortened key', '4.00638E+12,2', 'VALUE'],
    ['a cell too many', 'b,2,3', 'COLUMN_COUNT'],
  ])('is refused: %s', async (_, row, code) => {
    expect(await problemsOf(`${csv}${row}\n`, 'csv', { common })).toMatchObject([{ code, sheetRow: 3 }]);
  });

  it('is refused where rows of one column would become one row', async () => {
    expect(await problemsOf('3:Text.text\na\rb\rc\n', 'csv', { common })).toMatchObject([{ code: 'MALFORMED' }]);
  });

  it('is taken with a key with an exponent that is said to be text, quoted returns, zeros in text, and empty cells at its end', async () => {
    const rows = await outcomesOf('key,3:Text.text,,\n1E+10,"one\rtwo"\nb,x\0y,, ,\n', 'csv', {
      common,
      textColumns: ['key'],
    });
    expect(rows.map(({ row }) => [row?.originalKey, row?.input.inputs['3:Text.text']])).toEqual([
      ['1E+10', 'one\rtwo'],
      ['b', 'x\0y'],
    ]);
  });
});
