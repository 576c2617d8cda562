import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openArchive } from '../../../../src/files';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
beforeAll(() => {
  mkdirSync(join(folder.path, 'mount-point'));
});
afterAll(() => {
  folder.remove();
});

const result = { workflowId: 'task:a', requestId: 'r-1', manifest: '/srv/archive/r-1.json' };

describe('the outputs of a task, of an archive in a folder', () => {
  it.each([
    ['that does not exist', 'nope', /nope does not exist\. Is its disk mounted, and is the place that openAr/],
    ['that is empty', 'mount-point', /mount-point is empty\. Is its disk mounted/],
  ])('%s are not told as missing: the archive cannot be used', async (_, name, words) => {
    const place = join(folder.path, name);
    const error: unknown = await openArchive({ place })
      .outputs(result)
      .catch((fault: unknown) => fault);
    expect(error).toMatchObject({
      name: 'ArchiveError',
      code: 'ARCHIVE_UNUSABLE',
      message: expect.stringMatching(words) as string,
    });
  });

  it('that has other files are missing, and what named the archive is asked for', async () => {
    const place = join(folder.path, 'another');
    mkdirSync(place);
    writeFileSync(join(place, 'of-another-task.json'), '{}');
    const missing = { name: 'ResultsError', code: 'missing' };
    const named = openArchive({ env: { LONGHAUL_ARCHIVE: place } }).outputs(result);
    await expect(named).rejects.toMatchObject({
      ...missing,
      message: expect.stringMatching(/LONGHAUL_ARCHIVE that of/) as string,
    });
    const given = openArchive({ place }).outputs(result);
    await expect(given).rejects.toMatchObject({
      ...missing,
      message: expect.not.stringContaining('LONGHAUL_') as string,
    });
  });
});
