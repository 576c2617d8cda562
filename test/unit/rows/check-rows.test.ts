import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkRows, readRows, rowFileAt, rowProblemText, type PreparedRow } from '../../../src/rows';
import { temporaryFolder } from '../../support/temporary-folder';

const common = { webAppId: 7 };
const image = '1:LoadImage.image';
const mask = '2:LoadImage.mask';
const files = temporaryFolder();

beforeAll(() => {
  mkdirSync(join(files.path, 'photos'));
  writeFileSync(join(files.path, 'photos', 'cat.jpg'), 'cat');
  writeFileSync(join(files.path, 'photos', 'dog.jpg'), 'a dog');
  writeFileSync(join(files.path, 'empty.jpg'), '');
});
afterAll(() => {
  files.remove();
});

function rowFile(name: string, content: string): string {
  const path = join(files.path, name);
  writeFileSync(path, content);
  return path;
}

describe('the check of all rows', () => {
  it('counts rows, keys, and bytes to upload: each file once, and for every row that has it', async () => {
    const path = rowFile(
      'good.csv',
      `key,${image},${mask}\na,@photos/cat.jpg,@photos/dog.jpg\nb,@photos/cat.jpg,@https://h.example/m.png\nc,@${files.path}/photos/cat.jpg,1\n`,
    );
    const passed: string[] = [];

    const report = await checkRows(readRows(rowFileAt(path), { common }), {
      onRow: ({ key }: PreparedRow) => void passed.push(key),
    });

    expect(passed).toEqual(['a', 'b', 'c']);
    expect(report).toEqual({
      ...{ rows: 3, fileRows: 3, goodRows: 3, badRows: 0, derivedKeys: 0 },
      ...{ problemCount: 0, problemsByCode: {}, firstProblems: [] },
      files: { references: 4, referencedBytes: 14, distinct: 2, distinctBytes: 8, remoteReferences: 1 },
    });
  });

  it('reads no further than it is asked to', async () => {
    const path = rowFile('first.csv', `key,${image}\na,@no.jpg\nb,@photos/cat.jpg\nc,@photos/cat.jpg\nd,@no.jpg\n`);
    const passed: string[] = [];

    const report = await checkRows(readRows(rowFileAt(path), { common }), {
      onRow: ({ key }: PreparedRow) => void passed.push(key),
      maxGoodRows: 2,
    });

    expect(passed).toEqual(['b', 'c']);
    expect(report).toMatchObject({ rows: 3, goodRows: 2, badRows: 1 });
  });

  it('tells of every file that cannot be uploaded, with its line', async () => {
    const path = rowFile('bad.csv', `key,${image}\na,@photos/bird.jpg\nb,@photos\nc,@empty.jpg\nd,@photos/cat.jpg\n`);
    const told: string[] = [];

    const report = await checkRows(readRows(rowFileAt(path), { common }), {
      onProblem: (problem) => void told.push(rowProblemText(problem)),
    });

    expect(told).toEqual([
      `row 2: The file "${files.path}/photos/bird.jpg" of "${image}" does not exist; relative paths start from the folder of the row file.`,
      `row 3: The file "${files.path}/photos" of "${image}" is not a regular file; give the path of a file.`,
      `row 4: The file "${files.path}/empty.jpg" of "${image}" is empty; give a file that has content.`,
    ]);
    expect(report).toMatchObject({ goodRows: 1, badRows: 3, problemsByCode: { FILE: 3 } });
    expect(report.firstProblems[0]).toMatchObject({ field: image, value: '"@photos/bird.jpg"' });
    expect(report.files).toMatchObject({ references: 1, distinct: 1, distinctBytes: 3 });
  });

  it('tells of keys that are there twice, also when only capital letters tell them apart, and of the same row twice', async () => {
    const keys = rowFile('keys.jsonl', '{"key":"Cat","inputs":{}}\n{"key":"cat","inputs":{}}\n');
    const same = rowFile('same.jsonl', '\n{"inputs":{"1:A.b":1}}\n{"inputs":{"1:A.b":1}}\n');

    const [ofKeys, ofSame] = await Promise.all(
      [keys, same].map((path) => checkRows(readRows(rowFileAt(path), { common }))),
    );

    expect(ofKeys?.firstProblems.map(rowProblemText)).toEqual([
      'line 2: The key "cat" is that of line 1, "Cat": capital letters, spaces and forms of accents make no difference; give every row a key of its own.',
    ]);
    expect(ofKeys?.firstProblems[0]).toMatchObject({ field: 'key', value: '"cat"' });
    expect(ofSame?.firstProblems.map(rowProblemText)).toEqual([
      'line 3: The row has the content of line 2; remove it, or give both keys of their own to run it twice.',
    ]);
    expect(ofSame).toMatchObject({ goodRows: 1, badRows: 1, derivedKeys: 1, problemsByCode: { DUPLICATE: 1 } });
  });

  it.each([
    ['capital letters of a key with spaces', 'Order 17', 'order 17'],
    ['capital letters beyond ASCII', 'Straße Ä', 'STRASSE ä'],
    ['kinds and numbers of spaces', 'Order 17', ' Order\u00a0 17\u2009'],
    ['characters that show nothing', 'Order 17', 'Order\u200b 17\ufeff'],
    ['marks of a direction of writing', 'Order 17', 'Or\u200eder \u2066\u200f17'],
    ['how an accent is encoded', 'caf\u00e9', 'CAFE\u0301'],
  ])('refuses a key that differs from an earlier one in %s alone, and names both', async (_, one, other) => {
    const path = rowFile('alike.csv', `key,note\n"${one}","two\nlines"\n${other},x\n`);

    const { firstProblems, goodRows } = await checkRows(readRows(rowFileAt(path), { common, ignoreColumns: ['note'] }));

    expect(goodRows).toBe(1);
    expect(firstProblems).toMatchObject([{ code: 'DUPLICATE', field: 'key', line: 4, sheetRow: 3 }]);
    expect(firstProblems[0]?.message).toContain(` is that of row 2, ${JSON.stringify(one)}: `);
  });

  it('takes keys for different ones that differ in anything that is seen', async () => {
    const keys = ['a b', 'a-b', 'a_b', 'ab', 'cafe', 'café', 'x2', 'x²', '👩‍🚀', '👩🚀'];
    const path = rowFile('other.csv', `key,1:A.b\n${keys.map((key) => `${key},1`).join('\n')}\n`);
    const { firstProblems, goodRows } = await checkRows(readRows(rowFileAt(path), { common }));
    expect(firstProblems).toEqual([]);
    expect(goodRows).toBe(keys.length);
  });

  it('tells of all problems and keeps the first of them', async () => {
    const path = rowFile('many.jsonl', 'x\n'.repeat(1_000));
    let told = 0;

    const report = await checkRows(readRows(rowFileAt(path)), { maxProblems: 10, onProblem: () => void (told += 1) });

    expect(told).toBe(1_000);
    expect(report).toMatchObject({
      rows: 1_000,
      badRows: 1_000,
      problemCount: 1_000,
      problemsByCode: { MALFORMED: 1_000 },
    });
    expect(report.firstProblems).toHaveLength(10);
  });
});
