import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../../../src/commands/program';
import type { ResultLine } from '../../../src/archive/result-line';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { archiveBatch, archiveTask, resultLineOf, writeResults } from '../../support/archived-batch';
import { FakeContext } from '../../support/fake-context';
import { listFiles } from '../../support/list-files';
import { temporaryFolder } from '../../support/temporary-folder';

let folder: ReturnType<typeof temporaryFolder>;
let archive: FolderArchive;
let target: string;
beforeEach(() => {
  folder = temporaryFolder();
  archive = new FolderArchive(join(folder.path, 'archive'));
  target = join(folder.path, 'target');
});
afterEach(() => {
  folder.remove();
});

async function run(args: readonly string[], location = archive.location): Promise<FakeContext> {
  const context = new FakeContext({ LONGHAUL_ARCHIVE: location });
  await runCommandLine([...args, '-o', target], context);
  return context;
}

describe('longhaul download with --manifest', () => {
  const fetched = (name = 'r-1/manifest.json', ...more: string[]): Promise<FakeContext> =>
    run(['download', 'order-17', '--manifest', name, ...more]);

  it('fetches the outputs and the manifest, and tells where they are', async () => {
    await archiveTask(archive, { requestId: 'r-1', files: { '0.png': 'one', '1.png': 'two' } });
    const { exitCode, stdout, stderr } = await fetched();

    expect([exitCode, listFiles(target)]).toEqual([0, ['0.png', '1.png', 'manifest.json']]);
    expect(readFileSync(join(target, '1.png'), 'utf8')).toBe('two');
    expect(stdout.text).toMatch(/^2 files fetched, 6 B: .*target\n {2}.*0\.png\n/);
    expect(stderr.text).toContain('fetched');
  });

  it('fetches only what is not there with the right content, and leaves no temporary file', async () => {
    await archiveTask(archive, { requestId: 'r-1', files: { '0.png': 'one', '1.png': 'two' } });
    await fetched();
    const { mtimeMs } = statSync(join(target, '0.png'));
    writeFileSync(join(target, '1.png'), 'tw');
    const again = JSON.parse((await fetched('r-1/manifest.json', '--json')).stdout.text) as unknown;

    expect(again).toMatchObject({ requestId: 'r-1', files: [{ isNew: false }, { isNew: true }], missing: 0 });
    expect(statSync(join(target, '0.png')).mtimeMs).toBe(mtimeMs);
    expect(readFileSync(join(target, '1.png'), 'utf8')).toBe('two');
    expect(listFiles(target)).toEqual(['0.png', '1.png', 'manifest.json']);
  });

  it('keeps nothing that is not what the manifest says, and goes on where it was', async () => {
    await archiveTask(archive, { requestId: 'r-1', files: { '0.png': 'one' } });
    writeFileSync(archive.locate('r-1/0.png'), 'onE');
    const damaged = await fetched();
    expect([damaged.exitCode, damaged.stderr.text]).toEqual([
      3,
      expect.stringMatching(/0\.png is not what its manifest says.*SHA-256/),
    ]);
    expect(listFiles(target)).toEqual([]);

    writeFileSync(archive.locate('r-1/0.png'), 'one');
    expect((await fetched()).exitCode).toBe(0);
    expect(listFiles(target)).toEqual(['0.png', 'manifest.json']);
  });

  it('says what is there of an incomplete archive, and fetches it with --partial', async () => {
    const more = [{ problem: 'HTTP 403' }, { errorType: 'NSFW' }];
    await archiveTask(archive, { requestId: 'r-1', files: { '0.png': 'one' }, more, manifest: { complete: false } });
    const refused = await fetched();
    expect([refused.exitCode, refused.stderr.text]).toEqual([
      5,
      expect.stringMatching(/incomplete: it has 1 of 2 outputs.*--partial/),
    ]);

    const { exitCode, stdout } = await fetched('r-1/manifest.json', '--partial');
    expect([exitCode, listFiles(target)]).toEqual([7, ['0.png', 'manifest.json']]);
    expect(stdout.text).toContain('1 missing in the archive; 1 failed at the service');
  });

  it.each(['../0.png', 'deep/../../0.png', '/etc/cron.d/x'])(
    'writes nothing outside of its folder: %s',
    async (name) => {
      await archiveTask(archive, { requestId: 'r-1', files: {}, more: [{ file: name, bytes: 3, sha256: 'ab' }] });
      writeFileSync(join(folder.path, 'archive', '0.png'), 'one');
      const { exitCode, stderr } = await fetched();

      expect(exitCode).toBe(3);
      expect(stderr.text).toContain('cannot be a name');
      expect(listFiles(folder.path).filter((file) => !file.startsWith('archive/'))).toEqual([]);
    },
  );

  it('follows no link that leads out of its folder', async () => {
    await archiveTask(archive, { requestId: 'r-1', files: { 'deep/0.png': 'one' } });
    const elsewhere = join(folder.path, 'elsewhere');
    mkdirSync(elsewhere);
    mkdirSync(target);
    symlinkSync(elsewhere, join(target, 'deep'));
    const { exitCode, stderr } = await fetched();

    expect([exitCode, stderr.text]).toEqual([2, expect.stringContaining('leads out of the folder')]);
    expect(readdirSync(elsewhere)).toEqual([]);
  });

  it('finds a manifest whose path is that of the worker, which sees the archive elsewhere', async () => {
    await archiveTask(archive, { requestId: 'r-1', folder: 'drafts', files: { '0.png': 'one' } });
    expect((await fetched('/srv/archive/drafts/r-1/manifest.json')).exitCode).toBe(0);
    expect((await fetched('/srv/archive/drafts/r-2/manifest.json')).exitCode).toBe(3);
  });
});

