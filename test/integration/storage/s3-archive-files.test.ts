import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { PassThrough, Readable } from 'node:stream';
import {
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { DownloadError } from '../../../src/storage/errors';
import { sha256, stream } from '../../support/archive-content';
import { eventually } from '../../support/eventually';
import type { InjectedFault } from '../../support/injected-fault';
import { failureOf, mebibyte, S3ArchiveUnderTest } from './s3-archive-under-test';

/** A first attempt streams. */
const isFirst = true;

let s3: S3ArchiveUnderTest;
beforeAll(async () => {
  s3 = await S3ArchiveUnderTest.start();
});
beforeEach(() => {
  s3.prefix = randomUUID();
});
afterAll(async () => {
  await s3.stop();
});

/** A client with the requests that it sent, parts with their number. */
function counting(): { readonly client: S3Client; readonly sent: readonly string[] } {
  const client = s3.owner();
  const sent: string[] = [];
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      (args) => {
        const { PartNumber } = args.input as { readonly PartNumber?: number };
        sent.push([commandName, PartNumber ?? []].flat().join(' '));
        return next(args);
      },
    { step: 'initialize' },
  );
  return { client, sent };
}

describe('an object of the archive', () => {
  it('is not kept when the storage has other bytes under all that was said of it, or none', async () => {
    const archive = s3.open();
    const at = s3.at('r/0.png');
    const file = await archive.put('r/0.png', stream('picture'));
    expect(await archive.isKept('r/0.png', file)).toBe(true);
    const { Metadata } = await s3.storage.client.send(new HeadObjectCommand(at));
    await s3.storage.client.send(new PutObjectCommand({ ...at, Body: 'PICTURE', Metadata }));
    expect(await archive.isKept('r/0.png', file)).toBe(false);
    expect(await archive.find('r/0.png', { sha256: file.sha256 })).toBeUndefined();
    await archive.remove('r/0.png');
    expect(await archive.isKept('r/0.png', file)).toBe(false);
  });

  it('is kept where the storage has tags of another kind', async () => {
    const archive = s3.open();
    const at = s3.at('r/0.png');
    const file = await archive.put('r/0.png', stream('picture'));
    const Metadata = { sha256: file.sha256, md5: sha256('no MD5').slice(0, 32) };
    await s3.storage.client.send(new PutObjectCommand({ ...at, Body: 'picture', Metadata }));
    expect(await archive.isKept('r/0.png', file)).toBe(true);
  });

  it.each(['0.html', '0.SVG', '0.xml', '0.xhtml'])(
    'is saved by a browser, not opened, when it could run: %s',
    async (name) => {
      const archive = s3.open();
      for (const content of ['<svg/>', 'x'.repeat(6 * mebibyte)]) {
        await archive.put(name, stream(content));
        const found = await s3.storage.client.send(new HeadObjectCommand(s3.at(name)));
        expect(found.ContentDisposition).toBe('attachment');
      }
      await archive.put('0.png', stream('picture'));
      const picture = await s3.storage.client.send(new HeadObjectCommand(s3.at('0.png')));
      expect(picture.ContentDisposition).toBeUndefined();
    },
  );

  it('has the hash of its content in its metadata, in one piece, or in parts when it was measured before', async () => {
    const archive = s3.open();
    const large = randomBytes(12 * mebibyte + 3);
    const kept = await archive.put('r/0.mp4', Readable.from([large]));
    const small = await archive.put('r/1.png', stream('abc'), { bytes: 3 });
    await archive.replace('r/manifest.json', '{}');

    expect(await s3.metadataOf('r/0.mp4')).toMatchObject({ sha256: kept.sha256 });
    expect(await s3.metadataOf('r/1.png')).toMatchObject({ sha256: small.sha256 });
    expect(await s3.metadataOf('r/manifest.json')).toEqual({ sha256: sha256('{}') });
    expect((await archive.read('r/0.mp4'))?.equals(large)).toBe(true);
    expect(await archive.find('r/0.mp4', { bytes: large.length })).toEqual(kept);
    expect(await s3.openUploads()).toBe(0);
  });

  it('that was sent in parts as it came is known by its tag, or read: whether it is whole shows either way', async () => {
    const archive = s3.open();
    const large = randomBytes(12 * mebibyte + 3);
    const kept = await archive.put('r/0.mp4', Readable.from([large]), { bytes: large.length, isFirst });
    expect(kept).toMatchObject({ bytes: large.length, sha256: sha256(large) });
    expect((await archive.read('r/0.mp4'))?.equals(large)).toBe(true);
    expect(await s3.openUploads()).toBe(0);

    // Of another process, which knows what a manifest says.
    const { client, sent } = counting();
    const other = s3.open({ client });
    const reads = (): number => sent.filter((command) => command === 'GetObjectCommand').length;
    const { bytes, sha256: hash, tag } = kept;
    expect(await other.find('r/0.mp4', { bytes, sha256: hash, tag })).toEqual(kept);
    expect(await other.isKept('r/0.mp4', kept)).toBe(true);
    expect(reads()).toBe(0);
    expect(await other.find('r/0.mp4')).toEqual(kept);
    expect(await other.find('r/0.mp4', { sha256: sha256('other'), tag: 'another' })).toBeUndefined();
    expect(reads()).toBe(2);

    await s3.storage.client.send(new PutObjectCommand({ ...s3.at('r/0.mp4'), Body: randomBytes(large.length) }));
    expect(await other.isKept('r/0.mp4', kept)).toBe(false);
  });

  it('that came there by another way is read to know its hash', async () => {
    await s3.storage.client.send(new PutObjectCommand({ ...s3.at('r/0.png'), Body: 'copied' }));
    expect(await s3.open().find('r/0.png')).toMatchObject({ bytes: 6, sha256: sha256('copied') });
    expect(await s3.open().find('r/0.png', { sha256: sha256('other') })).toBeUndefined();
  });

  it('leaves nothing on the disk of the worker, not even on its way', async () => {
    const content = new PassThrough();
    let seen: string[] | undefined;
    content.once('end', () => (seen = readdirSync(s3.spoolFolder)));
    const putting = s3.open().put('r/0.png', content);
    content.write(Buffer.alloc(mebibyte));
    content.end();
    await putting;
    expect(seen).toEqual([]);
    expect(readdirSync(s3.spoolFolder)).toEqual([]);
  });
});

