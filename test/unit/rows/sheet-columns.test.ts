import { parseRowTemplate } from '../../../src/rows';
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
    expect(bad.map(({ sheetRow, code, field }) => [sheetRow, code, field])).toEqual([
      [2, 'INPUT', 'account'],
      [3, 'INPUT', 'account'],
      [4, 'VALUE', 'account'],
    ]);
    const fixed = { account: { value: 'studio', option: '--account' } };
    const [other] = await problemsOf(csv, 'csv', { common, fixed });
    expect(other).toMatchObject({ code: 'INPUT', field: 'account', value: '"agency"' });
    expect(await fileProblemsOf(csv.replace('account', 'Account'), 'csv', { common })).toEqual([
      expect.stringContaining('"Account" is not known'),
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
