import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkRows, parseRowTemplate, readRows, rowFileAt, rowProblemText } from '../../../src/rows';
import { temporaryFolder } from '../../support/temporary-folder';
import { fileProblemsOf, problemsOf, rowsOf } from './rows-under-test';

const common = { webAppId: 7 };
const width = '2:ImageScale.width';

describe('the column "account"', () => {
  const csv = `key,account,${width}\na,studio,1\nb,agency,2\n`;
  const accounts = async (...args: Parameters<typeof rowsOf>) =>
    (await rowsOf(...args)).map(({ input }) => input.account);

  it('is the account of its row', async () => {
    expect(await accounts(csv, 'csv', { common })).toEqual(['studio', 'agency']);
    const withEmpty = `key,account,${width}\na,,1\nb,agency,2\n`;
    expect(await accounts(withEmpty, 'csv', { common, emptyCells: 'omit' })).toEqual([undefined, 'agency']);
  });

  it('is refused where it can be none, and where one account holds for all rows', async () => {
    const bad = await problemsOf(`key,account,${width}\na,,1\nb,Stu dio,2\nc,#REF!,3\n`, 'csv', { common });
    expect(bad.map(rowProblemText)).toEqual([
      'row 2: account is ""; give 1 to 80 letters, digits, dots, underscores or hyphens.',
      'row 3: account is "Stu dio"; give 1 to 80 letters, digits, dots, underscores or hyphens.',
      expect.stringMatching(/^row 4: "account" is "#REF!"; it is an error of the spreadsheet/),
    ]);
    const fixed = { account: { value: 'studio', option: '--account' } };
    const [other] = await problemsOf(csv, 'csv', { common, fixed });
    expect(other?.message).toMatch(/^"account" is "agency"; --account holds for every row/);
    expect(await fileProblemsOf(csv.replace('account', 'Account'), 'csv', { common })).toEqual([
      'There is a column "Account"; do you mean "account"? Rename it, or ignore it (ignoreColumns: ["Account"]).',
    ]);
  });

  it('is a column like any other where it is ignored, holds the keys, or a template says what a row is', async () => {
    expect(await accounts(csv, 'csv', { common, ignoreColumns: ['account'] })).toEqual([undefined, undefined]);
    const keys = await rowsOf(`account,${width}\nstudio,1\n`, 'csv', { common, keyColumn: 'account' });
    expect(keys.map(({ key, input }) => [key, input.account])).toEqual([['studio', undefined]]);
    const template = parseRowTemplate(`{"webAppId":7,"key":"{key}","inputs":{"${width}":5}}`);
    expect(await accounts('key,account\na,Ada Lovelace\n', 'csv', { template })).toEqual([undefined]);
    const filled = parseRowTemplate(`{"webAppId":7,"key":"{key}","account":"{who}","inputs":{"${width}":5}}`);
    expect(await accounts('key,who\na,studio\n', 'csv', { template: filled })).toEqual(['studio']);
  });
});

describe('a column whose name has spaces that do not break', () => {
  it('is the one that a template, a key and an option name with plain spaces, and the other way round', async () => {
    const template = parseRowTemplate('{"webAppId":7,"key":"{SKU no}","inputs":{"1:T.text":"{Product\u00a0name}"}}');
    const csv = 'Product name,SKU\u202fno,my\u00a0notes\nRed shoe,s1,x\nBlue shoe,s2,y\n';
    const rows = await rowsOf(csv, 'csv', { template, ignoreColumns: ['my notes'] });
    expect(rows.map(({ key, input }) => [key, input.inputs])).toEqual([
      ['s1', { '1:T.text': 'Red shoe' }],
      ['s2', { '1:T.text': 'Blue shoe' }],
    ]);
    const keyed = await rowsOf(`the\u00a0key,${width}\na,1\n`, 'csv', { common, keyColumn: 'the key' });
    expect(keyed.map(({ key }) => key)).toEqual(['a']);
  });
});

