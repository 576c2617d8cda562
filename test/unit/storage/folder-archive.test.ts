import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { ArchiveError, DownloadError } from '../../../src/storage/errors';
import { FolderArchive } from '../../../src/storage/folder-archive';
import { listed, stream } from '../../support/archive-content';
import { eventually } from '../../support/eventually';
import { temporaryFolder } from '../../support/temporary-folder';

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

/** A content that comes piece by piece, with moments between them for others. */
async function* inPieces(content: Buffer, pieces: number): AsyncGenerator<Buffer, void, undefined> {
  const length = Math.ceil(content.length / pieces);
  for (let start = 0; start < content.length; start += length) {
    await new Promise(setImmediate);
    yield content.subarray(start, start + length);
  }
}

function filesIn(path: string): string[] {
  return existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }).sort() : [];
}

describe('an archive in a folder', () => {
  it('writes under another name until the file is whole', async () => {
    await archive.put('a', stream('old'));
    const slow = new PassThrough();
    const putting = archive.put('a', slow);
    slow.write('ne');
    await eventually(() => filesIn(archive.location).length === 2, { what: 'the temporary file' });
    expect((await archive.read('a'))?.toString()).toBe('old');
    expect(await listed(archive)).toEqual(['a']);
    slow.end('w');
    await putting;
    expect((await archive.read('a'))?.toString()).toBe('new');
    expect(filesIn(archive.location)).toEqual(['a']);
  });

  it('leaves no file behind when its content fails amid', async () => {
    const content = new PassThrough();
    const putting = archive.put('r/a', content).catch((error: unknown) => error);
    content.write('some');
    await eventually(() => filesIn(join(archive.location, 'r')).length === 1, { what: 'the temporary file' });
    const failure = new DownloadError('DOWNLOAD_CUT_SHORT', 'cut');
    content.destroy(failure);
    expect(await putting).toBe(failure);
    expect(filesIn(join(archive.location, 'r'))).toEqual([]);
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

  it('has a whole file at every moment, and nothing beside it in the end, however many attempts at it run at once', async () => {
    const lengths = [1, 2_000, 70_000, 200_000];
    const attempts = Array.from({ length: 40 }, (_, index) => ({ mark: 97 + (index % 26), pieces: 1 + (index % 4) }));
    let running = attempts.length;
    const outcomes = attempts.map(async ({ mark, pieces }) => {
      const content = Readable.from(inPieces(Buffer.alloc(lengths[pieces - 1] ?? 1, mark), pieces));
      return await archive
        .put('r/a', content)
        .then(
          () => 'kept',
          (error: unknown) => (error as Partial<ArchiveError>).code,
        )
        .finally(() => (running -= 1));
    });
    const seen = new Set<string>();
    while (running > 0) {
      const there = (await archive.read('r/a')) ?? Buffer.alloc(0);
      if (there.length > 0) seen.add(`${there.length} ${new Set(there).size}`);
    }
    const ends = await Promise.all(outcomes);
    expect(ends).toContain('kept');
    expect(ends.filter((end) => end !== 'kept' && end !== 'ARCHIVE_UNUSABLE')).toEqual([]);
    expect([...seen].filter((one) => !lengths.some((length) => one === `${length} 1`))).toEqual([]);
    expect(filesIn(join(archive.location, 'r'))).toEqual(['a']);
  });

  it('is not fooled by a folder that cannot be made', async () => {
    await archive.replace('.creates/x', 'a file');
    await expect(archive.createOnce('.creates/x/1.json', '{}')).rejects.toMatchObject({ code: 'ARCHIVE_UNUSABLE' });
  });

  it('keeps names as long as a file system takes', async () => {
    const name = `r/${'ä'.repeat(125)}.png`;
    await archive.put(name, stream('x'));
    expect(await archive.whole(name)).toMatchObject({ bytes: 1 });
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
    for (const path of [blocked, join(blocked, 'deep'), '/proc/longhaul-archive']) {
      await expect(new FolderArchive(path).check()).rejects.toMatchObject({
        code: 'ARCHIVE_UNUSABLE',
        message: expect.stringContaining(`the archive ${path} cannot`) as string,
      });
    }
  });

  it('passes the check, and is made, when it can', async () => {
    await archive.check();
    expect(filesIn(archive.location)).toEqual([]);
    expect(existsSync(archive.location)).toBe(true);
  });
});
