import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { readArchiveIdentity } from '../../../src/storage/archive/archive-identity';
import { identifyArchive } from '../../../src/worker/start-log';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

// Nothing listens there, and without the SDK's interceptors nothing is tried again.
const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: [] });
const access = { taskQueue: 'longhaul', client: new Client({ connection }) };
afterAll(() => connection.close());

function openArchive(name: string): FolderArchive {
  const place = join(folder.path, name);
  mkdirSync(place);
  return new FolderArchive(place);
}

describe('the archive of a worker that starts while Temporal cannot say which one the tasks have', () => {
  it('is not one without an id, which an unmounted disk leaves, and gets none', async () => {
    const archive = openArchive('unmounted');
    const start = identifyArchive(archive, null, access, pino({ level: 'silent' }));
    await expect(start).rejects.toMatchObject({
      code: 'ARCHIVE_UNUSABLE',
      message: expect.stringMatching(/unmounted has no id yet.*ECONNREFUSED.*start the worker again/) as string,
    });
    expect(readdirSync(archive.location)).toEqual([]);
  });

  it('may be one that a worker has used, with a warning', async () => {
    const archive = openArchive('used');
    const id = await readArchiveIdentity(archive);
    const warnings: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
    expect(await identifyArchive(archive, null, access, logger)).toBe(id);
    expect(warnings.join('')).toContain('which archive the tasks have could not be asked');
  });
});
