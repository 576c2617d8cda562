import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import type { Addition, Archive } from '../../../src/storage/archive/archive';
import { createDownloadAgent, download } from '../../../src/storage/download';
import { DownloadError } from '../../../src/storage/errors';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { S3Archive } from '../../../src/storage/archive/s3-archive';
import { listed, sha256, stream } from '../../support/archive-content';
import { type BucketServer, startBucketServer } from '../../support/bucket-server';
import { eventually } from '../../support/eventually';
import { loopbackRule } from '../../support/loopback-rule';
import { startHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
let storage: BucketServer;
beforeAll(async () => {
  storage = await startBucketServer();
});
afterAll(async () => {
  await storage.stop();
  folder.remove();
});

async function textOf(archive: Archive, name: string): Promise<string | undefined> {
  return (await archive.read(name))?.toString();
}

/** Each kind of archive, new and empty. */
const kinds: readonly [string, () => Archive][] = [
  ['in a folder', () => new FolderArchive(join(folder.path, randomUUID(), 'deep'))],
  [
    'in a bucket',
    () => {
      const { client, bucket } = storage;
      return new S3Archive({ client, bucket, prefix: `${randomUUID()}/deep`, spoolFolder: join(folder.path, 'spool') });
    },
  ],
];

describe.each(kinds)('an archive %s', (_kind, open) => {
  let archive: Archive;
  beforeEach(() => {
    archive = open();
  });

  describe('put', () => {
    it('keeps the bytes under the name and tells where, how many and their SHA-256', async () => {
      const kept = await archive.put('r-1/0.png', stream('pic', 'ture'));
      expect(kept).toEqual({ path: archive.locate('r-1/0.png'), bytes: 7, sha256: sha256('picture') });
      expect(kept.path).toBe(`${archive.location}/r-1/0.png`);
      expect(await textOf(archive, 'r-1/0.png')).toBe('picture');
    });

    it('keeps what is as expected, and an empty file too', async () => {
      await archive.put('a', stream('abc'), { bytes: 3, sha256: sha256('abc') });
      await archive.put('b', stream(), { bytes: 0 });
      expect(await listed(archive)).toEqual(['a', 'b']);
      expect(await archive.find('b')).toMatchObject({ bytes: 0, sha256: sha256('') });
    });

    it.each([
      ['too short', { bytes: 4 }],
      ['too long', { bytes: 2 }],
      ['another content', { sha256: sha256('abd') }],
    ])('keeps nothing that is %s, and leaves what was there', async (_what, expected) => {
      await archive.put('a', stream('old'));
      const refusal = { code: 'NOT_WHOLE', isRetryable: true };
      await expect(archive.put('a', stream('abc'), expected)).rejects.toMatchObject(refusal);
      await expect(archive.put('b', stream('abc'), expected)).rejects.toMatchObject(refusal);
      expect(await listed(archive)).toEqual(['a']);
      expect(await textOf(archive, 'a')).toBe('old');
    });

    it('replaces in one step: a reader sees the old file or the new one', async () => {
      await archive.put('a', stream('old'));
      const slow = new PassThrough();
      const putting = archive.put('a', slow);
      slow.write('ne');
      expect(await textOf(archive, 'a')).toBe('old');
      expect(await listed(archive)).toEqual(['a']);
      slow.end('w');
      await putting;
      expect(await textOf(archive, 'a')).toBe('new');
      expect(await archive.find('a')).toMatchObject({ sha256: sha256('new') });
    });

    it('ends as its content ends, unchanged, and leaves nothing', async () => {
      const failure = new DownloadError('DOWNLOAD_CUT_SHORT', 'cut');
      const content = new PassThrough();
      const putting = archive.put('r/a', content);
      content.write('some');
      content.destroy(failure);
      await expect(putting).rejects.toBe(failure);
      expect(await archive.find('r/a')).toBeUndefined();
      expect(await listed(archive)).toEqual([]);
    });

    it('keeps an output of 8 MiB whose connection was reset at 60 %: two requests, and no byte asked for twice', async () => {
      const output = randomBytes(8 * 1024 * 1024);
      const etag = '"the-output"';
      let received = 0;
      const server = await startHttpServer(({ headers: { range } }, response) => {
        const from = Number(/^bytes=(\d+)-$/.exec(range ?? '')?.[1] ?? 0);
        const rest = output.subarray(from);
        response.writeHead(range === undefined ? 200 : 206, {
          etag,
          'content-length': rest.length,
          'content-range': `bytes ${from}-${output.length - 1}/${output.length}`,
        });
        if (range !== undefined) {
          response.end(rest);
          return;
        }
        const sent = rest.subarray(0, output.length * 0.6);
        response.write(sent, () => {
          const arrived = eventually(() => received >= sent.length || response.destroyed).catch(() => undefined);
          void arrived.then(() => response.socket?.resetAndDestroy());
        });
      });
      const dispatcher = createDownloadAgent(loopbackRule);
      try {
        const onProgress = (bytes: number): void => {
          received = bytes;
        };
        const { body } = await download(`${server.url}/film.bin`, { dispatcher, onProgress });
        const kept = await archive.put('r/film.bin', body, { bytes: output.length });
        expect(kept.sha256).toBe(sha256(output));
        expect((await archive.read('r/film.bin'))?.equals(output)).toBe(true);
        expect(server.requests.map(({ headers }) => [headers.range, headers['if-range']])).toEqual([
          [undefined, undefined],
          [`bytes=${Math.floor(output.length * 0.6)}-`, etag],
        ]);
      } finally {
        await dispatcher.close();
        await server.close();
      }
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
      expect(await listed(archive)).toEqual([]);
    });

    it('keeps one whole file of several that come under one name at once', async () => {
      const texts = ['one', 'another', 'a third'];
      const results = await Promise.allSettled(texts.map((text) => archive.put('a', stream(text))));
      expect(results.some(({ status }) => status === 'fulfilled')).toBe(true);
      const kept = await textOf(archive, 'a');
      expect(texts).toContain(kept);
      expect(await archive.find('a')).toMatchObject({ sha256: sha256(kept ?? '') });
      expect(await listed(archive)).toEqual(['a']);
    });
  });

  describe('whole and size', () => {
    it('tell of what is there, and not of what is not there or not as expected', async () => {
      await archive.put('r/a', stream('abc'));
      const file = { path: archive.locate('r/a'), bytes: 3, sha256: sha256('abc') };
      expect(await archive.find('r/a')).toEqual(file);
      expect(await archive.find('r/a', { bytes: 3, sha256: sha256('abc') })).toEqual(file);
      expect(await archive.find('r/a', { bytes: 4 })).toBeUndefined();
      expect(await archive.find('r/a', { sha256: sha256('x') })).toBeUndefined();
      expect(await archive.find('r/b')).toBeUndefined();
      expect(await archive.size('r/a')).toBe(3);
      expect(await archive.size('r/b')).toBeUndefined();
    });

    it('end with the reason of a signal that was aborted', async () => {
      const reason = new Error('stop');
      await archive.put('a', stream('abc'));
      await expect(archive.find('a', {}, AbortSignal.abort(reason))).rejects.toBe(reason);
    });
  });

  describe('open', () => {
    it('gives the content as a stream, and nothing where there is no file', async () => {
      const large = 'x'.repeat(3_000_000);
      await archive.put('r/large', stream(large));
      await archive.put('r/empty', stream());
      const opened = await archive.open('r/large');
      expect(opened?.bytes).toBe(3_000_000);
      expect(sha256(await buffer(opened!.content))).toBe(sha256(large));
      expect(await text((await archive.open('r/empty'))!.content)).toBe('');
      expect(await archive.open('r')).toBeUndefined();
      expect(await archive.open('r/none')).toBeUndefined();
      await expect(archive.open('../r/large')).rejects.toMatchObject({ code: 'NAME_INVALID' });
    });

    it('can be given up unread, and ends with the reason of a signal that is aborted', async () => {
      await archive.put('a', stream('x'.repeat(3_000_000)));
      const unread = await archive.open('a');
      unread!.content.destroy();
      await once(unread!.content, 'close');
      const reason = new Error('stop');
      const abort = new AbortController();
      const opened = await archive.open('a', abort.signal);
      abort.abort(reason);
      await expect(buffer(opened!.content)).rejects.toBe(reason);
    });
  });

  describe('putIfAbsent', () => {
    it('lets exactly one of many callers make the file', async () => {
      const name = '.creates/task%3Akey/1.json';
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) => archive.putIfAbsent(name, String(index))),
      );
      expect(results.filter(Boolean)).toHaveLength(1);
      expect(await textOf(archive, name)).toBe(String(results.indexOf(true)));
    });

    it('makes it again once it was removed', async () => {
      expect(await archive.putIfAbsent('a', '1')).toBe(true);
      expect(await archive.putIfAbsent('a', '2')).toBe(false);
      await archive.remove('a');
      expect(await archive.putIfAbsent('a', '3')).toBe(true);
      expect(await textOf(archive, 'a')).toBe('3');
    });
  });

  describe('replace, read and remove', () => {
    it('keep, give and take away small files', async () => {
      expect(await archive.read('r/m.json')).toBeUndefined();
      await archive.putIfAbsent('r/m.json', '{}');
      await archive.replace('r/m.json', '{"ü":1}');
      await archive.replace('r/m.json', '{"ü":2}');
      expect(await textOf(archive, 'r/m.json')).toBe('{"ü":2}');
      await archive.remove('r/m.json');
      await archive.remove('r/m.json');
      expect(await listed(archive)).toEqual([]);
    });
  });

  describe('append', () => {
    it('adds to the end of a file what its content asks for, and makes none', async () => {
      expect(await archive.append('r/a', () => ({ text: 'never' }))).toBe(false);
      expect(await listed(archive)).toEqual([]);
      await archive.putIfAbsent('r/a', 'ü\n');
      for (const isFlushedLater of [false, true]) {
        const add = (content: Buffer): Addition => ({ text: `${content.toString().length}\n`, isFlushedLater });
        expect(await archive.append('r/a', add)).toBe(true);
      }
      expect(await archive.append('r/a', () => undefined)).toBe(true);
      expect(await textOf(archive, 'r/a')).toBe('ü\n2\n4\n');
      await expect(archive.append('../r/a', () => undefined)).rejects.toMatchObject({ code: 'NAME_INVALID' });
    });
  });

  describe('list', () => {
    it.each<readonly [string, string, readonly string[]]>([
      ['r', 'task-', ['r/task-a/1.json', 'r/task-a/2.json', 'r/task-b']],
      ['r', 'task-a', ['r/task-a/1.json', 'r/task-a/2.json']],
      ['r', 'ask', []],
      ['r/task-a', '2', ['r/task-a/2.json']],
      ['', 'o', ['other']],
      ['', '', ['other', 'r/none', 'r/task-a/1.json', 'r/task-a/2.json', 'r/task-b']],
    ])('in %j gives what begins with %j', async (place, prefix, names) => {
      for (const name of ['r/task-a/1.json', 'r/task-a/2.json', 'r/task-b', 'r/none', 'other']) {
        await archive.replace(name, '{}');
      }
      expect(await listed(archive, place, prefix)).toEqual(names);
    });

    it('gives the name of every file below a folder, and of none that is not whole', async () => {
      expect(await listed(archive)).toEqual([]);
      const names = ['.creates/task%3Aa/1.json', '.creates/task%3Aa/2.json', 'drafts/r-2/0.png', 'r-1/manifest.json'];
      for (const name of names) await archive.replace(name, '{}');
      const slow = new PassThrough();
      const putting = archive.put('r-1/0.png', slow);
      slow.write('half');
      expect(await listed(archive)).toEqual(names);
      expect(await listed(archive, '.creates')).toEqual(names.slice(0, 2));
      expect(await listed(archive, 'drafts/r-2')).toEqual(['drafts/r-2/0.png']);
      expect(await listed(archive, 'drafts/r')).toEqual([]);
      slow.end();
      await putting;
      expect(await listed(archive, 'r-1')).toEqual(['r-1/0.png', 'r-1/manifest.json']);
    });

    it('refuses a folder outside of the archive', async () => {
      await expect(listed(archive, '../other')).rejects.toMatchObject({ code: 'NAME_INVALID' });
    });
  });

  describe('names', () => {
    it.each(['', '/etc/passwd', '../x', 'a/../../x', 'a//b', 'a/', './a', 'a\0b', 'a\nb', 'a\\b', 'x'.repeat(256)])(
      'that could lead astray are refused: %j',
      async (name) => {
        const error: unknown = await archive.put(name, stream('x')).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: 'NAME_INVALID', isRetryable: false });
        expect(await listed(archive)).toEqual([]);
      },
    );

    it.each([`r/${'ä'.repeat(67)}.png`, 'r/a b+c&d=e?f#g.png', 'r/%2E%2E/100%.png', 'ü/日本.png'])(
      'stand for one file each, whatever is in them: %s',
      async (name) => {
        await archive.put(name, stream('x'));
        await archive.replace(`${name}.json`, '{}');
        expect(await archive.find(name)).toMatchObject({ bytes: 1, path: `${archive.location}/${name}` });
        expect(await listed(archive)).toEqual([name, `${name}.json`]);
      },
    );
  });

  describe('check', () => {
    it('passes where files can be kept, and leaves nothing', async () => {
      await archive.check();
      expect(await listed(archive)).toEqual([]);
    });
  });
});