describe('a file on its way', () => {
  /** The answers to requests with these markers are 503, so many times. */
  const unavailable = (markers: readonly string[], times: number): InjectedFault =>
    s3.storage.proxy.inject({
      markers,
      fault: { kind: 'answer', text: 'HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' },
      times,
    });

  it.each([12 * mebibyte + 3, 10 * mebibyte, 5 * mebibyte, 3, 0])(
    'of %i bytes is sent as it comes, without a file, and is the same bytes',
    async (bytes) => {
      // Nothing can be kept there.
      const archive = s3.open({ spoolFolder: '/dev/null/spool' });
      const content = randomBytes(bytes);
      const chunks = Array.from({ length: Math.ceil(bytes / 700_001) }, (_, index) =>
        content.subarray(index * 700_001, (index + 1) * 700_001),
      );
      const kept = await archive.put('r/0.mp4', Readable.from(chunks), { bytes, isFirst });
      expect(kept).toMatchObject({ bytes, sha256: sha256(content) });
      expect((await archive.read('r/0.mp4'))?.equals(content)).toBe(true);
      expect(await archive.isKept('r/0.mp4', kept)).toBe(true);
    },
  );

  it('sends a part that the storage cannot take for now again, alone', async () => {
    const content = randomBytes(12 * mebibyte);
    const refused = unavailable(['partNumber=2'], 2);
    const { client, sent } = counting();
    const expected = { bytes: content.length, isFirst };
    const kept = await s3.open({ client }).put('r/0.mp4', Readable.from([content]), expected);
    expect(kept.sha256).toBe(sha256(content));
    expect(refused.hitCount).toBe(2);
    expect(sent.filter((command) => command.startsWith('UploadPart')).sort()).toEqual([
      'UploadPartCommand 1',
      ...Array.from({ length: 3 }, () => 'UploadPartCommand 2'),
      'UploadPartCommand 3',
    ]);
  });

  it('is kept once when the answer to its completion is lost, and no older object is taken for it', async () => {
    const content = randomBytes(12 * mebibyte);
    const expected = { bytes: content.length, isFirst };
    const { client, sent } = counting();
    const archive = s3.open({ client });
    const lost = { markers: ['POST ', 'uploadId='], fault: { kind: 'resetAfter' } as const };
    s3.storage.proxy.inject(lost);
    const kept = await archive.put('r/0.mp4', Readable.from([content]), expected);
    expect(await archive.isKept('r/0.mp4', kept)).toBe(true);
    expect(sent.filter((command) => command.startsWith('Complete'))).toHaveLength(1);

    const reset = s3.storage.proxy.inject({ ...lost, fault: { kind: 'resetBefore' }, times: Infinity });
    await failureOf(archive.put('r/0.mp4', Readable.from([randomBytes(content.length)]), expected));
    expect(reset.hitCount).toBe(3);
    s3.storage.proxy.release();
    expect(await archive.isKept('r/0.mp4', kept)).toBe(true);
    expect(await s3.openUploads()).toBe(0);
  });

  it('is no object, and leaves no part, when a part fails for good, its content fails, or it is not as expected', async () => {
    const archive = s3.open();
    const content = randomBytes(12 * mebibyte);
    unavailable(['partNumber=2'], Infinity);
    const source = Readable.from([content]);
    await failureOf(archive.put('r/0.mp4', source, { bytes: content.length, isFirst }));
    expect(source.destroyed).toBe(true);
    s3.storage.proxy.release();

    const cut = new DownloadError('DOWNLOAD_CUT_SHORT', 'cut');
    const failing = Readable.from(
      (function* () {
        yield content.subarray(0, 7 * mebibyte);
        throw cut;
      })(),
    );
    await expect(archive.put('r/0.mp4', failing, { bytes: content.length, isFirst })).rejects.toBe(cut);
    for (const bytes of [content.length - 1, content.length + 1]) {
      const { code } = await failureOf(archive.put('r/0.mp4', Readable.from([content]), { bytes, isFirst }));
      expect(code).toBe('NOT_WHOLE');
    }
    const expected = { bytes: content.length, sha256: sha256('other'), isFirst };
    expect((await failureOf(archive.put('r/0.mp4', Readable.from([content]), expected))).code).toBe('NOT_WHOLE');
    expect(await archive.find('r/0.mp4')).toBeUndefined();
    expect(await s3.openUploads()).toBe(0);
  });

  it('waits in a file where an attempt before may have left something', async () => {
    const content = randomBytes(6 * mebibyte);
    const kept = await s3.open().put('r/0.mp4', Readable.from([content]), { bytes: content.length });
    expect(await s3.metadataOf('r/0.mp4')).toMatchObject({ sha256: kept.sha256 });
  });

  it('waits in a file where the memory for contents on their way is in use', async () => {
    const archive = s3.open();
    const bytes = 25 * mebibyte;
    const slow = Array.from({ length: 6 }, () => new PassThrough());
    const putting = slow.map((content, index) => archive.put(`r/${index}.mp4`, content, { bytes, isFirst }));
    expect(slow).toHaveLength(6);
    const content = randomBytes(bytes);
    const last = await archive.put('r/last.mp4', Readable.from([content]), { bytes, isFirst });
    expect(await s3.metadataOf('r/last.mp4')).toMatchObject({ sha256: last.sha256 });
    slow.forEach((one) => one.end(content));
    const kept = await Promise.all(putting);
    expect(new Set(kept.map(({ sha256: hash }) => hash))).toEqual(new Set([sha256(content)]));
    expect(await s3.metadataOf('r/0.mp4')).not.toHaveProperty('sha256');
  });
});

