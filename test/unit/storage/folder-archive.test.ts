import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { ArchiveError, DownloadError } from '../../../src/storage/errors';
import { FolderArchive } from '../../../src/storage/folder-archive';
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

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
function stream(...chunks: string[]): Readable {
  return Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
}
function filesIn(path: string): string[] {
  return existsSync(path) ? readdirSync(path, { recursive: true, encoding: 'utf8' }).sort() : [];
}

describe('put', () => {
  it('keeps the bytes under the name and tells where, how many and their SHA-256', async () => {
    const kept = await archive.put('r-1/0.png', stream('pic', 'ture'));
    expect(kept).toEqual({ path: join(archive.location, 'r-1/0.png'), bytes: 7, sha256: sha256('picture') });
    expect(readFileSync(kept.path, 'utf8')).toBe('picture');
    expect(archive.locate('r-1/0.png')).toBe(kept.path);
  });

  it('keeps what is as expected, and an empty file too', async () => {
    await archive.put('a', stream('abc'), { bytes: 3, sha256: sha256('abc') });
    await archive.put('b', stream(), { bytes: 0 });
    expect(filesIn(archive.location)).toEqual(['a', 'b']);
  });

  it.each([
    ['too short', { bytes: 4 }],
    ['too long', { bytes: 2 }],
    ['another content', { sha256: sha256('abd') }],
  ])('keeps nothing that is %s, and leaves what was there', async (_what, expected) => {
    await archive.put('a', stream('old'));
    await expect(archive.put('a', stream('abc'), expected)).rejects.toMatchObject({
      code: 'NOT_WHOLE',
      isRetryable: true,
    });
    expect(filesIn(archive.location)).toEqual(['a']);
    expect((await archive.read('a'))?.toString()).toBe('old');
  });

  it('replaces in one step: a reader sees the old file or the new one', async () => {
    await archive.put('a', stream('old'));
    const slow = new PassThrough();
    const putting = archive.put('a', slow);
    slow.write('ne');
    await eventually(() => filesIn(archive.location).length === 2, { what: 'the temporary file' });
    expect((await archive.read('a'))?.toString()).toBe('old');
    slow.end('w');
    await putting;
    expect((await archive.read('a'))?.toString()).toBe('new');
    expect(filesIn(archive.location)).toEqual(['a']);
  });

  it('ends as its content ends, unchanged, and leaves nothing', async () => {
    const failure = new DownloadError('DOWNLOAD_CUT_SHORT', 'cut');
    const content = new PassThrough();
    const putting = archive.put('r/a', content);
    content.write('some');
    content.destroy(failure);
    await expect(putting).rejects.toBe(failure);
    expect(filesIn(join(archive.location, 'r'))).toEqual([]);
  });

  it('is aborted with the reason of the signal, and leaves nothing', async () => {
    const reason = new Error('stop');
    const abort = new AbortController();
    const content = new PassThrough();
    const putting = archive.put('r/a', content, {}, abort.signal);
    content.write('some');
    abort.abort(reason);
    await expect(putting).rejects.toBe(reason);
    expect(content.destroyed).toBe(true);
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

  it('keeps names as long as a file system takes', async () => {
    const name = `r/${'ä'.repeat(125)}.png`;
    await archive.put(name, stream('x'));
    expect(await archive.whole(name)).toMatchObject({ bytes: 1 });
  });
});

describe('whole', () => {
  it('measures what is there, and does not see what is not there or not as expected', async () => {
    await archive.put('a', stream('abc'));
    const file = { path: archive.locate('a'), bytes: 3, sha256: sha256('abc') };
    expect(await archive.whole('a')).toEqual(file);
    expect(await archive.whole('a', { bytes: 3, sha256: sha256('abc') })).toEqual(file);
    expect(await archive.whole('a', { bytes: 4 })).toBeUndefined();
    expect(await archive.whole('a', { sha256: sha256('x') })).toBeUndefined();
    expect(await archive.whole('b')).toBeUndefined();
  });
});

describe('size', () => {
  it('is the length of the file of a name, and nothing for a name that is no file', async () => {
    await archive.put('r-1/0.png', stream('abcd'));
    expect(await archive.size('r-1/0.png')).toBe(4);
    expect(await archive.size('r-1')).toBeUndefined();
    expect(await archive.size('r-1/1.png')).toBeUndefined();
  });
});

describe('createOnce', () => {
  it('lets exactly one of many callers make the file', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, index) => archive.createOnce('.creates/task:key/1.json', String(index))),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
    const winner = results.indexOf(true);
    expect((await archive.read('.creates/task:key/1.json'))?.toString()).toBe(String(winner));
  });

  it('is not fooled by a folder that cannot be made', async () => {
    await archive.replace('.creates/x', 'a file');
    await expect(archive.createOnce('.creates/x/1.json', '{}')).rejects.toMatchObject({ code: 'ARCHIVE_UNUSABLE' });
  });
});

describe('replace, read and remove', () => {
  it('keep, give and take away small files', async () => {
    expect(await archive.read('m.json')).toBeUndefined();
    await archive.replace('m.json', '{"ü":1}');
    await archive.replace('m.json', '{"ü":2}');
    expect((await archive.read('m.json'))?.toString()).toBe('{"ü":2}');
    await archive.remove('m.json');
    await archive.remove('m.json');
    expect(filesIn(archive.location)).toEqual([]);
  });
});

describe('list', () => {
  async function listed(of: string): Promise<string[]> {
    const names: string[] = [];
    for await (const name of archive.list(of)) names.push(name);
    return names.sort();
  }

  it('gives the name of every file below a folder, and of none that is not whole', async () => {
    expect(await listed('')).toEqual([]);
    const names = ['.creates/task%3Aa/1.json', '.creates/task%3Aa/2.json', 'drafts/r-2/0.png', 'r-1/manifest.json'];
    for (const name of names) await archive.replace(name, '{}');
    const slow = new PassThrough();
    const putting = archive.put('r-1/0.png', slow);
    slow.write('half');
    await eventually(() => filesIn(join(archive.location, 'r-1')).length === 2, { what: 'the temporary file' });

    expect(await listed('')).toEqual(names);
    expect(await listed('.creates')).toEqual(names.slice(0, 2));
    expect(await listed('drafts/r-2')).toEqual(['drafts/r-2/0.png']);
    expect(await listed('drafts/r')).toEqual([]);
    slow.end();
    await putting;
    expect(await listed('r-1')).toEqual(['r-1/0.png', 'r-1/manifest.json']);
  });

  it('refuses a folder outside of the archive', async () => {
    await expect(listed('../other')).rejects.toMatchObject({ code: 'NAME_INVALID' });
  });
});

describe('names', () => {
  it.each(['', '/etc/passwd', '../x', 'a/../../x', 'a//b', 'a/', './a', 'a\0b', 'a\nb', 'a\\b', 'x'.repeat(256)])(
    'that could lead astray are refused: %j',
    async (name) => {
      const error: unknown = await archive.put(name, stream('x')).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'NAME_INVALID', isRetryable: false });
      expect(filesIn(join(archive.location, '..'))).toEqual([]);
    },
  );
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
