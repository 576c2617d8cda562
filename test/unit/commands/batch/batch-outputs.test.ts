import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommandLine } from '../../../../src/commands/program';
import { repairCommands } from '../../../../src/contract/batch/batch-repairs';
import type { BatchInput } from '../../../../src/contract/batch/batch-input';
import { openArchivedBatch } from '../../../../src/files';
import { outputsOf, prepareRows, readRows, rowFileAt } from '../../../../src/row-files';
import { preparedRowsAt, readPreparedPage } from '../../../../src/rows';
import { FolderArchive } from '../../../../src/storage/archive/folder-archive';
import { archiveBatch } from '../../../support/archived-batch';
import { sha256 } from '../../../support/archive-content';
import { FakeContext } from '../../../support/fake-context';
import { temporaryFolder } from '../../../support/temporary-folder';

/* `batch run --from`: the outputs of a batch as the rows of another. */

const folder = temporaryFolder();
afterAll(folder.remove);
const archive = new FolderArchive(join(folder.path, 'archive'));
const picks = join(folder.path, 'picks.csv');
const output = ['-i', '1:LoadImage.image=output'];

beforeAll(async () => {
  await archiveBatch(archive, 'drafts', ['a', 'b', 'c']);
  writeFileSync(picks, 'key,output,pick\na,,keep\nb,,reject\nc,,keep\n');
});

async function run(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({ LONGHAUL_ARCHIVE: archive.location }, undefined, folder.path);
  await runCommandLine(['batch', 'run', ...args], context);
  return context;
}

it('prepares rows of what was picked, and says of which batch they are', async () => {
  const { stdout, exitCode } = await run('--from', 'drafts', '--picks', picks, '--app', '9', ...output, '--prepare');
  expect(exitCode).toBe(0);
  const input = JSON.parse(stdout.text) as BatchInput;
  expect(input).toMatchObject({ id: 'drafts-app-9', source: 'batch drafts, 2 picked outputs', rows: { rows: 2 } });
  const rows = await readPreparedPage(preparedRowsAt(input.rows.location), 0);
  const file = archive.locate('batches/drafts/outputs/request-a/0.png');
  expect(rows?.[0]).toMatchObject({
    key: 'a',
    input: { inputs: { '1:LoadImage.image': { file, sha256: sha256('picture of a') } } },
  });
  expect(repairCommands('x', { source: input.source ?? null, files: null }).run).toBe(
    'longhaul batch run --from drafts --picks FILE --id x OPTIONS',
  );
});

it.each<readonly [string, readonly string[]]>([
  ['a batch that is not in the archive', ['--from', 'draft', ...output]],
  ['a batch and a file', ['rows.csv', '--from', 'drafts', ...output]],
  ['neither', []],
  ['picks of no batch', ['rows.csv', '--picks', picks]],
  ['the batch itself', ['--from', 'drafts', '--id', 'drafts', ...output]],
  ['no input for the outputs', ['--from', 'drafts']],
  ['two inputs for the outputs', ['--from', 'drafts', ...output, '-i', '2:A.b=output']],
  ['an input of two columns', ['--from', 'drafts', ...output, '-i', '2:A.b=column:a', '-i', '2:A.b=column:b']],
  ['an input that is the output, and a column', ['--from', 'drafts', ...output, '-i', '1:LoadImage.image=column:a']],
  ['a template', ['--from', 'drafts', ...output, '--template', picks]],
  ['folders in a folder', ['--from', 'drafts', ...output, '--recursive']],
  ['an encoding of nothing', ['--from', 'drafts', ...output, '--encoding', 'gbk']],
  ['captions', ['--from', 'drafts', ...output, '--captions', '2:A.b']],
])('%s is refused', async (_, args) => {
  const { exitCode, stderr } = await run(...args, '--app', '9', '--dry-run');
  expect({ exitCode, isTold: stderr.text.length > 20 }).toEqual({ exitCode: 2, isTold: true });
});

it('a program prepares the same rows with the entries of the library', async () => {
  const batch = await openArchivedBatch('drafts', { place: archive.location, env: {} });
  const common = { webAppId: 9 };
  const outcomes = readRows(outputsOf(batch, rowFileAt(picks)), { common, each: '1:LoadImage.image' });
  const { rows } = await prepareRows(outcomes, { folder: join(folder.path, 'prepared'), name: 'again' });
  const { stdout } = await run('--from', 'drafts', '--picks', picks, '--app', '9', ...output, '--prepare');
  expect(rows?.digest).toBe((JSON.parse(stdout.text) as BatchInput).rows.digest);
});

it('no app is refused', async () => {
  expect((await run('--from', 'drafts', ...output, '--dry-run')).exitCode).toBe(2);
});
