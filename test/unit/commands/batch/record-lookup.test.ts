import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RecordLookup } from '../../../../src/commands/batch/record-lookup';
import { recordedStatus } from '../../../../src/commands/batch/rows-on-record';
import { StagedDigests } from '../../../../src/commands/batch/staged-digests';
import { runCommandLine } from '../../../../src/commands/program';
import type { RowRecord } from '../../../../src/contract/batch/batch-rows';
import { inputDigest } from '../../../../src/contract/task-input';
import { layoutText, recordText } from '../../../../src/formats/batch-record';
import { type PreparedRow, readRows, rowFileAt } from '../../../../src/rows';
import { FakeContext } from '../../../support/fake-context';
import { endedRow } from '../../../support/record-under-test';
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
  const rows: PreparedRow[] = [];
  for await (const { row } of readRows(rowFileAt(rowFile), { common: { webAppId: 1 } })) if (row) rows.push(row);
  return rows;
}

/** Has rows of this batch on record, as they were run. */
function keepRecord(rows: readonly PreparedRow[], more: Partial<RowRecord> = {}): void {
  const digest = 'd'.repeat(64);
  const put = (name: string, text: string): void => {
    const path = join(archive, 'batches', 'photos', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  };
  put('batch.json', layoutText({ id: 'photos', digest, rows: rows.length, pages: 1 }));
  put(`results/${digest.slice(0, 12)}/0.jsonl`, recordText(rows.map((row) => endedRow(row, 0, more))));
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
    [
      'rows changed under their keys',
      'key,2:A.b\none,1\ntwo,3\n',
      /other content than on record: 1 row \(row 3: two\), refused/,
    ],
    ['keys look like those on record', 'key,2:A.b\none,1\nTWO,7\n', /the key "TWO" of row 3 looks like "two"/],
    ['keys were renamed', 'key,2:A.b\none,1\nzwei,2\n', /the key "zwei" of row 3 has the content of "two"/],
  ])('ends with 2 where %s, and with 0 where --allow-changed allows it', async (_, text, words) => {
    keepRecord(await prepared(ran));

    const refused = await check(text);
    const allowed = await check(text, {}, '--allow-changed');

    expect(refused.exitCode).toBe(2);
    expect(refused.stdout.text).toMatch(words);
    expect(refused.stdout.text).not.toContain('estimate');
    expect(allowed.stdout.text).toContain('estimate');
    expect(refused.stdout.text).toContain('  refused    the run starts nothing of this file (RowsChanged)');
    expect(allowed.exitCode).toBe(0);
    expect(allowed.stdout.text).toContain('paid anew, as --allow-changed says');
    expect(allowed.stdout.text).not.toContain('refused');
    expect(JSON.parse((await check(text, {}, '--json')).stdout.text)).toMatchObject({ refused: true });
  });

  it('names rows on record by the keys that they gave, as far as the record has these', async () => {
    const [row] = await prepared('key,2:A.b\nA 20/ä,1\n');
    keepRecord([row!]);
    const slug = (await check('key,2:A.b\nB,1\n')).stdout.text;
    expect(slug).toMatch(/the key "B" of row 2 has the content of "A-20-a-[0-9a-f]{16}" on record/);
    keepRecord([row!], { originalKey: 'A 20/ä' });
    const named = (await check('key,2:A.b\nB,1\n')).stdout.text;
    expect(named).toContain('the key "B" of row 2 has the content of "A 20/ä" on record');
  });

  it('ends with 0 where the rows are as they were run, and where rows are new', async () => {
    keepRecord(await prepared(ran));
    const { exitCode, stdout } = await check(`${ran}three,3\n`, {}, '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout.text)).toMatchObject({ refused: false, onRecord: { success: 2, new: 1, changed: 0 } });
  });
});

