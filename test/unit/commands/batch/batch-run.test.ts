import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../../../../src/commands/program';
import type { BatchInput } from '../../../../src/contract/batch/batch-input';
import { parseBatchInput } from '../../../../src/contract/batch/parse-batch-input';
import { appSamplesName, withBatch } from '../../../../src/archive/app-samples';
import { FakeContext } from '../../../support/fake-context';
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

function events({ stdout }: FakeContext): Record<string, unknown>[] {
  return stdout.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('a dry run', () => {
  it('counts rows and bytes to upload, writes nothing, and needs no Temporal', async () => {
    const rows = file('rows.csv', 'key,1:LoadImage.image\na,@photos/cat.jpg\nb,@photos/cat.jpg\n');

    const { stdout, exitCode } = await batchRun(rows, '--app', '1', '-i', '2:ImageScale.width=5', '--dry-run');

    expect(exitCode).toBe(0);
    expect(stdout.text).toMatch(/rows +2: 2 good, 0 bad\n {2}to upload {2}1 file, 3 B; named 2 times, 6 B in all\n/);
    expect(existsSync(join(folder.path, '.longhaul'))).toBe(false);
  });

  it('warns where the run could not write the rows for the workers, and is no error: it may run elsewhere', async () => {
    const rows = join(folder.path, 'taken', 'rows.csv');
    mkdirSync(join(folder.path, 'taken'));
    writeFileSync(rows, 'key\na\n');
    writeFileSync(join(folder.path, 'taken', '.longhaul'), 'no folder');

    const { stderr, exitCode } = await batchRun(rows, '--app', '1', '--dry-run');
    expect(exitCode).toBe(0);
    expect(stderr.text).toMatch(
      /^warning: a run would refuse this: The prepared rows cannot be written to ".*" \(ENOTDIR\)/,
    );
    const warning = events(await batchRun(rows, '--app', '1', '--dry-run', '--json')).at(-1);
    expect(warning).toMatchObject({ event: 'warning', message: expect.stringContaining('.longhaul') as string });
  });

  it('is not needed to prepare rows for another Temporal client, which starts them with what is printed', async () => {
    const rows = file('prepared.csv', 'key,1:LoadImage.image\na,@photos/cat.jpg\nb,@photos/none.jpg\n');
    const args = [rows, '--app', '1', '--concurrency', '3', '--prepare'];

    expect(await batchRun(...args)).toMatchObject({ exitCode: 2, stdout: { text: '' } });
    const { stdout, stderr, exitCode } = await batchRun(...args, '--skip-bad');
    expect(exitCode).toBe(0);
    expect(stderr.text).toContain('1 good, 1 bad');
    const input = JSON.parse(stdout.text) as BatchInput;
    expect(input).toMatchObject({ id: 'prepared', concurrency: 3, badRows: 1, rows: { rows: 1, pages: 1 } });
    expect(parseBatchInput(input).problems).toBeUndefined();
    expect(existsSync(input.rows.location)).toBe(true);
    const [event] = events(await batchRun(...args, '--skip-bad', '--json')).filter(({ event }) => event === 'prepared');
    expect(event).toMatchObject({ input });
    expect(await batchRun(...args, '--dry-run')).toMatchObject({ exitCode: 2 });
  });

  it('says how many tasks rows become by --vary, and wants --yes for more than ten each', async () => {
    const rows = file('varied.csv', 'key\na\nb\n');
    const args = [rows, '--app', '1', '--vary', '3:KSampler.seed=random*11'];

    const checked = await batchRun(...args, '--dry-run', '--json');
    expect(checked.exitCode).toBe(2);
    expect(events(checked)[0]).toMatchObject({ rows: 22, fileRows: 2, firstRow: { line: 2 } });
    expect(await batchRun(...args, '--prepare')).toMatchObject({ exitCode: 2, stdout: { text: '' } });
    expect(await batchRun(...args, '--dry-run', '--yes')).toMatchObject({ exitCode: 0 });
    const prepared = await batchRun(...args, '--prepare', '--yes');
    expect(JSON.parse(prepared.stdout.text)).toMatchObject({ rows: { rows: 22 } });
    // Fewer tasks than there are rows need no permission.
    expect(await batchRun(...args, '--prepare', '--first', '3')).toMatchObject({ exitCode: 0 });
  });

  it('takes the files of --vary from where it runs, and names the one that is missing', async () => {
    const rows = file('files.csv', 'key\na\n');
    const vary = (list: string) => batchRun(rows, '--app', '1', '--vary', `1:LoadImage.image=${list}`, '--dry-run');
    expect(await vary(`@${join(folder.path, 'photos/cat.jpg')}`)).toMatchObject({ exitCode: 0 });
    expect((await vary('@none.jpg')).stderr.text).toContain('/home/ada/none.jpg');
  });

  it('refuses rows whose account has a daily budget and whose app has no price for it', async () => {
    const rows = file('daily.csv', 'key,webAppId,1:LoadImage.image\na,1,@photos/cat.jpg\nb,2,@photos/cat.jpg\n');
    const prices = (webAppId: number) => ({ webAppId, currency: 'EUR', perTask: '0.1' });
    const dailyBudgets = [{ account: 'default', amount: '50EUR' }];
    const check = async (listed: readonly object[]): Promise<FakeContext> => {
      const LONGHAUL_PRICES_FILE = file('prices.json', JSON.stringify({ prices: listed, dailyBudgets }));
      const context = new FakeContext({ TEMPORAL_ADDRESS: '127.0.0.1:1', LONGHAUL_PRICES_FILE });
      await runCommandLine(['batch', 'run', rows, '--dry-run'], context);
      return context;
    };

    expect(await check([prices(1), prices(2)])).toMatchObject({ exitCode: 0 });
    const { exitCode, stderr } = await check([prices(1)]);
    expect(exitCode).toBe(2);
    expect(stderr.text).toContain('In row 3: the account "default" has a daily budget of 50');
    expect(stderr.text).toContain('app 2 has no known price: give it one in EUR');
  });

  it('estimates nothing where no row is good', async () => {
    const rows = file('bad.csv', 'key,1:LoadImage.image\na,@photos/none.jpg\n');

    const { stdout, exitCode } = await batchRun(rows, '--app', '1', '--dry-run');

    expect(exitCode).toBe(2);
    expect(stdout.text).toContain('1: 0 good, 1 bad');
    expect(stdout.text).not.toContain('estimate');
  });

  it('fills rows into a template, with keys, text and columns as they are named', async () => {
    file('template.json', '{ "webAppId": 7, "inputs": { "1:LoadImage.image": { "file": "photos/{animal}.jpg" } } }');
    const rows = file('animals.tsv', 'name\tanimal\tnote\nx\tcat\t\n');

    const { exitCode, stderr } = await batchRun(
      ...[rows, '--template', join(folder.path, 'template.json'), '--key-column', 'name', '--ignore-column', 'note'],
      ...['--names', '{batch}/{key}/{animal}-{index}{ext}', '--dry-run'],
    );

    expect({ exitCode, words: stderr.text }).toEqual({ exitCode: 0, words: '' });
  });

  it.each([
    [';', ';'],
    ['tab', '\t'],
  ])('reads cells between which stands what --delimiter says, such as %s', async (word, delimiter) => {
    const rows = file('cells.csv', 'key,2:ImageScale.width\na,1\n'.replaceAll(',', delimiter));

    const { exitCode, stdout } = await batchRun(rows, '--app', '1', '--delimiter', word, '--dry-run');

    expect(exitCode).toBe(0);
    expect(stdout.text).toContain('2:ImageScale.width  number 1');
  });

  it('tells a person of the first bad rows, and a program of all', async () => {
    const lines = Array.from({ length: 30 }, (_, index) => `k${index},@photos/dog-${index}.jpg`);
    const rows = file('bad.csv', ['key,1:LoadImage.image', ...lines, ''].join('\n'));

    const person = await batchRun(rows, '--app', '1', '--dry-run');
    const program = await batchRun(rows, '--app', '1', '--dry-run', '--json');

    expect(person.exitCode).toBe(2);
    expect(person.stdout.text.match(/^ {2}row \d+: The file/gm)).toHaveLength(20);
    expect(person.stdout.text).toContain('and 10 more problems; --json prints all');
    expect((await batchRun(rows, '--app', '1', '--dry-run', '--skip-bad')).exitCode).toBe(2);
    const withGood = file('half-bad.csv', 'key,1:LoadImage.image\na,photo.jpg\nb,@photos/none.jpg\n');
    expect((await batchRun(withGood, '--app', '1', '--dry-run')).exitCode).toBe(2);
    expect((await batchRun(withGood, '--app', '1', '--dry-run', '--skip-bad')).exitCode).toBe(0);
    expect(program.exitCode).toBe(2);
    expect(events(program).filter(({ event }) => event === 'problem')).toHaveLength(30);
    expect(events(program).at(-1)).toMatchObject({ event: 'checked', badRows: 30, problemsByCode: { FILE: 30 } });
  });
});

describe('rows of an app of which earlier ones are known', () => {
  it('have an estimate that says what is not paid again, and whether a budget lasts', async () => {
    const costs = [10_000, 10_000, 50_000].map((micros) => ({ ms: null, cost: { currency: 'EUR', micros } }));
    const archive = join(folder.path, 'priced');
    mkdirSync(join(archive, '.estimates'), { recursive: true });
    writeFileSync(
      join(archive, appSamplesName(1)),
      withBatch(undefined, 'earlier', { webAppId: 1, rows: 3, samples: costs }),
    );
    const rows = file('priced.csv', 'key,1:LoadImage.image\na,@photos/cat.jpg\nb,@photos/cat.jpg\n');
    const estimateOf = async (...args: string[]): Promise<string> => {
      const context = new FakeContext({ TEMPORAL_ADDRESS: '127.0.0.1:1', LONGHAUL_ARCHIVE: archive });
      await runCommandLine(['batch', 'run', rows, '--app', '1', '--dry-run', ...args], context);
      return context.stdout.text;
    };
    const open = await estimateOf('--budget', '1EUR');
    expect(open).toMatch(/0\.02 EUR by the median row, .*; for 2 rows, by 3 earlier ones\n/);
    expect(open).not.toContain('the budget of');
    expect(await estimateOf('--budget', '0.05EUR')).toContain('the budget of 0.05 EUR may be reached before the last');
    expect(await estimateOf('--budget', '0.01EUR')).toContain('the budget of 0.01 EUR is reached before the last row');
    expect(await estimateOf('--budget', '0.01USD')).not.toContain('the budget of');
  });

  it('have the cost of their fixed prices, and how many of them a budget lets start', async () => {
    const rows = file('fixed.csv', 'key,1:LoadImage.image\na,@photos/cat.jpg\nb,@photos/cat.jpg\nc,@photos/cat.jpg\n');
    const price = { webAppId: 1, currency: 'EUR', perTask: '0.02' };
    const check = async (priced: object, ...args: string[]): Promise<FakeContext> => {
      const LONGHAUL_PRICES_FILE = file('fixed-prices.json', JSON.stringify({ prices: [priced] }));
      const context = new FakeContext({ TEMPORAL_ADDRESS: '127.0.0.1:1', LONGHAUL_PRICES_FILE });
      await runCommandLine(['batch', 'run', rows, '--app', '1', '--dry-run', ...args], context);
      return context;
    };
    const { stdout } = await check(price, '--budget', '0.05EUR');
    expect(stdout.text).toMatch(
      /^ {2}estimate +0\.06 EUR for 3 rows, by their fixed prices; if all of them run: rows/m,
    );
    expect(stdout.text).toMatch(/^ {2}estimate +the budget of 0\.05 EUR lets 2 rows start, those on record included$/m);
    expect((await check(price, '--budget', '0.06EUR')).stdout.text).not.toContain('the budget of');
    const [checked] = events(await check(price, '--budget', '0.05EUR', '--json'));
    expect(checked).toMatchObject({ fixedCosts: [{ currency: 'EUR', micros: 60_000 }], rowsWithinBudget: 2 });
    const byTime = await check({ ...price, perMillisecond: '0.01', costTime: 'taskCostTime' });
    expect(byTime.stdout.text).not.toContain('fixed prices');
  });
});

describe('a run with bad rows', () => {
  it('is refused before Temporal is asked, and leaves no prepared rows', async () => {
    const rows = file('mixed.csv', 'key,1:LoadImage.image\na,@photos/cat.jpg\nb,@photos/dog.jpg\n');

    const { exitCode, stdout, stderr } = await batchRun(rows, '--app', '1');

    expect(exitCode).toBe(2);
    expect(stdout.text).toBe('');
    expect(stderr.text).toMatch(/row 3: .*dog\.jpg.*\nNothing was started\. .*--skip-bad/);
  });

  it('tells a row without an app from a forgotten one', async () => {
    const rows = file('apps.jsonl', '{"key":"a","inputs":{}}\n{"key":"b","webAppId":1,"inputs":{}}\n');
    const { exitCode, stdout } = await batchRun(rows, '--dry-run');

    expect(exitCode).toBe(2);
    expect(stdout.text).toContain('2: 1 good, 1 bad');
    expect(stdout.text).toMatch(/line 1: .*webAppId/);
  });

  it('names every problem where no row is good and only some have no app', async () => {
    const rows = file('some-apps.jsonl', '{"key":"a","inputs":{}}\n{"key":"b","webAppId":1,"inptus":{}}\n');
    const { exitCode, stdout } = await batchRun(rows, '--dry-run');

    expect(exitCode).toBe(2);
    expect(stdout.text).toMatch(/line 1: .*webAppId.*\n.*line 2: "inptus" is {}; did you mean inputs\?/);
  });

  it('is refused, too, when no row is good', async () => {
    const rows = file('none-good.csv', 'key,1:LoadImage.image\na,@photos/dog.jpg\n');
    const { exitCode, stderr } = await batchRun(rows, '--app', '1', '--skip-bad');

    expect(exitCode).toBe(2);
    expect(stderr.text).toContain('there is no row that can become a task');
  });
});

describe('a wrong command line of a batch', () => {
  const rows = ['key,2:ImageScale.width', ...Array.from({ length: 30 }, (_, index) => `k${index},5`), ''].join('\n');
  const commands: Readonly<Record<string, () => readonly string[]>> = {
    APPLESS: () => [file('appless.csv', rows), '--dry-run'],
    FORMLESS: () => [file('formless.csv', rows), '--app', '1', '--as', '1:A.b=name'],
  };

  it.each<[string, readonly string[], RegExp]>([
    ['an id that is none', ['rows.csv', '--id', 'a b'], /The batch id "a b" cannot be one; give 1 to 80/],
    ['a file of no known kind', ['rows.doc'], /"[^"]*rows.doc" has none of the extensions .jsonl/],
    ['a file that is not there', ['none.csv', '--dry-run'], /none.csv" cannot be read \(ENOENT\)/],
    ['a template that is not there', ['rows.csv', '--template', 'no.json'], /--template is "[^"]*no.json".*ENOENT/],
    ['too many rows at a time', ['rows.csv', '--concurrency', '501'], /--concurrency is "501"; give .* 1 to 500/],
    [
      'a number in another notation',
      ['rows.csv', '--concurrency', '0x10'],
      /--concurrency is "0x10"; give .* 1 to 500/,
    ],
    ['names that could be the same', ['rows.csv', '--names', '{index}{ext}'], /name template "\{index\}\{ext\}"/],
    ['an app that is no number', ['rows.csv', '--app', 'scale'], /The app is "scale"/],
    ['no app', ['APPLESS'], /input cannot be used:\n {2}- No app: say --app, or give the rows a webAppId\.\n$/],
    ['an id that would hide its folder', ['rows.csv', '--id', '.x'], /id is ".x"; give .* no dot \(--id\)/],
    ['an archive that leads out', ['none.csv', '--archive', '../x'], /archive is "\.\.\/x"; give a folder inside/],
    ['a number of first rows that is none', ['rows.csv', '--first', '0'], /--first is "0"; give a whole number from 1/],
    ['empty cells of JSONL', ['rows.jsonl', '--empty', 'omit'], /--empty is "omit"; these rows have no cells/],
    ['an account that is none', ['none.csv', '--account', 'a b'], /account is "a b"; give 1 to 80 letters/],
    ['a constant of a misspelt key', ['none.csv', '-i', 'width=1'], /The input key "width" is not/],
    [
      'a constant number with a comma',
      ['none.csv', '-i', '1:A.b=0,5'],
      /- -i 1:A\.b=0,5: write a number as 0\.5, 1024 or -5, or say that it is text \(-s 1:A\.b=0,5\)\./,
    ],
    ['a constant by FTP', ['none.csv', '-i', '1:A.b=@ftp://h/x'], /inputs\["1:A.b"\].file is "ftp:\/\/h\/x"/],
    [
      'a constant file that is not there',
      ['none.csv', '-i', '1:A.b=@no.png'],
      /- -i 1:A\.b=@no\.png: "\/home\/ada\/no\.png" does not exist; relative paths start where the command runs\./,
    ],
    ['a form of a file that no row has', ['FORMLESS'], /--as "1:A.b=name": no row has a file as "1:A.b"\./],
    ['a form that is none', ['rows.csv', '--as', 'K=path'], /--as "K=path" is not KEY=url/],
  ])('with %s ends with 2 and says what is wrong', async (_, args, message) => {
    const { stdout, stderr, exitCode } = await batchRun(...(commands[args[0] ?? '']?.() ?? args));

    expect({ exitCode, printed: stdout.text }).toEqual({ exitCode: 2, printed: '' });
    expect(stderr.text).toMatch(message);
  });
});
