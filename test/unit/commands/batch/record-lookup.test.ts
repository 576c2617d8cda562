import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../../../../src/commands/program';
import type { RowRecord } from '../../../../src/contract/batch/batch-rows';
import { inputDigest } from '../../../../src/contract/task-input';
import type { PreparedRow } from '../../../../src/rows';
import { FakeContext } from '../../../support/fake-context';
import { endedRow } from '../../../support/record-under-test';
import { goodRowsOf, keepRecord } from '../../../support/recorded-batch';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
const archive = join(folder.path, 'archive');
const rowFile = join(folder.path, 'rows.csv');
const photo = join(folder.path, 'cat.jpg');
const staging = { LONGHAUL_STAGING: 's3://bucket/pre/fix' };
afterAll(() => {
  folder.remove();
});

async function prepared(text: string): Promise<PreparedRow[]> {
  writeFileSync(rowFile, text);
  return await goodRowsOf(rowFile);
}

/** Has rows of this batch on record, as they were run. */
function keep(rows: readonly PreparedRow[], more: Partial<RowRecord> = {}): void {
  keepRecord(archive, 'photos', { 0: rows.map((row) => endedRow(row, 0, more)) });
}

/** The check of a file with this text, where the archive alone can be asked. */
async function check(text: string, env: NodeJS.ProcessEnv = {}, ...args: string[]): Promise<FakeContext> {
  writeFileSync(rowFile, text);
  const context = new FakeContext({ LONGHAUL_ARCHIVE: archive, ...env });
  await runCommandLine(['batch', 'run', rowFile, '--app', '1', '--id', 'photos', '--dry-run', ...args], context);
  return context;
}