describe('a problem of what a template makes of columns', () => {
  const template = parseRowTemplate(
    '{"webAppId":"{app:number}","account":"{who}","inputs":{"1:A.b":{"file":"{photo}"},"2:B.c":{"file":"s3://{bucket}/{photo}?X-Amz-Signature=1"}}}',
  );

  it('names them, and has the cell as its value', async () => {
    const csv = 'app,who,photo,bucket\n1.5,stu dio,file:///x.png,b\n';
    const problems = await problemsOf(csv, 'csv', { template });
    expect(problems.map(({ field, value, message }) => [field, value, message])).toEqual([
      [
        'photo',
        '"file:///x.png"',
        'inputs["1:A.b"].file is "file:///x.png"; give a path, an https: URL or an s3: URI (column "photo").',
      ],
      ['2:B.c', expect.any(String), expect.stringMatching(/^inputs\["2:B\.c"\].* \(columns "bucket", "photo"\)\.$/)],
      ['app', '"1.5"', 'webAppId is 1.5; give the app’s web_app_id as a positive whole number (column "app").'],
      [
        'who',
        '"stu dio"',
        'account is "stu dio"; give 1 to 80 letters, digits, dots, underscores or hyphens (column "who").',
      ],
    ]);
  });
});

describe('a number with a zero before it', () => {
  const template = parseRowTemplate(`{"webAppId":7,"inputs":{"${width}":"{width:number}"}}`);
  const messages = async (text: string, more = {}): Promise<readonly string[]> =>
    (await problemsOf(`width\n"${text}"\n`, 'csv', { template, ...more })).map(({ message }) => message);

  it('is shown as it is to be written', async () => {
    const asText = 'or ask for text: {width} in the template.';
    expect(await messages('0320')).toEqual([
      `"width" is "0320"; it begins with a zero, as no number does: write 320, ${asText}`,
    ]);
    expect(await messages('-007,5', { decimal: 'comma' })).toEqual([expect.stringContaining('write -7,5, or')]);
    expect(await messages('12345678901234567890')).toEqual([
      `"width" is "12345678901234567890"; give a number that a double holds exactly, ${asText}`,
    ]);
  });
});

describe('a file that is not found by its cell', () => {
  const files = temporaryFolder();
  afterAll(files.remove);
  const template = parseRowTemplate('{"webAppId":7,"inputs":{"1:A.b":{"file":"photos/{photo}"}}}');
  const whole = parseRowTemplate('{"webAppId":7,"inputs":{"1:A.b":{"file":"{photo}"}}}');

  it.each([
    [
      'a space behind it',
      'cat.jpg ',
      template,
      /"[^"]*\/photos\/cat\.jpg" is there: spaces and line ends around a name/,
    ],
    [
      'a line end behind it',
      '"cat.jpg\n"',
      template,
      /"[^"]*\/photos\/cat\.jpg" is there: spaces and line ends around/,
    ],
    [
      'an @ before it',
      '@cat.jpg',
      template,
      /"[^"]*\/photos\/cat\.jpg" is there: leave out the @, which is written only/,
    ],
    ['an @ before its folder', '@photos/cat.jpg', whole, /"[^"]*\/photos\/cat\.jpg" is there: leave out the @/],
    ['an @ before one that is nowhere', '@dog.jpg', template, /does not exist; relative paths start from/],
  ])('is named where it has %s', async (_, cell, asked, message) => {
    mkdirSync(join(files.path, 'photos'), { recursive: true });
    writeFileSync(join(files.path, 'photos', 'cat.jpg'), 'x');
    const path = join(files.path, 'rows.csv');
    writeFileSync(path, `photo,note\n${cell},x\n`);
    const { firstProblems } = await checkRows(readRows(rowFileAt(path), { template: asked }));
    expect(firstProblems.map(rowProblemText).join()).toMatch(message);
  });
});

describe('a header of names that are no input keys', () => {
  it('is told to need a template, beside that it may be a title', async () => {
    const [first, ...columns] = await fileProblemsOf('Name;Bild\na;b\n', 'csv', { common, delimiter: ';' });
    expect(first).toBe(
      'The first line names the columns; remove what stands above it, such as a title, or put one before the rows if the file has none; if they are names of your own, a template says what they are for (template).',
    );
    expect(columns).toHaveLength(2);
  });
});
