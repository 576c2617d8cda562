import { randomBytes, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { HeadObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { SourceError } from '../../../src/storage/errors';
import type { SourceRules } from '../../../src/storage/input/input-source';
import { openS3Ranges } from '../../../src/storage/input/s3-source';
import { openSource } from '../../../src/storage/input/open-source';
import { Staging } from '../../../src/storage/staging';
import { sha256 } from '../../support/archive-content';
import { contentOf } from '../../support/opened-content';
import { temporaryFolder } from '../../support/temporary-folder';
import { mebibyte, parts, S3ArchiveUnderTest } from './s3-archive-under-test';

const folder = temporaryFolder();
const spoolFolder = join(folder.path, 'spool');
let s3: S3ArchiveUnderTest;
let owner: S3Client;
beforeAll(async () => {
  s3 = await S3ArchiveUnderTest.start();
  owner = s3.owner();
});
beforeEach(() => {
  s3.prefix = randomUUID();
});
afterAll(async () => {
  await s3.stop();
  folder.remove();
});

function stranger(): S3Client {
  return s3.clientWith({ accessKeyId: 'AKIDSTRANGER', secretAccessKey: 'SK-OF-A-STRANGER' });
}

function rules(more: Partial<SourceRules> = {}, client = owner): SourceRules {
  const places = [{ bucket: s3.storage.bucket, key: s3.prefix }];
  return { inputRoots: [], inputHosts: [], maxBytes: 1_000, spoolFolder, objects: { client, places }, ...more };
}

/** Puts an object under the prefix of this test; returns its URI. */
async function put(name: string, content: string | Buffer): Promise<string> {
  await s3.storage.client.send(new PutObjectCommand({ ...s3.at(name), Body: Buffer.from(content) }));
  return uri(name);
}

function uri(name: string): string {
  return `s3://${s3.storage.bucket}/${s3.prefix}/${name}`;
}

async function refusalOf(source: string, by = rules()): Promise<SourceError> {
  const error: unknown = await openSource(source, by).catch((thrown: unknown) => thrown);
  if (!(error instanceof SourceError)) throw new Error('expected a SourceError', { cause: error });
  return error;
}

function spooled(): string[] {
  return existsSync(spoolFolder) ? readdirSync(spoolFolder) : [];
}

describe('an input file in a bucket', () => {
  it('is fetched into a file that only this user can read, and that is gone on release', async () => {
    const opened = await openSource(await put('a/my photo #1.jpg', 'picture'), rules());
    expect(opened).toMatchObject({ name: 'my photo #1.jpg', sizeBytes: 7, contentType: 'image/jpeg' });
    expect(await contentOf(opened)).toBe('picture');
    await opened.release();
    expect(spooled()).toEqual([]);
  });

  it.each([
    ['another prefix', () => `s3://${s3.storage.bucket}/other/photo.jpg`],
    ['a prefix that only begins alike', () => `s3://${s3.storage.bucket}/${s3.prefix}-private/photo.jpg`],
    ['another bucket', () => `s3://other-bucket/${s3.prefix}/photo.jpg`],
  ])('of %s is refused without asking for it', async (_what, source) => {
    const { code, message } = await refusalOf(source());
    expect(code).toBe('BUCKET_NOT_ALLOWED');
    expect(message).toMatch(/outside the buckets.*LONGHAUL_INPUT_BUCKETS of the worker/);
  });

  it('is refused by a worker that may read none', async () => {
    const source = await put('photo.jpg', 'picture');
    const none = { inputRoots: [], inputHosts: [], maxBytes: 1_000, spoolFolder };
    expect(await refusalOf(source, none)).toMatchObject({ code: 'BUCKET_NOT_ALLOWED', isRetryable: false });
  });

  it.each(['../photo.jpg', 'a//photo.jpg', './photo.jpg', 'a\\photo.jpg', ''])(
    'is no URI with the key %j',
    async (key) => {
      expect(await refusalOf(uri(key))).toMatchObject({ code: 'URL_INVALID' });
    },
  );

  it('that is not there is told so, and so is a bucket', async () => {
    expect(await refusalOf(uri('none.jpg'))).toMatchObject({ code: 'NOT_FOUND', isRetryable: false });
    const by = rules({ objects: { client: owner, places: [{ bucket: 'no-such-bucket', key: '' }] } });
    const { code, message } = await refusalOf('s3://no-such-bucket/a.jpg', by);
    expect(code).toBe('NOT_FOUND');
    expect(message).toContain('no bucket');
  });

  it('that the credentials do not open is final, and names neither of them', async () => {
    const source = await put('photo.jpg', 'picture');
    const error = await refusalOf(source, rules({}, stranger()));
    expect(error).toMatchObject({ code: 'FETCH_REFUSED', isRetryable: false });
    expect(error.message).toMatch(/of the worker/);
    expect(inspect(error, { depth: 10 })).not.toMatch(/AKIDSTRANGER|SK-OF-A-STRANGER/);
  });

  it('of a storage that does not answer may be there later', async () => {
    const error = await refusalOf(uri('photo.jpg'), rules({}, s3.owner('http://127.0.0.1:1')));
    expect(error).toMatchObject({ code: 'FETCH_FAILED', isRetryable: true });
    expect(error.message).toContain('ECONNREFUSED');
  });

  it('that is empty or too large is refused, and nothing of it stays', async () => {
    expect(await refusalOf(await put('empty.jpg', ''))).toMatchObject({ code: 'EMPTY' });
    expect(await refusalOf(await put('large.jpg', Buffer.alloc(1_001)))).toMatchObject({ code: 'TOO_LARGE' });
    expect(spooled()).toEqual([]);
  });

  it('is given up when the signal says so', async () => {
    const source = await put('photo.jpg', 'picture');
    const reason = new Error('the task was stopped');
    await expect(openSource(source, rules(), AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  it('can be read in part, to its end and not beyond', async () => {
    const ranges = openS3Ranges(await put('rows', '0123456789'), rules());
    const read = async (start: number, end: number) => Buffer.from(await ranges.read(start, end)).toString();
    expect([await read(0, 3), await read(8, 12), await read(10, 12), await read(90, 99)]).toEqual([
      '012',
      '89',
      '',
      '',
    ]);
    await expect(openS3Ranges(uri('none'), rules()).read(0, 8)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('staging', () => {
  function staging(client = owner): Staging {
    return new Staging({ client, bucket: s3.storage.bucket, prefix: s3.prefix, parts });
  }

  function file(name: string, content: string | Buffer): string {
    const path = join(folder.path, name);
    writeFileSync(path, content);
    return path;
  }

  it('keeps a file under its content and its name, where a worker finds it', async () => {
    const staged = await staging().keepInput(file('photo.jpg', 'picture'));
    expect(staged).toBe(uri(`${sha256(Buffer.from('picture'))}/photo.jpg`));
    const opened = await openSource(staged, rules());
    expect(opened).toMatchObject({ name: 'photo.jpg', sizeBytes: 7 });
    await opened.release();
  });

  it('sends what is there already no second time, in this run or a later one', async () => {
    const path = file('again.jpg', 'again');
    const first = staging();
    await first.keepInput(path);
    await first.keepInput(path);
    const second = staging();
    await second.keepInput(path);
    expect([first.count, second.count]).toEqual([
      { sent: 1, sentBytes: 5, found: 0 },
      { sent: 0, sentBytes: 0, found: 1 },
    ]);
  });

  it('replaces what is there with another size', async () => {
    const path = file('cut.jpg', 'whole');
    const staged = await staging().keepInput(path);
    const key = staged.slice(`s3://${s3.storage.bucket}/`.length);
    await s3.storage.client.send(new PutObjectCommand({ Bucket: s3.storage.bucket, Key: key, Body: 'who' }));
    const later = staging();
    await later.keepInput(path);
    expect(later.count.sent).toBe(1);
    expect(await s3.storage.client.send(new HeadObjectCommand({ Bucket: s3.storage.bucket, Key: key }))).toMatchObject({
      ContentLength: 5,
    });
  });

  it('sends a large file in parts, and it arrives whole', async () => {
    const content = randomBytes(11 * mebibyte);
    const staged = await staging().keepInput(file('film.mp4', content));
    const opened = await openSource(staged, rules({ maxBytes: 20 * mebibyte }));
    expect(sha256(Buffer.from(await contentOf(opened, 'latin1'), 'latin1'))).toBe(sha256(content));
    await opened.release();
  });

  it('says what is wrong with the file or the bucket, without a secret', async () => {
    await expect(staging().keepInput('/nowhere/photo.jpg')).rejects.toThrow(/photo\.jpg.*ENOENT/);
    const refused = staging(stranger()).keepInput(file('photo.jpg', 'picture'));
    const error: unknown = await refused.catch((thrown: unknown) => thrown);
    expect(inspect(error, { depth: 10 })).toMatch(
      /StagingError.*photo\.jpg.*AWS_ACCESS_KEY_ID|StagingError.*photo\.jpg.*s3:PutObject/s,
    );
    expect(inspect(error, { depth: 10 })).not.toMatch(/AKIDSTRANGER|SK-OF-A-STRANGER/);
  });
});
