import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../../../src/commands/program';
import { layoutText, recordText } from '../../../src/archive/batch-record';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { archiveBatch, archiveTask, resultLineOf, writeResults } from '../../support/archived-batch';
import { FakeContext } from '../../support/fake-context';
import { endedRow } from '../../support/record-under-test';
import { temporaryFolder } from '../../support/temporary-folder';
import { preparedRows } from '../../support/prepared-rows-under-test';

const folder = temporaryFolder();
const archive = new FolderArchive(join(folder.path, 'archive'));
const digest = 'd'.repeat(64);
const orphaned = `batches/photos/results/${digest.slice(0, 12)}/orphaned.jsonl`;
let fetches = 0;

/** Fetches into a folder of its own. */
async function fetch(...args: string[]): Promise<{ context: FakeContext; has: (...keys: string[]) => boolean[] }> {
  const into = join(folder.path, `fetched-${(fetches += 1)}`);
  const context = new FakeContext({ LONGHAUL_ARCHIVE: archive.location });
  await runCommandLine(['batch', 'results', 'photos', '-o', into, ...args], context);
  return { context, has: (...keys) => keys.map((key) => existsSync(join(into, `${key}.png`))) };
}

beforeAll(async () => {
  await archiveBatch(archive, 'photos', ['a', 'b', 'c']);
  const [gone] = preparedRows([{ key: 'A-20-0123' }]);
  const requestId = '3f0c2a4e-0000-4000-8000-000000000001';
  const manifest = await archiveTask(archive, { requestId, folder: 'gone', files: { '0.png': 'gone' } });
  await archive.replace('batches/photos/batch.json', layoutText({ id: 'photos', digest, rows: 3, pages: 1 }));
  await archive.replace(orphaned, recordText([endedRow(gone!, 0, { requestId, manifest, originalKey: 'A 20' })]));
});
afterAll(() => {
  folder.remove();
});

describe('longhaul batch results', () => {
  it('fetches the rows of the last run, and says how the others on record are fetched', async () => {
    const { context, has } = await fetch();
    expect(context.exitCode).toBe(0);
    expect(has('a', 'b', 'c', 'A 20')).toEqual([true, true, true, false]);
    expect(context.stdout.text).toContain(
      '1 row on record is not among those of the last run: --gone fetches them, too',
    );

    const all = await fetch('--gone');
    expect(all.has('a', 'b', 'c', 'A 20')).toEqual([true, true, true, true]);
    expect(all.context.stdout.text).not.toContain('--gone');
  });

  it('fetches the rows of some keys alone, by the key of the sheet and of the task, and also one that is gone', async () => {
    const { context, has } = await fetch('--key', 'b', '--key', 'A 20');
    expect(context.exitCode).toBe(0);
    expect(has('a', 'b', 'c', 'A 20')).toEqual([false, true, false, true]);
    expect(context.stdout.text).toMatch(/^2 rows · 2 files fetched/);

    expect((await fetch('--key', 'A-20-0123')).has('a', 'A 20')).toEqual([false, true]);
  });

  it('ends with 2 where no row has the key, and fetches the others', async () => {
    const { context, has } = await fetch('--key', 'no-such', '--key', 'a');
    expect(context.exitCode).toBe(2);
    expect(context.stdout.text).toContain('no row on record has the key "no-such"');
    expect(has('a', 'b')).toEqual([true, false]);
    expect(JSON.parse((await fetch('--key', 'no-such', '--json')).context.stdout.text)).toMatchObject({
      ...{ rows: 0, unknownKeys: ['no-such'] },
    });
  });

  it('tells rows that were not started from those that did not succeed', async () => {
    const failure = { type: 'TaskFailed', message: 'no' };
    const none = { startedAt: null, endedAt: null, seconds: null };
    await writeResults(archive, 'stopped', [
      resultLineOf('stopped', 'a', { status: 'Failed', failure }),
      ...['b', 'c'].map((key) => resultLineOf('stopped', key, { status: 'NotStarted', ...none })),
    ]);
    const context = new FakeContext({ LONGHAUL_ARCHIVE: archive.location });
    await runCommandLine(['batch', 'results', 'stopped', '-o', join(folder.path, 'stopped')], context);
    expect(context.stdout.text).toContain('  1 row did not succeed, so there is nothing to fetch of it\n');
    expect(context.stdout.text).toContain('  2 rows were not started\n');
  });

  it('fetches a row once that a refused run, whose file lacks it, has set aside', async () => {
    const text = (await archive.read(orphaned))!.toString('utf8');
    await archive.replace(orphaned, recordText(preparedRows([{ key: 'b' }]).map((row) => endedRow(row, 0))));
    try {
      for (const args of [[], ['--gone']]) {
        const { context } = await fetch(...args);
        expect(context.exitCode).toBe(0);
        expect(context.stdout.text).toMatch(/^3 rows · 3 files fetched/);
        expect(context.stdout.text).not.toContain('--gone');
      }
      expect((await fetch('--key', 'b')).context.stdout.text).toMatch(/^1 row · 1 file fetched/);
    } finally {
      await archive.replace(orphaned, text);
    }
  });

  it('is not held up by a damaged record of rows that nobody asked for', async () => {
    const text = (await archive.read(orphaned))!.toString('utf8');
    await archive.replace(orphaned, 'x');
    try {
      expect((await fetch()).context.exitCode).toBe(0);
      expect((await fetch('--gone')).context.exitCode).toBe(3);
    } finally {
      await archive.replace(orphaned, text);
    }
  });
});
