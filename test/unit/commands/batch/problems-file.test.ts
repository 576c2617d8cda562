import { parse } from 'csv-parse/sync';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../support/temporary-folder';
import { batchRun, filesIn } from './command-under-test';

const folder = temporaryFolder();
const file = filesIn(folder);
afterAll(() => {
  folder.remove();
});

beforeAll(() => {
  mkdirSync(join(folder.path, 'photos'));
  writeFileSync(join(folder.path, 'photos', 'cat.jpg'), 'cat');
});

describe('--problems', () => {
  const bad = [
    'key;1:LoadImage.image;3:Text.text',
    'a;@photos/dog.jpg;x',
    '=b;@photos/cat.jpg;#REF!',
    'c;@photos/cat.jpg',
    '',
  ].join('\n');
  const options = ['--app', '1', '--delimiter', ';'];

  it.each([['--dry-run'], []])('writes every problem with its row, its cell and its remedy %s', async (...more) => {
    const problems = join(folder.path, 'problems.csv');
    const { exitCode } = await batchRun(file('bad.csv', bad), ...options, '--problems', problems, ...more);

    expect(exitCode).toBe(2);
    expect(parse(readFileSync(problems, 'utf8'), { delimiter: ';', columns: true, bom: true })).toEqual([
      {
        ...{ row: '2', line: '2', key: 'a', field: '1:LoadImage.image', value: "'@photos/dog.jpg" },
        problem: expect.stringMatching(
          /^The file ".*dog\.jpg" of "1:LoadImage\.image" does not exist; relative paths start from the folder of the row file\.$/,
        ) as string,
      },
      {
        ...{ row: '3', line: '3', key: "'=b", field: '3:Text.text', value: '#REF!' },
        problem: expect.stringMatching(/^Got an error of a spreadsheet, .*textColumns \(--text-column\)\.$/) as string,
      },
      {
        ...{ row: '4', line: '4', key: '', field: '', value: '' },
        problem:
          'The row has 2 cells, and the header 3 columns; give each column a cell, and quote cells that hold a delimiter. The row begins with "c, @photos/cat.jpg".',
      },
    ]);
  });

  it.each([
    ['a first line that names the delimiter', 'sep=;\r\n', [], 'sep=;\r\n', ';', '\r\n'],
    ['a mark, and the delimiter as an option', '\uFEFF', ['--delimiter', ';'], '', ';', '\r\n'],
    ['a delimiter that is said in neither way, and is refused', '', [], '', ';', '\r\n'],
  ])('is written as the row file is that has %s', async (_, begin, more, declared, delimiter, end) => {
    const problems = join(folder.path, 'in-form.csv');
    const rows = file('in-form-rows.csv', `${begin}key;1:LoadImage.image\r\na;#REF!\r\n`);

    expect((await batchRun(rows, '--app', '1', '--dry-run', '--problems', problems, ...more)).exitCode).toBe(2);

    const [head, line, rest] = readFileSync(problems, 'utf8').slice(`\uFEFF${declared}`.length).split(end);
    expect(readFileSync(problems, 'utf8').startsWith(`\uFEFF${declared}`)).toBe(true);
    expect(head).toBe(['row', 'line', 'key', 'field', 'value', 'problem'].join(delimiter));
    expect(parse(line ?? '', { delimiter })[0]).toHaveLength(6);
    expect(rest).toBe('');
  });

  it('names a row whose key is empty by its first cells', async () => {
    const problems = join(folder.path, 'keyless.csv');
    const rows = file('keyless.csv.csv', 'key,1:LoadImage.image,3:Text.text\n,@photos/cat.jpg,"two\nlines"\n');

    await batchRun(rows, '--app', '1', '--dry-run', '--problems', problems);

    const found: Record<string, string>[] = parse(readFileSync(problems, 'utf8'), { columns: true, bom: true });
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ line: '2', key: '', field: 'key' });
    expect(found[0]?.['problem']).toMatch(/The row begins with "@photos\/cat\.jpg, two\\nlines"\.$/);
  });

  it('says in no cell what stands in another one of its line', async () => {
    const problems = join(folder.path, 'once.csv');
    const lines = ['{ "key": "a", "inputs": { "2:A.b": true } }', '{ "name": "a" }', '{ "name": "A", "inputs": [] }'];
    const rows = file('once.jsonl', `${lines.join('\n')}\n`);

    await batchRun(rows, '--app', '1', '--key-column', 'name', '--dry-run', '--problems', problems);

    const found: Record<string, string>[] = parse(readFileSync(problems, 'utf8'), { columns: true, bom: true });
    expect(found.length).toBeGreaterThanOrEqual(3);
    for (const { field = '', value = '', problem } of found) expect(problem).not.toContain(`"${field}" is ${value}`);
    expect(found).toContainEqual({
      ...{ row: '', line: '3', key: 'A', field: 'name', value: 'A' },
      problem:
        'The key of line 2, "a": capital letters, spaces and forms of accents make no difference; give every row a key of its own.',
    });
  });

  it('replaces the problems of before, with none but the header where there are none', async () => {
    const problems = file('previous.csv', 'old');
    const rows = file('good.csv', 'key,1:LoadImage.image\na,@photos/cat.jpg\n');

    expect((await batchRun(rows, '--app', '1', '--dry-run', '--problems', problems)).exitCode).toBe(0);

    expect(readFileSync(problems, 'utf8')).toBe('\uFEFFrow,line,key,field,value,problem\n');
  });

  it.each([
    ['the row file', () => join(folder.path, 'kept.csv'), 'which the rows are read from; give another file.'],
    ['a folder', () => folder.path, 'which is no regular file; give another file.'],
    ['a file in no folder', () => join(folder.path, 'none', 'p.csv'), 'cannot be written (ENOENT)'],
  ])('does not write over %s', async (_, problems, words) => {
    const rows = file('kept.csv', bad);
    const { exitCode, stderr } = await batchRun(rows, ...options, '--dry-run', '--problems', problems());

    expect(exitCode).toBe(2);
    expect(stderr.text).toContain(words);
    expect(readFileSync(rows, 'utf8')).toBe(bad);
  });

  it.each([
    [
      'the file cannot be read to its end',
      `${bad}d;"x;y\n`,
      ['2', '3', '4', ''],
      /^A quote that opens in row 5 is never closed/,
    ],
    ['the header cannot be used', 'key;Image\na;@photos/cat.jpg\n', [''], /^The column "Image" is not known/],
    ['no row has an app', 'key;1:A.b\na;1\n', ['2', ''], /^No app: say --app/],
  ])('replaces the problems of before, and names what ended the check, where %s', async (_, content, lines, last) => {
    const problems = file('before.csv', 'old');
    const app = content.includes('Image') ? ['--app', '1'] : [];
    const rows = file('open.csv', content);
    const args = [rows, ...app, '--delimiter', ';', '--dry-run', '--problems', problems];

    expect((await batchRun(...args)).exitCode).toBe(2);

    const found: Record<string, string>[] = parse(readFileSync(problems, 'utf8'), {
      ...{ delimiter: ';', columns: true, bom: true },
    });
    expect(found.map(({ line }) => line)).toEqual(lines);
    expect(found.at(-1)?.['problem']).toMatch(last);
    expect(readdirSync(folder.path).filter((name) => name.includes('.part-'))).toEqual([]);
  });

  it('leaves no problems of before where the rows were not read', async () => {
    const problems = file('stale.csv', 'old');
    const args = [file('unread.csv', bad), ...options, '--template', 'none.json', '--dry-run', '--problems', problems];

    expect((await batchRun(...args)).exitCode).toBe(2);

    expect(existsSync(problems)).toBe(false);
  });
});