describe('of a row that was refused unpaid, the check', () => {
  it('says that the run starts it once it was corrected, and does not while it is as it was', async () => {
    const ran = 'key,2:A.b\none,1\ntwo,x\n';
    const failure = { type: 'TaskRejected', message: 'no' };
    keepRecord(await prepared(ran), { status: 'Failed', requestId: null, failure });

    const asItWas = await check(ran);
    const corrected = await check('key,2:A.b\none,1\ntwo,2\n');
    const { onRecord } = JSON.parse((await check('key,2:A.b\none,1\ntwo,2\n', {}, '--json')).stdout.text) as {
      onRecord: object;
    };

    expect(asItWas.stdout.text).not.toContain('corrected');
    expect(corrected.exitCode).toBe(0);
    expect(corrected.stdout.text).toContain(
      'corrected since they were refused unpaid: 1 row (row 3: two), started by the run\n',
    );
    expect(onRecord).toMatchObject({ changed: 0, corrected: 1, correctedRows: [{ key: 'two' }] });
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
    keepRecord(rows.slice(0, 2));
    const records = rows.slice(0, 2).map((row, index) => {
      const failure = { type: 'TaskFailed', message: 'no' };
      return endedRow(row, 0, { cost, ...(index === 1 && { status: 'Failed', failure }) });
    });
    writeFileSync(join(archive, 'batches', 'photos', 'results', 'd'.repeat(12), '0.jsonl'), recordText(records));
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
    keepRecord(await stagedRows('one photo'));
    const same = await check(rows, staging);
    expect(same.exitCode).toBe(0);
    expect(same.stdout.text).toContain('2 rows: 2 finished; 0 are new\n');
    expect(same.stdout.text).not.toMatch(/other content|not compared/);

    writeFileSync(photo, 'another photo');
    const changed = await check(rows, staging);
    expect(changed.exitCode).toBe(2);
    expect(changed.stdout.text).toContain('other content than on record: 1 row (');
  });

  it('takes an empty LONGHAUL_STAGING for one that is not set, as the run does', async () => {
    writeFileSync(photo, 'one photo');
    keepRecord(await prepared(rows));
    const { exitCode, stdout, stderr } = await check(rows, { LONGHAUL_STAGING: '' });
    expect([exitCode, stderr.text]).toEqual([0, '']);
    expect(stdout.text).toContain('2 rows: 2 finished; 0 are new\n');
  });

  it('finds a row whose key was renamed', async () => {
    keepRecord(await stagedRows('one photo'));
    const { exitCode, stdout } = await check('key,1:A.b,2:A.b\nkitten,@cat.jpg,1\nplain,x,1\n', staging);
    expect(exitCode).toBe(2);
    expect(stdout.text).toContain('the key "kitten" of row 2 has the content of "cat" on record');
  });

  it('takes no row whose file it cannot read for one on record of which the content is not known', async () => {
    const [cat, plain] = await stagedRows('one photo');
    keepRecord([{ ...cat!, key: 'gone', digest: '' }, plain!]);
    rmSync(photo);
    mkdirSync(photo);
    const row = { ...cat!, input: { ...cat!.input, inputs: { '1:A.b': { file: photo } } } };
    const lookup = await RecordLookup.open(new FakeContext({ LONGHAUL_ARCHIVE: archive, ...staging }), 'photos', {});
    await lookup.add(row);
    rmSync(photo, { recursive: true });
    expect(lookup.result(true)).toMatchObject({ new: 1, notCompared: 1, gone: 2, runBefore: { rows: 0 } });
  });

  it('reads files only as far as they are not too large, and each once', async () => {
    writeFileSync(photo, '1234');
    const [row] = await prepared('key,1:A.b\ncat,@cat.jpg\n');
    const place = { bucket: 'bucket', prefix: '', isPathStyle: false };
    const enough = await StagedDigests.open(place, 4);
    const first = await enough.digestOf(row!);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(await enough.digestOf(row!)).toBe(first);
    expect(await (await StagedDigests.open(place, 3)).digestOf(row!)).toBeUndefined();
  });
});

describe('of a row that Temporal alone knows, the check', () => {
  it.each([
    ['COMPLETED', 'Success', 'Success'],
    ['COMPLETED', 'Canceled', 'Canceled'],
    ['CANCELLED', 'Canceled', 'Canceled'],
    ['FAILED', 'Failed', 'Failed'],
    ['TERMINATED', 'Running', 'Failed'],
  ] as const)('takes a task that is %s with the status %s as %s', (execution, status, expected) => {
    expect(recordedStatus({ execution, status })).toBe(expected);
  });
});
