import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readKnownFigures } from '../../../../src/commands/batch/file-estimate';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

function openTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}

describe('an archive that cannot be read', () => {
  it('does not hold up the end of a command that asks it for earlier rows', async () => {
    const archive = join(folder.path, 'loop');
    symlinkSync(archive, archive);
    const before = openTimers();

    const known = await readKnownFigures({ LONGHAUL_ARCHIVE: archive }, [1]);

    expect(known).toEqual({ unknown: expect.stringContaining('cannot be read here') as string });
    expect(openTimers()).toBe(before);
  });
});
