import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TypedSearchAttributes } from '@temporalio/common';
import { runCommandLine } from '../../../src/commands/program';
import type { RowRecord } from '../../../src/contract/batch/batch-rows';
import { searchAttributes } from '../../../src/contract/search-attributes';
import { eventually } from '../../support/eventually';
import { FakeContext } from '../../support/fake-context';
import { endedRow } from '../../support/record-under-test';
import { temporalAddress } from '../../support/temporal-connection';
import { goodRowsOf, keepRecord } from '../../support/recorded-batch';
import { temporaryFolder } from '../../support/temporary-folder';
import { ClientEnvironment } from './client-environment';

const folder = temporaryFolder();
const id = `check-${randomUUID()}`;
const archive = join(folder.path, 'archive');
const rowFile = join(folder.path, 'rows.csv');
let environment: ClientEnvironment;

/** Tasks that no worker runs: all that Temporal knows of them is that they are there. */
async function startTask(key: string): Promise<() => Promise<unknown>> {
  const handle = await environment.temporal.workflow.start('task', {
    ...{ workflowId: `batch:${id}:${key}`, taskQueue: `none-${id}`, args: [] },
    typedSearchAttributes: new TypedSearchAttributes([{ key: searchAttributes.batch, value: id }]),
  });
  return () => handle.terminate();
}

async function check(env: NodeJS.ProcessEnv, ...args: string[]): Promise<FakeContext> {
  const context = new FakeContext(env);
  await runCommandLine(['batch', 'run', rowFile, '--app', '1', '--id', id, '--dry-run', ...args], context);
  return context;
}

function onRecord({ stdout }: FakeContext): string[] {
  const lines = stdout.text.split('\n');
  const from = lines.findIndex((line) => line.startsWith('  on record'));
  const to = lines.findIndex((line, index) => index > from && /^ {2}\S/.test(line));
  return lines.slice(from, to).map((line) => line.slice(13));
}

describe('the check of a file whose rows were run', () => {
  const end: (() => Promise<unknown>)[] = [];

  beforeAll(async () => {
    environment = await ClientEnvironment.open();
    writeFileSync(rowFile, 'key,1:A.b\ndone,1\nchanged,2\nfailed,3\nrunning,4\ntidy,5\nnew,6\n');
    const [done, changed, failed, , tidy, fresh] = await goodRowsOf(rowFile);
    const records: RowRecord[] = [
      endedRow(done!, 0),
      endedRow({ ...changed!, digest: 'other' }, 0),
      endedRow(failed!, 0, { status: 'Failed', failure: { type: 'TaskFailed', message: 'no' } }),
    ];
    const gone = [
      { ...tidy!, key: 'Tidy' },
      { ...fresh!, key: 'old' },
      { ...fresh!, key: '007', digest: 'seven' },
    ];
    keepRecord(archive, id, { 0: records, orphaned: gone.map((row) => endedRow(row, 0)) });
    end.push(await startTask('running'), await startTask('tidy'));
    await (
      await startTask('done')
    )();
    await eventually(
      async () => {
        const { stdout } = await check({ LONGHAUL_ARCHIVE: archive, TEMPORAL_ADDRESS: temporalAddress() });
        return stdout.text.includes('2 running');
      },
      {
        what: 'the lists of Temporal',
      },
    );
  });
  afterAll(async () => {
    await Promise.all(end.map((one) => one()));
    await environment.close();
    folder.remove();
  });

  it('says what is on record and what runs, where the archive and Temporal answer', async () => {
    const env = { LONGHAUL_ARCHIVE: archive, TEMPORAL_ADDRESS: temporalAddress() };
    expect(onRecord(await check(env))[0]).toBe('5 rows: 2 finished, 1 failed, 2 running; 1 is new');
    expect(JSON.parse((await check(env, '--json')).stdout.text)).toMatchObject({
      refused: true,
      onRecord: {
        ...{ success: 2, failed: 1, canceled: 0, running: 2, new: 1, changed: 1, gone: 3 },
        goneKeys: ['Tidy', '007', 'old'],
        refused: { changed: 1, renamed: { newRows: 1, firstNew: [{ key: 'new' }], missingRows: 3 } },
        missing: null,
      },
    });
    expect(onRecord(await check(env, '--first', '2'))[0]).toBe('2 rows: 2 finished; 0 are new');
    expect((await check(env)).exitCode).toBe(2);
    expect((await check(env, '--first', '1')).exitCode).toBe(0);
  });

  it('counts the rows that are gone, unless --first cut the file', async () => {
    const goneWith = async (first: string): Promise<unknown> => {
      const { stdout } = await check({ LONGHAUL_ARCHIVE: archive }, '--first', first, '--json');
      return (JSON.parse(stdout.text) as { onRecord: { gone: unknown } }).onRecord.gone;
    };
    expect(await goneWith('5')).toBeNull();
    expect(await goneWith('7')).toBe(3);
  });

  it('says so where Temporal cannot be asked', async () => {
    expect(onRecord(await check({ LONGHAUL_ARCHIVE: archive })).at(-1)).toBe(
      'rows that run are not known: TEMPORAL_ADDRESS is not set here',
    );
    const missing = onRecord(await check({ LONGHAUL_ARCHIVE: archive, TEMPORAL_ADDRESS: '127.0.0.1:1' })).at(-1);
    expect(missing).toMatch(/^rows that run are not known: Temporal at 127\.0\.0\.1:1 cannot be reached/);
  });

  it('works where neither can be asked, and where the archive is damaged', async () => {
    expect(onRecord(await check({}))).toEqual(['not known: LONGHAUL_ARCHIVE is not set here']);
    const elsewhere = join(folder.path, 'empty');
    mkdirSync(elsewhere);
    expect(onRecord(await check({ LONGHAUL_ARCHIVE: elsewhere }))).toEqual(['0 rows; 6 are new']);
    keepRecord(archive, id, { 0: 'x' });
    expect(onRecord(await check({ LONGHAUL_ARCHIVE: archive }))).toEqual([
      expect.stringMatching(/^not known: the archive cannot be read here \(The record .* is damaged/),
    ]);
  });
});