describe('the check of a file that the run would refuse', () => {
  const ran = 'key,2:A.b\none,1\ntwo,2\n';

  it.each([
    ['rows changed under their keys', 'key,2:A.b\none,1\ntwo,3\n', '--allow-changed', { changed: 1, renamed: null }],
    ['keys were renamed', 'key,2:A.b\none,1\nTWO,2\n', '--allow-new', { changed: 0, renamed: { newRows: 1 } }],
  ])('ends with 2 where %s, and with 0 where that is allowed', async (_, text, option, refused) => {
    keep(await prepared(ran));

    const [found, allowed] = [await check(text), await check(text, {}, option)];

    expect(found.exitCode).toBe(2);
    expect(found.stdout.text).not.toContain('estimate');
    expect(found.stdout.text).toContain('(RowsChanged)');
    expect(allowed.exitCode).toBe(0);
    expect(allowed.stdout.text).toContain('estimate');
    const facts: unknown = JSON.parse((await check(text, {}, '--json')).stdout.text);
    expect(facts).toMatchObject({ refused: true, onRecord: { refused } });
  });

  it('judges no keys of a file that was not read to its end', async () => {
    keep(await prepared(ran));
    const { exitCode, stdout } = await check('key,2:A.b\nthree,3\none,1\n', {}, '--first', '1', '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout.text)).toMatchObject({ refused: false, onRecord: { new: 1, gone: null } });
  });

  it('ends with 0 where the rows are as they were run, and where rows are new', async () => {
    keep(await prepared(ran));
    const { exitCode, stdout } = await check(`${ran}three,3\n`, {}, '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout.text)).toMatchObject({ refused: false, onRecord: { success: 2, new: 1, changed: 0 } });
  });
});

describe('of a row that was refused unpaid, the check', () => {
  it('says that the run starts it once it was corrected, and does not while it is as it was', async () => {
    const ran = 'key,2:A.b\none,1\ntwo,x\n';
    const failure = { type: 'TaskRejected', message: 'no' };
    keep(await prepared(ran), { status: 'Failed', requestId: null, failure });

    const asItWas = await check(ran);
    const corrected = await check('key,2:A.b\none,1\ntwo,2\n');
    const { onRecord } = JSON.parse((await check('key,2:A.b\none,1\ntwo,2\n', {}, '--json')).stdout.text) as {
      onRecord: object;
    };

    expect(asItWas.stdout.text).not.toContain('corrected');
    expect(corrected.exitCode).toBe(0);
    expect(corrected.stdout.text).toContain('corrected since they were refused unpaid: 1 row, started by the run\n');
    expect(onRecord).toMatchObject({ changed: 0, corrected: 1 });
  });
});

describe('the estimate of a check', () => {
  const text = 'key,2:A.b\npaid,1\nfailed,2\nnew,3\nother,4\n';

  /** With a fixed price of 0.02 EUR, two rows on record of which one failed. */
  async function estimates(...args: string[]): Promise<string[]> {
    const prices = join(folder.path, 'prices.json');
    const price = { webAppId: 1, currency: 'EUR', perTask: '0.02' };
    writeFileSync(prices, JSON.stringify({ prices: [price] }));
    const { stdout } = await check(text, { LONGHAUL_PRICES_FILE: prices }, ...args);
    return stdout.text.split('\n').flatMap((line) => (line.startsWith('  estimate') ? [line.slice(13)] : []));
  }

  beforeEach(async () => {
    const rows = await prepared(text);
    const cost = { currency: 'EUR', micros: 20_000 };
    const records = rows.slice(0, 2).map((row, index) => {
      const failure = { type: 'TaskFailed', message: 'no' };
      return endedRow(row, 0, { cost, ...(index === 1 && { status: 'Failed', failure }) });
    });
    keepRecord(archive, 'photos', { 0: records });
  });

  it('is of the rows that the run would start', async () => {
    expect(await estimates()).toEqual(['0.04 EUR for 2 rows, by their fixed prices']);
    expect(await estimates('--retry-failed')).toEqual(['0.06 EUR for 3 rows, by their fixed prices']);
  });

  it('is of no more than --first reads, less what is on record', async () => {
    expect(await estimates('--first', '3')).toEqual(['0.02 EUR for 1 row, by its fixed price']);
    expect(await estimates('--first', '2')).toEqual(['nothing: the run starts no row of these']);
  });

  it('says what of a budget is spent, and how many rows the rest lets start', async () => {
    expect(await estimates('--budget', '0.06EUR')).toEqual([
      '0.04 EUR for 2 rows, by their fixed prices',
      'the budget of 0.06 EUR, of which 0.04 EUR is spent, lets 1 row start',
    ]);
    expect(await estimates('--budget', '0.08EUR')).toHaveLength(1);
  });
});

describe('the check of rows that are staged', () => {
  const rows = 'key,1:A.b,2:A.b\ncat,@cat.jpg,1\nplain,x,1\n';

  /** As they were run: the photo under the name that its content gives. */
  async function stagedRows(content: string): Promise<PreparedRow[]> {
    writeFileSync(photo, content);
    const sha256 = createHash('sha256').update(content).digest('hex');
    const [cat, plain] = await prepared(rows);
    const file = { file: `s3://bucket/pre/fix/${sha256}/cat.jpg` };
    const input = { ...cat!.input, inputs: { ...cat!.input.inputs, '1:A.b': file } };
    return [{ ...cat!, input, digest: inputDigest(input) }, plain!];
  }

  it('compares the contents of their files, too', async () => {
    keep(await stagedRows('one photo'));
    const same = await check(rows, staging);
    expect(same.exitCode).toBe(0);
    expect(same.stdout.text).toContain('2 rows: 2 finished; 0 are new\n');
    expect(same.stdout.text).not.toContain('other content');

    writeFileSync(photo, 'another photo');
    const changed = await check(rows, staging);
    expect(changed.exitCode).toBe(2);
    expect(changed.stdout.text).toContain('1 row has other content than on record (');
  });

  it('takes an empty LONGHAUL_STAGING for one that is not set, as the run does', async () => {
    writeFileSync(photo, 'one photo');
    keep(await prepared(rows));
    const { exitCode, stdout, stderr } = await check(rows, { LONGHAUL_STAGING: '' });
    expect([exitCode, stderr.text]).toEqual([0, '']);
    expect(stdout.text).toContain('2 rows: 2 finished; 0 are new\n');
  });
});
