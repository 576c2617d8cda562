import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../../../../src/commands/program';
import { FakeContext } from '../../../support/fake-context';
import { temporaryFolder } from '../../../support/temporary-folder';
import { batchRun, filesIn } from './command-under-test';

const folder = temporaryFolder();
const file = filesIn(folder);
beforeAll(() => {
  mkdirSync(join(folder.path, 'photos'));
  writeFileSync(join(folder.path, 'photos', 'cat.jpg'), 'cat');
});
afterAll(() => {
  folder.remove();
});

function dryRun(name: string, content: string, ...args: string[]): Promise<FakeContext> {
  return batchRun(file(name, content), '--app', '1', '--dry-run', ...args);
}

describe('what a dry run shows', () => {
  it('is the batch, where its outputs go, and what the first good row would send', async () => {
    const content = [
      'key,1:LoadImage.image,2:ImageScale.width,3:Text.text,4:LoadImage.image',
      'dog,@photos/dog.jpg,1,x,@s3://bucket/mask.png',
      'cat,@photos/cat.jpg,512,"a, b",@s3://bucket/mask.png',
    ].join('\n');

    const { stdout, exitCode } = await dryRun('Animals (2026).csv', content, '--as', '4:LoadImage.image=name');

    expect(exitCode).toBe(2);
    expect(stdout.text).toMatch(/^ {2}batch {6}batch:Animals-2026-[0-9a-f]{16}$/m);
    expect(stdout.text).toMatch(
      /^ {2}outputs {4}batches\/Animals-2026-[0-9a-f]{16}\/outputs\/\{requestId\}\/\{index\}\{ext\}, in/m,
    );
    expect(stdout.text).toContain(
      [
        '  first row  row 3, key "cat", app 1',
        `             1:LoadImage.image  file ${folder.path}/photos/cat.jpg (3 B)`,
        '             2:ImageScale.width  number 512',
        '             3:Text.text  text "a, b"',
        '             4:LoadImage.image  file s3://bucket/mask.png, given as its name',
        '  estimate   nothing is known: LONGHAUL_ARCHIVE is not set here, so earlier rows are not known',
        '  problems   1 FILE',
        '',
      ].join('\n'),
    );
  });

  it('is, too, whose task the first row would be, where that is not the usual account', async () => {
    const { stdout } = await dryRun('accounts.csv', 'key,account,2:ImageScale.width\ncat,studio,512\ndog,,512\n');
    expect(stdout.text).toContain('  first row  row 2, key "cat", app 1, account "studio"\n');
    const json = await dryRun('given.csv', 'key,2:ImageScale.width\ncat,512\n', '--account', 'agency', '--json');
    expect(json.stdout.text).toContain('"webAppId":1,"account":"agency"');
  });

  it('is told to a program, too, in one event', async () => {
    const args = ['--json', '--id', 'animals', '--archive', 'zoo', '--names', '{batch}/{key}/{index}{ext}'];
    const { stdout } = await dryRun(
      'told.csv',
      'key,1:LoadImage.image,3:Text.text\ncat,@photos/cat.jpg,"a ""b"""\n',
      ...args,
    );

    expect(JSON.parse(stdout.text)).toMatchObject({
      ...{ event: 'checked', batchId: 'animals', outputs: 'zoo/{batch}/{key}/{index}{ext}', first: null },
      firstRow: {
        ...{ line: 2, key: 'cat', webAppId: 1, moreInputs: 0 },
        inputs: [
          { key: '1:LoadImage.image', kind: 'file', value: join(folder.path, 'photos/cat.jpg'), bytes: 3, as: 'url' },
          { key: '3:Text.text', kind: 'text', value: 'a "b"' },
        ],
      },
    });
  });

  it('stays short, however much a row sends', async () => {
    const inputs = Object.fromEntries(
      Array.from({ length: 13 }, (_, n) => [`${n + 1}:Text.text`, 'long '.repeat(100)]),
    );
    const { stdout } = await dryRun('long.jsonl', `${JSON.stringify({ key: 'a', inputs })}\n`);

    expect(stdout.text.match(/^ +\d+:Text\.text {2}text "long /gm)).toHaveLength(10);
    expect(stdout.text).toContain('\n             and 3 more\n');
    expect(stdout.text.split('\n').filter((line) => line.length > 160)).toEqual([]);
  });

  it('shows no secret', async () => {
    const { stdout } = await dryRun('secret.csv', 'key,3:Text.text\na,Bearer s3cret\n');

    expect(stdout.text).toContain('3:Text.text  text "Bearer [redacted]');
    expect(stdout.text).not.toContain('s3cret');
  });
});

describe('the estimate where an app has no price', () => {
  const rows = 'key,webAppId,2:B.c\na,1,1\nb,99,1\nc,98,1\n';
  const estimates = async (price: object, content = rows): Promise<readonly string[]> => {
    const prices = file('prices.json', JSON.stringify({ prices: [{ currency: 'EUR', perTask: '0.02', ...price }] }));
    const context = new FakeContext({ LONGHAUL_PRICES_FILE: prices });
    await runCommandLine(['batch', 'run', file('priced.csv', content), '--dry-run'], context);
    return context.stdout.text.split('\n').filter((line) => line.startsWith('  estimate'));
  };
  const missing = (which: string): string =>
    `  estimate   LONGHAUL_PRICES_FILE has no price for ${which}, so their sum is not known`;

  it('names its rows, where others have one', async () => {
    expect(await estimates({ webAppId: 1 })).toEqual([
      expect.stringContaining('nothing is known'),
      missing('2 rows (the first of them row 3, app 99)'),
    ]);
    expect(await estimates({ webAppId: 1 }, 'key,webAppId,2:B.c\na,1,1\nb,99,1\n')).toContain(
      missing('1 row (row 3, app 99)'),
    );
    expect(await estimates({ webAppId: 5 })).toEqual([expect.stringContaining('nothing is known')]);
  });
});

describe('--first', () => {
  const content = 'key,1:LoadImage.image\na,@photos/cat.jpg\nb,@photos/cat.jpg\nc,@photos/dog.jpg\n';

  it('looks no further than so many good rows', async () => {
    const { stdout, exitCode } = await dryRun('first.csv', content, '--first', '2');

    expect(exitCode).toBe(0);
    expect(stdout.text).toContain('rows       2: 2 good, 0 bad; --first 2 read no further\n');
  });

  it('of more rows than there are is the whole file, with its bad rows', async () => {
    const { stdout, exitCode } = await dryRun('all.csv', content, '--first', '3');

    expect(exitCode).toBe(2);
    expect(stdout.text).toContain('rows       3: 2 good, 1 bad\n');
  });
});
