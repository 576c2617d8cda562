import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { formatEstimate, readKnownFigures, toEstimate } from '../../../../src/commands/batch/file-estimate';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

function openTimers(): number {
  return process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
}

describe('the estimate of a file of rows', () => {
  it('says so where no row can be run, and which apps are not known', () => {
    expect(toEstimate(new Map(), [], 5)).toEqual({ unknown: 'no row can be run' });
    expect(toEstimate(new Map([[5, 2]]), [], 5)).toEqual({ unknown: 'no earlier row of app 5 is known' });
  });

  it('calls its time the least, for a service may run fewer rows at once', () => {
    const figures = { webAppId: 1, rows: 3, ms: { median: 9_000, p90: 10_000 }, cost: null };
    const text = formatEstimate(toEstimate(new Map([[1, 100]]), [figures], 100));
    expect(text).toContain('at least 0:09 to 0:10, if the service runs 100 rows at a time');
  });

  it('does not hold up the end of a command where the archive cannot be read', async () => {
    const archive = join(folder.path, 'loop');
    symlinkSync(archive, archive);
    const before = openTimers();
    const known = await readKnownFigures({ LONGHAUL_ARCHIVE: archive }, [1]);
    expect(known).toEqual({ unknown: expect.stringContaining('cannot be read here') as string });
    expect(openTimers()).toBe(before);
  });
});
