import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parseRowTemplate, readRows, RowFileError, rowFileAt, rowProblemText } from '../../../src/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { fileProblemsOf, outcomesOf, problemsOf, rowsOf } from './rows-under-test';

const common = { webAppId: 7 };
const width = '2:ImageScale.width';
const csv = `key,${width}\na,1\n`;
const bytes = (hex: string): Buffer => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.alloc(60, 0xf1)]);
const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

async function keysOf(file: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { row } of readRows(rowFileAt(file), { common })) if (row !== undefined) keys.push(row.key);
  return keys;
}

describe('a file of another kind', () => {
  it.each([
    ['gzip', gzipSync(csv), 'packed; unpack it first'],
    ['an empty zip', Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex'), 'packed; unpack it first'],
    ['bzip2', bytes('425a683931415926'), 'packed; unpack it first'],
    ['a PDF', '%PDF-1.7\n%\u00e2\n', 'a picture or a document, and no table'],
    ['a PNG', bytes('89504e470d0a1a0a0000000d'), 'a picture or a document, and no table'],
    ['a web page', '\n<html><table><tr><td>key</td></tr></table></html>', 'a web page or XML'],
    ['a flat workbook', '\uFEFF<?xml version="1.0"?><office:document/>', 'a web page or XML'],
    [
      'JSONL',
      '{ "key": "a", "inputs": {} }\n',
      'JSON, it seems, and no table; say so (the second argument of rowFileAt: "jsonl")',
    ],
  ])('is called what it is: %s', async (_, content, words) => {
    expect(await fileProblemsOf(content, 'csv', { common })).toEqual([
      expect.stringContaining(`The row file is ${words}`),
    ]);
  });

  it('is called a table where JSONL is asked for', async () => {
    expect(await fileProblemsOf(`\uFEFF"key";${width}\na;1\n`, 'jsonl', { common })).toEqual([
      'The row file is a table, it seems, and no JSONL; say so (the second argument of rowFileAt: "csv" or "tsv").',
    ]);
  });

  it('is to be read otherwise by the option that the command line has for that', async () => {
    const options = { common, optionNames: 'commandLine' } as const;
    expect(await fileProblemsOf('{ "key": "a" }\n', 'csv', options)).toEqual([
      'The row file is JSON, it seems, and no table; say so (--format jsonl).',
    ]);
    expect(await fileProblemsOf(`"key";${width}\na;1\n`, 'jsonl', options)).toEqual([
      'The row file is a table, it seems, and no JSONL; say so (--format csv or tsv).',
    ]);
    expect(() => rowFileAt('rows.txt', undefined, options)).toThrow('say its format (--format jsonl, csv or tsv).');
  });

  it('is known to be packed by its name, and to be a folder', async () => {
    expect(() => rowFileAt('rows.csv.gz')).toThrow('is packed; unpack it first');
    mkdirSync(join(folder.path, 'folder.csv'));
    await expect(keysOf(join(folder.path, 'folder.csv'))).rejects.toThrow('is a folder; give the path of a file');
  });
});

describe('a row file on the disk', () => {
  it('is refused when it changes while it is read, so that no rows of two versions are run together', async () => {
    const file = join(folder.path, 'changing.csv');
    writeFileSync(file, csv + Array.from({ length: 10_000 }, (_, index) => `k${index},2\n`).join(''));
    const rows = readRows(rowFileAt(file), { common });
    await rows.next();
    appendFileSync(file, 'late,1\n');

    await expect(
      (async () => {
        for await (const { problems } of rows) if (problems !== undefined) throw new Error(JSON.stringify(problems));
      })(),
    ).rejects.toThrow(
      new RowFileError([
        `The row file ${JSON.stringify(file)} changed while it was read; wait until it is saved, then try again.`,
      ]),
    );
  });

  it('may be a pipe', async () => {
    const pipe = join(folder.path, 'pipe.csv');
    execFileSync('mkfifo', [pipe]);
    const [keys] = await Promise.all([keysOf(pipe), writeFile(pipe, csv)]);
    expect(keys).toEqual(['a']);
  });
});

describe('a row that a damaged or joined table brings', () => {
  it.each([
    ['zero bytes in a key', 'b\0,2', 'row 3: "key" is "b\\u0000"; it has zero bytes: the file is damaged'],
    ['zero bytes in the path of a file', 'b,@c\0.jpg', '; it has zero bytes: the file is damaged'],
    ['padding of zero bytes', '\0'.repeat(50), 'row 3: The row has zero bytes'],
    ['line ends of an old Mac', 'b,2\rc,3', 'row 3: The row has a line end of an old Mac (\\r) outside quotes'],
    ['the header once more', ` key ,${width}`, 'row 3: The row repeats the header; remove it.'],
    [
      'a key that the spreadsheet shortened',
      '4.00638E+12,2',
      'row 3: "key" is "4.00638E+12"; the spreadsheet has shor',
    ],
    [
      'an input that the spreadsheet shortened',
      'b,1.1259E+15',
      `row 3: "${width}" is "1.1259E+15"; the spreadsheet has`,
    ],
  ])('is refused: %s', async (_, row, words) => {
    const problems = await problemsOf(`${csv}${row}\n`, 'csv', { common });
    expect(problems.map(rowProblemText)).toEqual([expect.stringContaining(words)]);
  });

  it('is refused where rows of one column would become one row', async () => {
    expect(await problemsOf('3:Text.text\na\rb\rc\n', 'csv', { common })).toMatchObject([{ code: 'MALFORMED' }]);
  });

  it('is refused where a file has the apostrophe that results.csv puts before it', async () => {
    const [problem] = await problemsOf("key,1:LoadImage.image\na,'@photos/cat.jpg\n", 'csv', { common });
    expect(problem?.message).toContain('remove the apostrophe before the @');
    const said = { common, textColumns: ['1:LoadImage.image'] };
    expect(await rowsOf("key,1:LoadImage.image\na,'@photos/cat.jpg\n", 'csv', said)).toHaveLength(1);
  });

  it('is refused where a template takes a number that the spreadsheet shortened', async () => {
    const template = parseRowTemplate('{"webAppId":1,"key":"{key}","inputs":{"2:K.seed":"{seed:number}"}}');
    const problems = await problemsOf('key,seed\na,"-8,46152E+14"\nb,156680208700286\n', 'csv', { template });
    expect(problems).toMatchObject([{ sheetRow: 2, field: 'seed', code: 'VALUE' }]);
  });

  it('is taken where a key with an exponent is said to be text, and where a return is quoted', async () => {
    const rows = await outcomesOf('key,3:Text.text\n1E+10,"one\rtwo"\n', 'csv', { common, textColumns: ['key'] });
    expect(rows).toMatchObject([{ row: { originalKey: '1E+10', input: { inputs: { '3:Text.text': 'one\rtwo' } } } }]);
  });
});