describe('longhaul batch results', () => {
  const keys = ['a', '..', 'c'];
  const fetched = (...more: string[]): Promise<FakeContext> => run(['batch', 'results', 'photos', ...more]);

  it('fetches the outputs of every row into one folder, named by their keys, without Temporal', async () => {
    await archiveBatch(archive, 'photos', keys);
    const { exitCode, stdout } = await fetched();

    expect(exitCode).toBe(0);
    const names = ['_.', 'a', 'c'];
    expect(listFiles(target).sort()).toEqual([
      ...names.map((name) => `${name}.png`),
      ...names.map((name) => `manifests/${name}.json`),
    ]);
    expect(stdout.text).toMatch(/^3 rows · 3 files fetched, \d+ B: /);
    expect((await fetched()).stdout.text).toMatch(/^3 rows · 0 files fetched, 0 B · 3 files there before/);
  });

  it('numbers further outputs of a row, and a hash tells apart rows whose files would have one name', async () => {
    const lines: ResultLine[] = [];
    for (const [key, files] of Object.entries({ P1: ['0.png', '1.png'], 'P1-2': ['0.png'], 'Grün (1)': ['0.JPG'] })) {
      const contents = Object.fromEntries(files.map((file) => [file, `${lines.length} ${file}`]));
      const manifest = await archiveTask(archive, { requestId: `r-${lines.length}`, files: contents });
      const more = { manifest, requestId: `r-${lines.length}`, outputCount: files.length };
      lines.push(resultLineOf('photos', key, { ...more, workflowId: `batch:photos:k${lines.length}` }));
    }
    await writeResults(archive, 'photos', lines);
    expect((await fetched()).exitCode).toBe(0);
    const names = listFiles(target).filter((name) => !name.startsWith('manifests/'));
    expect(names.map((name) => name.replace(/~[0-9a-f]{8}/, '~'))).toEqual(
      ['Grün (1).jpg', 'P1-2~.png', 'P1~-2.png', 'P1~.png'].sort(),
    );
    expect(readFileSync(join(target, names.find((name) => /^P1~.*-2/.test(name)) ?? ''), 'utf8')).toBe('0 1.png');
    expect((await fetched('--key', 'P1-2')).stdout.text).toMatch(/^1 row · 0 files fetched/);
  });

  it('names files by columns and by the file that the row handed in, and lists rows that have no such column', async () => {
    const [line] = await archiveBatch(archive, 'photos', ['a']);
    const cells = [['Farbe', 'Blau/Grün']] as const;
    await writeResults(archive, 'photos', [{ ...line!, cells, file: 'Katze 1.jpeg' }]);
    expect((await fetched('--names', '{Farbe}/{filename} {index}{ext}')).exitCode).toBe(0);
    expect(listFiles(target)).toEqual(['Blau_Grün/Katze 1 1.png', 'manifests/Blau_Grün/Katze 1 1.json']);

    const none = await fetched('--names', '{Frabe}');
    expect([none.exitCode, none.stdout.text]).toEqual([3, expect.stringContaining('it has no column "Frabe"')]);
    expect((await fetched('--names', '{key')).exitCode).toBe(2);
  });

  it('replaces what an earlier run of the row left, and no file of anything else', async () => {
    const [line] = await archiveBatch(archive, 'photos', ['a']);
    mkdirSync(target);
    writeFileSync(join(target, 'a.png'), 'the only copy of a photo');
    // As rows of a later batch are.
    expect([(await fetched()).exitCode, listFiles(target)]).toEqual([2, ['a.png']]);
    mkdirSync(join(target, 'manifests'));
    const refused = await fetched();
    expect([refused.exitCode, refused.stdout.text]).toEqual([3, expect.stringContaining('is not replaced')]);
    expect(readFileSync(join(target, 'a.png'), 'utf8')).toBe('the only copy of a photo');

    rmSync(join(target, 'a.png'));
    await fetched();
    const manifest = await archiveTask(archive, { requestId: 'again', files: { '0.png': 'a better one' } });
    await writeResults(archive, 'photos', [{ ...line!, requestId: 'again', manifest }]);
    expect((await fetched()).exitCode).toBe(0);
    expect(readFileSync(join(target, 'a.png'), 'utf8')).toBe('a better one');
  });

  it('goes on after a row that cannot be fetched, names it, and ends with code 3; repaired, the rest is fetched', async () => {
    const lines = await archiveBatch(archive, 'photos', keys);
    const failure = { type: 'TaskFailed', message: 'no' };
    await writeResults(archive, 'photos', [
      ...lines,
      resultLineOf('photos', 'd', { line: 4, status: 'Failed', failure }),
      resultLineOf('photos', 'e', { line: 5, status: 'NotStarted', requestId: null }),
    ]);
    await archive.remove('batches/photos/outputs/request-a/0.png');
    const { exitCode, stdout } = await fetched('--json');
    const result = JSON.parse(stdout.text) as unknown;

    expect(exitCode).toBe(3);
    expect(result).toMatchObject({ rows: 5, fetched: 2, without: 2, failed: 1 });
    expect(result).toHaveProperty('failures', [
      { key: 'a', line: 1, message: expect.stringContaining('request-a/0.png is not there any more') as string },
    ]);

    writeFileSync(archive.locate('batches/photos/outputs/request-a/0.png'), 'picture of a');
    const again = await fetched('--json');
    expect([again.exitCode, JSON.parse(again.stdout.text)]).toEqual([
      0,
      expect.objectContaining({ files: 1, kept: 2 }),
    ]);
  });

  it.each([1, 0, 1e12])('reads the record of a batch whose first run has not ended, of %d pages', async (pages) => {
    const lines = await archiveBatch(archive, 'photos', ['a']);
    await archive.remove('batches/photos/results.jsonl');
    await archive.replace('batches/photos/batch.json', JSON.stringify({ id: 'photos', digest: 'abc', rows: 2, pages }));
    const { requestId, manifest, startedAt, endedAt } = lines[0]!;
    const record = {
      key: 'a',
      index: 0,
      line: 1,
      page: 0,
      digest: 'd',
      status: 'Success',
      createNumber: 1,
      failure: null,
    };
    const more = { requestId, manifest, startedAt, endedAt, outputs: [], outputCount: 1 };
    const page = [{ records: 1 }, { ...record, ...more }].map((line) => `${JSON.stringify(line)}\n`).join('');
    await archive.replace('batches/photos/results/abc/0.jsonl', page);
    const { exitCode, stderr } = await fetched();

    expect([exitCode, listFiles(target)]).toEqual([0, ['a.png', 'manifests/a.json']]);
    expect(stderr.text).toContain('No run of the batch "photos" has ended');
  });

  it('says that the archive has no such batch, and which line of its results is damaged', async () => {
    const none = await fetched();
    expect([none.exitCode, none.stderr.text]).toEqual([3, expect.stringContaining('no results of the batch "photos"')]);

    await archive.replace('batches/photos/results.jsonl', '{}\n');
    const damaged = await fetched();
    expect([damaged.exitCode, damaged.stderr.text]).toEqual([3, expect.stringContaining('Line 1 of')]);
  });

  it('gives up when row after row fails', async () => {
    const lines = Array.from({ length: 300 }, (_, index) =>
      resultLineOf('photos', `row-${index}`, { manifest: `/nowhere/${index}/manifest.json` }),
    );
    await writeResults(archive, 'photos', lines);
    const { exitCode, stderr } = await fetched();
    expect([exitCode, stderr.text]).toEqual([
      3,
      expect.stringMatching(/64 rows in a row could not be fetched; the last: its manifest/),
    ]);
  });
});
