import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { runCommandLine } from '../../../src/commands/program';
import { layoutText } from '../../../src/archive/batch-record';
import type { ReportFacts, ReportRow } from '../../../src/archive/report/report-data';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { sha256, stream } from '../../support/archive-content';
import { resultLineOf, writeResults } from '../../support/archived-batch';
import { FakeContext } from '../../support/fake-context';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const archive = new FolderArchive(join(folder.path, 'archive'));
const place = 'batches/photos/outputs';
const page = join(folder.path, 'mail', 'photos.html');
afterAll(() => {
  folder.remove();
});

async function keep(name: string, content: string, located = archive.locate(name)) {
  await archive.put(name, stream(content));
  return { path: located, bytes: content.length, sha256: sha256(content) };
}

beforeAll(async () => {
  const outputs = [await keep(`${place}/a/0 #1.png`, 'small'), await keep(`${place}/a/2.mp4`, 'film')];
  // As a worker in a container sees them, and what is not in this archive at all.
  const elsewhere = [
    await keep(`${place}/b/0.jpg`, 'other', `/data/${place}/b/0.jpg`),
    { path: '/elsewhere/c.png', bytes: 5, sha256: sha256('other') },
  ];
  await writeResults(archive, 'photos', [
    resultLineOf('photos', 'a', { outputs }),
    resultLineOf('photos', 'b', { outputs: elsewhere, key: '<script>' }),
    resultLineOf('photos', 'c', { status: 'NotStarted', requestId: null, startedAt: null, endedAt: null }),
  ]);
});

async function run(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({ LONGHAUL_ARCHIVE: archive.location, LONGHAUL_WEB_UI_URL: 'http://ui.example' });
  await runCommandLine(['batch', ...args], context);
  return context;
}

async function report(id: string): Promise<{ context: FakeContext; facts: ReportFacts; rows: ReportRow[] }> {
  const context = await run('report', id, '--html', page);
  const html = context.exitCode === 0 ? readFileSync(page, 'utf8') : '';
  const data = (id: string): unknown => JSON.parse(new RegExp(`id="${id}">([^]*?)</script>`).exec(html)?.[1] ?? 'null');
  return { context, facts: data('facts') as ReportFacts, rows: data('rows') as ReportRow[] };
}

describe('longhaul batch report --html', () => {
  it('writes the page of a batch from the archive alone, with links to its files', async () => {
    const { context, facts, rows } = await report('photos');

    expect([context.exitCode, context.stderr.text]).toEqual([0, '']);
    expect(rows.map(({ key, state }) => [key, state])).toEqual([
      ['a', 'Success'],
      ['<script>', 'Success'],
      ['c', 'NotStarted'],
    ]);
    const hrefs = rows.flatMap(({ files }) => files.map(({ href }) => href));
    expect(hrefs.at(-1)).toBeNull();
    for (const href of hrefs.slice(0, -1)) {
      expect(readFileSync(resolve(dirname(page), decodeURIComponent(href!)), 'utf8')).not.toBe('');
    }
    expect(facts).toMatchObject({ batch: 'photos', ending: 'ended', source: null });
    expect(facts.workflowPages).toBe('http://ui.example/namespaces/default/workflows/');
    expect(context.stdout.text).toMatch(/photos\.html {2}\(3 rows, .*\)\n {2}It names 1 file /);
  });

  it('says how the last run ended as the page of its worker does', async () => {
    const written =
      '<script type="application/json" id="facts">{"ending":"drained","source":"rows.csv","goneRows":{"rows":2,"sums":[{"currency":"EUR","micros":7}],"unknownRows":0}}</script>';
    await archive.replace('batches/photos/report.html', `<style></style>${written}`);
    expect((await report('photos')).facts).toMatchObject({
      ...{ ending: 'drained', source: 'rows.csv' },
      goneRows: { rows: 2, sums: [{ currency: 'EUR', micros: 7 }], unknownRows: 0 },
    });
  });

  it('says of a batch of which no run has ended that its rows are those on record so far', async () => {
    await archive.replace(
      'batches/early/batch.json',
      layoutText({ id: 'early', digest: 'ab'.repeat(32), rows: 3, pages: 1 }),
    );
    const { facts, rows } = await report('early');
    expect([facts.ending, facts.isPartial, rows]).toEqual(['not ended', true, []]);

    const { stderr } = await run('results', 'early', '-o', join(folder.path, 'early'));
    expect(stderr.text).toContain('end the run with "longhaul batch drain early"');
  });

  it.each([
    `${archive.location}/../../etc/passwd.png`,
    `${archive.location}//x.png`,
    `${archive.location}/`,
    `${archive.location}/a\u0000.png`,
    `${archive.location}/${'a'.repeat(5_000)}.png`,
    `${archive.location}/${'a/'.repeat(2_500)}x.png`,
    `${archive.location}/half \ud800.png`,
    `${archive.location}/batches/named/results.jsonl/x.png`,
    '/x/batches/named/../../../y.png',
  ])('shows every row although one names a file that cannot be there, such as %j', async (path) => {
    await writeResults(archive, 'named', [resultLineOf('named', 'a', { outputs: [{ path, bytes: 5, sha256: 'ab' }] })]);
    const context = await run('report', 'named', '--html', page, '--json');
    expect([context.exitCode, context.stderr.text]).toEqual([0, '']);
    expect(JSON.parse(context.stdout.text)).toMatchObject({ rows: 1 });
  });

  it('refuses a folder that cannot be written', async () => {
    const { exitCode, stderr } = await run('report', 'photos', '--html', '/proc/none/x.html');
    expect([exitCode, stderr.text]).toEqual([2, expect.stringContaining('the folder /proc/none')]);
  });
});
