import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ArchiveIdentity, readArchiveIdentity } from '../../../../src/storage/archive/archive-identity';
import { FolderArchive } from '../../../../src/storage/archive/folder-archive';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

/** An archive whose id another worker has begun to write, as it stands between its two calls of the file system. */
function archiveWithEmptyId(name: string): { readonly archive: FolderArchive; readonly idFile: string } {
  const path = join(folder.path, name);
  mkdirSync(path);
  const idFile = join(path, '.archive-id');
  writeFileSync(idFile, '');
  return { archive: new FolderArchive(path), idFile };
}

describe('the id of an archive', () => {
  it('is the same for workers that start at the same moment', async () => {
    const archive = new FolderArchive(join(folder.path, 'new'));
    const ids = await Promise.all(Array.from({ length: 20 }, () => new ArchiveIdentity(archive).get()));
    expect(new Set(ids).size).toBe(1);
    expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('is waited for while another worker writes it', async () => {
    const { archive, idFile } = archiveWithEmptyId('begun');
    const identity = new ArchiveIdentity(archive);
    const id = identity.get();
    setImmediate(() => {
      writeFileSync(idFile, 'of the other worker\ndefault\n');
    });
    expect(await id).toBe('of the other worker');
    await identity.requireSame();
  });

  it('is waited for while its namespace is not written, and is not taken for one of a shorter name', async () => {
    const { archive, idFile } = archiveWithEmptyId('half');
    writeFileSync(idFile, 'id\nprod');
    const identity = readArchiveIdentity(archive, 'prod');
    setImmediate(() => {
      writeFileSync(idFile, 'id\nproduction\n');
    });
    expect(await identity).toEqual({ id: 'id', namespace: 'production' });
  });

  it('is never empty: a file that a killed worker left so is named, with the remedy', async () => {
    const { archive, idFile } = archiveWithEmptyId('killed');
    const identity = new ArchiveIdentity(archive);
    const words = `${idFile} is incomplete: a worker ended while it wrote the id of this archive. Remove the file, and start the workers again`;
    await expect(identity.get()).rejects.toThrow(words);
    await expect(identity.requireSame()).rejects.toMatchObject({ code: 'ARCHIVE_UNUSABLE', message: words });
    writeFileSync(idFile, 'written after all\ndefault\n');
    await identity.requireSame();
  });
});

describe('the archive of a running worker', () => {
  it('is missed at once when it is gone, and within a second when another one is in its place', async () => {
    const archive = new FolderArchive(join(folder.path, 'watched'));
    const identity = new ArchiveIdentity(archive);
    const now = jest.spyOn(performance, 'now').mockReturnValue(5_000);
    try {
      await identity.requireSame();
      await archive.remove('.archive-id');
      await expect(identity.requireSame()).rejects.toMatchObject({ code: 'ARCHIVE_UNUSABLE' });
      await archive.replace('.archive-id', 'another\ndefault\n');
      now.mockReturnValue(6_000);
      await expect(identity.requireSame()).rejects.toMatchObject({ code: 'ARCHIVE_UNUSABLE' });
    } finally {
      now.mockRestore();
    }
  });
});