describe('a large file', () => {
  it('that is given up amid is no object, and its upload is aborted, again where the storage cannot for now', async () => {
    const text = 'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';
    s3.storage.proxy.inject({ markers: ['DELETE ', 'uploadId='], fault: { kind: 'answer', text }, times: 2 });
    const abort = new AbortController();
    const reason = new Error('stop');
    s3.storage.proxy.inject({ markers: ['partNumber='], fault: { kind: 'holdAnswer', afterBytes: 0 } });
    const archive = s3.open();
    const bytes = 12 * mebibyte;
    const putting = archive.put('r/0.mp4', Readable.from([Buffer.alloc(bytes)]), { bytes, isFirst }, abort.signal);
    await eventually(() => s3.storage.proxy.heldCount() > 0, { what: 'a part on its way' });
    abort.abort(reason);
    await expect(putting).rejects.toBe(reason);
    s3.storage.proxy.release();
    expect(await archive.find('r/0.mp4')).toBeUndefined();
    expect(await s3.openUploads()).toBe(0);
  });

  it('of a worker that died amid is sent anew, and the parts it left are cleared away', async () => {
    const target = s3.at('r/0.mp4');
    const { UploadId } = await s3.storage.client.send(new CreateMultipartUploadCommand(target));
    const part = new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: Buffer.alloc(5 * mebibyte) });
    await s3.storage.client.send(part);
    expect(await s3.openUploads()).toBe(1);

    await s3.open().put('r/0.mp4', Readable.from([Buffer.alloc(6 * mebibyte)]), { bytes: 6 * mebibyte });
    expect(await s3.openUploads()).toBe(0);
  });

  it('that breaks off while it is read ends its stream with an error, and opens again', async () => {
    const archive = s3.open();
    const content = 'x'.repeat(3_000_000);
    await archive.put('r/long.png', stream(content));
    s3.storage.proxy.inject({ markers: ['GET', 'long.png'], fault: { kind: 'cutAnswer', afterBytes: 100_000 } });
    const cut = await archive.open('r/long.png');
    const error = await failureOf(text(cut!.content));
    expect(error.message).toContain('r/long.png');
    expect(await text((await archive.open('r/long.png'))!.content)).toBe(content);
  });
});
