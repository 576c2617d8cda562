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
    const { id } = await readArchiveIdentity(archive);
    const warnings: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
    expect(await identifyArchive(archive, null, access, logger)).toBe(id);
    expect(warnings.join('')).toContain('which archive the tasks have could not be asked');
  });
});

describe('an archive that two namespaces are given', () => {
  /** Temporal, of which no task is known. */
  function accessTo(namespace: string): typeof access {
    const client = new Client({ connection, namespace });
    const none = { executions: [], nextPageToken: new Uint8Array() };
    Object.defineProperty(client, 'workflowService', {
      value: { listWorkflowExecutions: () => Promise.resolve(none) },
    });
    return { ...access, client };
  }
  const logger = pino({ level: 'silent' });

  it('is that of the first: a worker of the other does not start, in words that name both', async () => {
    const archive = openArchive('shared');
    const id = await identifyArchive(archive, null, accessTo('production'), logger);
    await expect(identifyArchive(archive, null, accessTo('staging'), logger)).rejects.toMatchObject({
      code: 'ARCHIVE_UNUSABLE',
      message: expect.stringMatching(/"production".*"staging".*LONGHAUL_ARCHIVE/) as string,
    });
    // Also where Temporal does not answer.
    const away = { ...access, client: new Client({ connection, namespace: 'staging' }) };
    await expect(identifyArchive(archive, null, away, logger)).rejects.toMatchObject({ code: 'ARCHIVE_UNUSABLE' });
    expect(await identifyArchive(archive, null, accessTo('production'), logger)).toBe(id);
  });

  it('is that of one of them when their workers start at the same moment', async () => {
    const archive = openArchive('raced');
    const starts = Array.from({ length: 20 }, (_, index) =>
      identifyArchive(archive, null, accessTo(index % 2 === 0 ? 'even' : 'odd'), logger),
    );
    const ends = (await Promise.allSettled(starts)).map(({ status }) => status);
    const [even, odd] = [0, 1].map((rest) => [...new Set(ends.filter((_status, index) => index % 2 === rest))].join());
    expect([even, odd].sort()).toEqual(['fulfilled', 'rejected']);
  });
});
