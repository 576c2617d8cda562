import fs from 'node:fs/promises';
import { constants, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { FolderArchive } from '../../../../src/storage/archive/folder-archive';
import { ArchiveError, DownloadError } from '../../../../src/storage/errors';
import { listed, stream } from '../../../support/archive-content';
import { eventually } from '../../../support/eventually';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
let archive: FolderArchive;
let count = 0;

beforeEach(() => {
  count += 1;
  archive = new FolderArchive(join(folder.path, `archive-${count}`, 'deep'));
});
afterAll(() => {
  folder.remove();
});

function filesIn(path: string): string[] {
  return existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }).sort() : [];
}

describe('an archive in a folder', () => {
  it('writes under another name until the file is whole, which goes when its content fails', async () => {
    await archive.put('a', stream('old'));
    const failure = new DownloadError('DOWNLOAD_CUT_SHORT', 'cut');
    const outcomes: unknown[] = [];
    for (const end of [
      (content: PassThrough) => content.destroy(failure),
      (content: PassThrough) => content.end('w'),
    ]) {
      const slow = new PassThrough();
      const putting = archive.put('a', slow).catch((error: unknown) => error);
      slow.write('ne');
      await eventually(() => filesIn(archive.location).length === 2, { what: 'the temporary file' });
      expect((await archive.read('a'))?.toString()).toBe('old');
      expect(await listed(archive)).toEqual(['a']);
      end(slow);
      outcomes.push(await putting);
      expect(filesIn(archive.location)).toEqual(['a']);
    }
    expect(outcomes).toEqual([failure, expect.objectContaining({ bytes: 3 })]);
    expect((await archive.read('a'))?.toString()).toBe('new');
  });

  it('removes what a crashed attempt at the same name left, and nothing else', async () => {
    const crashed = new PassThrough();
    const never = archive.put('r/a', crashed).catch((error: unknown) => error);
    crashed.write('half');
    await eventually(() => filesIn(join(archive.location, 'r')).length === 1, { what: 'the temporary file' });
    const other = new PassThrough();
    const otherPut = archive.put('r/b', other);
    other.write('half');
    await eventually(() => filesIn(join(archive.location, 'r')).length === 2, { what: 'the other temporary file' });

    await archive.put('r/a', stream('whole'));
    expect(filesIn(join(archive.location, 'r'))).toHaveLength(2);
    other.end();
    await otherPut;
    crashed.end();
    expect(await never).toBeInstanceOf(ArchiveError);
    expect(filesIn(join(archive.location, 'r'))).toEqual(['a', 'b']);
    expect((await archive.read('r/a'))?.toString()).toBe('whole');
  });

  it('is not fooled by a folder that cannot be made', async () => {
    await archive.replace('.creates/x', 'a file');
    await expect(archive.putIfAbsent('.creates/x/1.json', '{}')).rejects.toMatchObject({ code: 'ARCHIVE_UNUSABLE' });
  });

  it('has no size for a name that is a folder', async () => {
    await archive.put('r-1/0.png', stream('abcd'));
    expect(await archive.size('r-1')).toBeUndefined();
  });
});

describe('an archive that cannot be written', () => {
  it('says so before anything is kept, naming the folder and the remedy', async () => {
    const blocked = join(folder.path, 'blocked');
    writeFileSync(blocked, 'a file where the folder should be');
    const isFile = '(ENOTDIR): a part of its path is a file; name a folder';
    for (const [path, reason] of [
      [blocked, isFile],
      [join(blocked, 'deep'), isFile],
      ['/proc/longhaul-archive', '(ENOENT): check its disk and its permissions'],
    ] as const) {
      await expect(new FolderArchive(path).check()).rejects.toMatchObject({
        code: 'ARCHIVE_UNUSABLE',
        message: `the archive ${path} cannot keep or give a test file ${reason}`,
      });
    }
  });

  it('is refused by the check where files can be made and not added to, and nothing is left', async () => {
    const usual = fs.open;
    const opening = jest.spyOn(fs, 'open').mockImplementation((path, flags, mode) => {
      if (typeof flags !== 'number' || (flags & constants.O_APPEND) === 0) return usual(path, flags, mode);
      return Promise.reject(Object.assign(new Error('EPERM'), { code: 'EPERM' }));
    });
    await expect(archive.check()).rejects.toMatchObject({ code: 'ARCHIVE_UNUSABLE' });
    opening.mockRestore();
    expect(filesIn(archive.location)).toEqual([]);
  });

  it('is refused by the check, in words, where its names would be too long for the system', async () => {
    const deep = join(folder.path, ...Array.from({ length: 20 }, () => 'd'.repeat(200)));
    await expect(new FolderArchive(deep).check()).rejects.toMatchObject({
      code: 'ARCHIVE_UNUSABLE',
      message: expect.stringContaining('a test file (ENAMETOOLONG): a name or its whole path is longer') as string,
    });
  });
});

describe('the list of an archive in a folder', () => {
  it('ends with an error of the disk where a file cannot be looked at, instead of leaving it out', async () => {
    await archive.put('a', stream('old'));
    const broken = Object.assign(new Error('EIO: i/o error, stat'), { code: 'EIO' });
    jest.spyOn(fs, 'stat').mockRejectedValueOnce(broken);
    await expect(listed(archive)).rejects.toThrow(ArchiveError);
    expect(await listed(archive)).toEqual(['a']);
  });
});
