import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../../../src/commands/program';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { FakeContext } from '../../support/fake-context';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const archive = new FolderArchive(join(folder.path, 'archive'));
const table = '\uFEFFkey;status;output;message;failure_type;result.key\nA 1;Success;1.png;;;A 1\n';
beforeAll(async () => {
  await archive.replace('batches/orders/results.csv', table);
});
afterAll(() => {
  folder.remove();
});

async function report(id: string, ...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({ LONGHAUL_ARCHIVE: archive.location });
  await runCommandLine(['batch', 'report', id, ...args], context);
  return context;
}

describe('longhaul batch report --csv', () => {
  it('fetches the table of a batch as it stands in the archive, and again in the place of an earlier one', async () => {
    const file = join(folder.path, 'orders-results.csv');
    const first = await report('orders', '--csv', file);
    expect([first.exitCode, first.stdout.text]).toEqual([0, `${file}  (77 B)\n`]);
    expect(readFileSync(file, 'utf8')).toBe(table);

    await archive.replace('batches/orders/results.csv', `${table}A 2;Success;2.png;;;A 2\n`);
    const again = await report('batch:orders', '--csv', file, '--json');
    expect(JSON.parse(again.stdout.text)).toEqual({ path: file, bytes: 101 });
    expect(readFileSync(file, 'utf8')).toContain('A 2;Success;');
  });

  it('replaces no other file, such as the row file', async () => {
    const rows = join(folder.path, 'orders.csv');
    writeFileSync(rows, 'key;photo\nA 1;cat.jpg\n');
    mkdirSync(join(folder.path, 'folder'));
    for (const name of ['orders.csv', 'folder']) {
      const { exitCode, stderr } = await report('orders', '--csv', join(folder.path, name));
      expect([exitCode, stderr.text]).toEqual([2, expect.stringContaining('is not replaced; give another file.')]);
    }
    expect(readFileSync(rows, 'utf8')).toBe('key;photo\nA 1;cat.jpg\n');
  });

  it('tells of a batch of which no run has ended, and of --html beside it', async () => {
    const file = join(folder.path, 'none.csv');
    const unknown = await report('unknown', '--csv', file);
    expect(unknown.stderr.text).toContain('The archive has no results.csv of the batch "unknown"');
    expect(unknown.exitCode).toBe(3);
    const both = await report('orders', '--csv', file, '--html', file);
    expect([both.exitCode, both.stderr.text]).toEqual([2, expect.stringContaining('--html and --csv exclude each')]);
    expect(existsSync(file)).toBe(false);
  });
});
