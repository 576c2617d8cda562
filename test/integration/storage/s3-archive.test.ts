import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PassThrough, Readable } from 'node:stream';
import { inspect } from 'node:util';
import {
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { CredentialAuthority } from '../../../reference-service/storage/credential-authority';
import { type IamServer, startIamServer } from '../../../reference-service/storage/iam-server';
import { ArchiveError } from '../../../src/storage/errors';
import { defaultPartPlan } from '../../../src/storage/s3/put-object';
import { S3Archive, type S3ArchiveOptions } from '../../../src/storage/archive/s3-archive';
import { s3Settings } from '../../../src/storage/s3/s3-client';
import { listed, sha256, stream } from '../../support/archive-content';
import { type BucketServer, startBucketServer } from '../../support/bucket-server';
import { eventually } from '../../support/eventually';
import { temporaryFolder } from '../../support/temporary-folder';

const mebibyte = 1024 * 1024;
/** S3 takes no part below 5 MiB but the last. */
const parts = { ...defaultPartPlan, aboveBytes: 5 * mebibyte, partBytes: 5 * mebibyte, pauseMs: 10 };
const settings = s3Settings({ connectMs: 5_000, idleMs: 30_000 });
const folder = temporaryFolder();
const spoolFolder = join(folder.path, 'spool');
const authority = new CredentialAuthority();
const clients: S3Client[] = [];

let iam: IamServer;
let storage: BucketServer;
let prefix: string;

beforeAll(async () => {
  iam = await startIamServer(authority);
  storage = await startBucketServer(iam.socketPath);
});
beforeEach(() => {
  prefix = randomUUID();
});
afterAll(async () => {
  for (const client of clients) client.destroy();
  await storage.stop();
  await iam.stop();
  folder.remove();
});

/** A client of the archive's own, through the proxy. */
function clientWith(credentials: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }): S3Client {
  const { AWS_ENDPOINT_URL_S3: endpoint = '', AWS_REGION: region = '' } = storage.env;
  const client = new S3Client({ ...settings, endpoint, region, credentials });
  clients.push(client);
  return client;
}

function owner(): S3Client {
  const { rootAccessKeyId, rootSecretAccessKey } = storage.server;
  return clientWith({ accessKeyId: rootAccessKeyId, secretAccessKey: rootSecretAccessKey });
}

function open(change: Partial<S3ArchiveOptions> = {}): S3Archive {
  return new S3Archive({ client: owner(), bucket: storage.bucket, prefix, spoolFolder, parts, ...change });
}

/** For whom the server is one that has never heard of conditional writes. */
function unconditional(): S3Client {
  const client = owner();
  client.middlewareStack.add(
    (next) => (args) => {
      const { request } = args as { request: { headers: Record<string, string> } };
      delete request.headers['if-none-match'];
      return next(args);
    },
    { step: 'build', priority: 'low' },
  );
  return client;
}

async function failureOf(promise: Promise<unknown>): Promise<ArchiveError> {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  if (!(error instanceof ArchiveError)) throw new Error('expected an ArchiveError', { cause: error });
  return error;
}

async function metadataOf(name: string): Promise<unknown> {
  const command = new HeadObjectCommand({ Bucket: storage.bucket, Key: `${prefix}/${name}` });
  return (await storage.client.send(command)).Metadata;
}

async function openUploads(): Promise<number> {
  const command = new ListMultipartUploadsCommand({ Bucket: storage.bucket, Prefix: prefix });
  return (await storage.client.send(command)).Uploads?.length ?? 0;
}

describe('an object of the archive', () => {
  it('is not kept when the storage has other bytes under all that was said of it, or none', async () => {
    const archive = open();
    const at = { Bucket: storage.bucket, Key: `${prefix}/r/0.png` };
    const file = await archive.put('r/0.png', stream('picture'));
    expect(await archive.isKept('r/0.png', file)).toBe(true);
    const { Metadata } = await storage.client.send(new HeadObjectCommand(at));
    await storage.client.send(new PutObjectCommand({ ...at, Body: 'PICTURE', Metadata }));
    expect(await archive.isKept('r/0.png', file)).toBe(false);
    expect(await archive.find('r/0.png', { sha256: file.sha256 })).toBeUndefined();
    await archive.remove('r/0.png');
    expect(await archive.isKept('r/0.png', file)).toBe(false);
  });

  it('is kept where the storage has tags of another kind', async () => {
    const archive = open();
    const at = { Bucket: storage.bucket, Key: `${prefix}/r/0.png` };
    const file = await archive.put('r/0.png', stream('picture'));
    const Metadata = { sha256: file.sha256, md5: sha256('no MD5').slice(0, 32) };
    await storage.client.send(new PutObjectCommand({ ...at, Body: 'picture', Metadata }));
    expect(await archive.isKept('r/0.png', file)).toBe(true);
  });

  it.each(['0.html', '0.SVG', '0.xml', '0.xhtml'])(
    'is saved by a browser, not opened, when it could run: %s',
    async (name) => {
      const archive = open();
      for (const content of ['<svg/>', 'x'.repeat(6 * mebibyte)]) {
        await archive.put(name, stream(content));
        const command = new HeadObjectCommand({ Bucket: storage.bucket, Key: `${prefix}/${name}` });
        expect((await storage.client.send(command)).ContentDisposition).toBe('attachment');
      }
      await archive.put('0.png', stream('picture'));
      const picture = new HeadObjectCommand({ Bucket: storage.bucket, Key: `${prefix}/0.png` });
      expect((await storage.client.send(picture)).ContentDisposition).toBeUndefined();
    },
  );

  it('has the hash of its content in its metadata, whether it came in one piece or in parts', async () => {
    const archive = open();
    const large = randomBytes(12 * mebibyte + 3);
    const kept = await archive.put('r/0.mp4', Readable.from([large]), { bytes: large.length });
    const small = await archive.put('r/1.png', stream('abc'));
    await archive.replace('r/manifest.json', '{}');

    expect(await metadataOf('r/0.mp4')).toMatchObject({ sha256: kept.sha256 });
    expect(await metadataOf('r/1.png')).toMatchObject({ sha256: small.sha256 });
    expect(await metadataOf('r/manifest.json')).toEqual({ sha256: sha256('{}') });
    expect((await archive.read('r/0.mp4'))?.equals(large)).toBe(true);
    expect(await archive.find('r/0.mp4', { bytes: large.length })).toEqual(kept);
    expect(await openUploads()).toBe(0);
  });

  it('that came there by another way is read to know its hash', async () => {
    const command = new PutObjectCommand({ Bucket: storage.bucket, Key: `${prefix}/r/0.png`, Body: 'copied' });
    await storage.client.send(command);
    expect(await open().find('r/0.png')).toMatchObject({ bytes: 6, sha256: sha256('copied') });
    expect(await open().find('r/0.png', { sha256: sha256('other') })).toBeUndefined();
  });

  it('leaves nothing on the disk of the worker, not even on its way', async () => {
    const content = new PassThrough();
    let seen: string[] | undefined;
    content.once('end', () => (seen = readdirSync(spoolFolder)));
    const putting = open().put('r/0.png', content);
    content.write(Buffer.alloc(mebibyte));
    content.end();
    await putting;
    expect(seen).toEqual([]);
    expect(readdirSync(spoolFolder)).toEqual([]);
  });
});

describe('a large file', () => {
  it('that is given up amid is no object, and its upload is aborted, again where the storage cannot for now', async () => {
    const text = 'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';
    storage.proxy.inject({ markers: ['DELETE ', 'uploadId='], fault: { kind: 'answer', text }, times: 2 });
    const abort = new AbortController();
    const reason = new Error('stop');
    storage.proxy.inject({ markers: ['partNumber='], fault: { kind: 'holdAnswer', afterBytes: 0 } });
    const archive = open();
    const putting = archive.put('r/0.mp4', Readable.from([Buffer.alloc(12 * mebibyte)]), {}, abort.signal);
    await eventually(() => storage.proxy.heldCount() > 0, { what: 'a part on its way' });
    abort.abort(reason);
    await expect(putting).rejects.toBe(reason);
    storage.proxy.release();
    expect(await archive.find('r/0.mp4')).toBeUndefined();
    expect(await openUploads()).toBe(0);
  });

  it('of a worker that died amid is sent anew, and the parts it left are cleared away', async () => {
    const target = { Bucket: storage.bucket, Key: `${prefix}/r/0.mp4` };
    const { UploadId } = await storage.client.send(new CreateMultipartUploadCommand(target));
    const part = new UploadPartCommand({ ...target, UploadId, PartNumber: 1, Body: Buffer.alloc(5 * mebibyte) });
    await storage.client.send(part);
    expect(await openUploads()).toBe(1);

    await open().put('r/0.mp4', Readable.from([Buffer.alloc(6 * mebibyte)]));
    expect(await openUploads()).toBe(0);
  });

  it('that breaks off while it is read ends its stream with an error, and opens again', async () => {
    const archive = open();
    const content = 'x'.repeat(3_000_000);
    await archive.put('r/long.png', stream(content));
    storage.proxy.inject({ markers: ['GET', 'long.png'], fault: { kind: 'cutAnswer', afterBytes: 100_000 } });
    const cut = await archive.open('r/long.png');
    const error = await failureOf(text(cut!.content));
    expect(error.message).toContain('r/long.png');
    expect(await text((await archive.open('r/long.png'))!.content)).toBe(content);
  });
});

describe('putIfAbsent', () => {
  it('knows that it made the file although the reply was lost', async () => {
    const client = owner();
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const output = await next(args);
          if (commandName === 'PutObjectCommand')
            throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
          return output;
        },
      { step: 'deserialize', priority: 'high' },
    );
    expect(await open({ client }).putIfAbsent('.creates/a/1.json', 'mine')).toBe(true);
    expect(await open().putIfAbsent('.creates/a/1.json', 'other')).toBe(false);
    expect((await open().read('.creates/a/1.json'))?.toString()).toBe('mine');
  });

  it('puts nothing in the place of what is there, also where the storage ignores the condition', async () => {
    await open().putIfAbsent('.creates/a/1.json', 'first');
    expect(await open({ client: unconditional() }).putIfAbsent('.creates/a/1.json', 'second')).toBe(false);
    expect((await open().read('.creates/a/1.json'))?.toString()).toBe('first');
  });

  it('has made nothing where the storage answers 200 and keeps nothing', async () => {
    const client = owner();
    client.middlewareStack.add(
      (next, { commandName }) =>
        (args) =>
          commandName === 'PutObjectCommand'
            ? Promise.resolve({ output: { $metadata: {} }, response: {} })
            : next(args),
      { step: 'initialize' },
    );
    const error = await failureOf(open({ client }).putIfAbsent('a', '1'));
    expect(error).toMatchObject({ code: 'ARCHIVE_UNUSABLE', isRetryable: true });
  });

  it.each([412, 500])('is not sure whose it is when %i is answered and nothing can be read', async (httpStatusCode) => {
    const client = owner();
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const output = await next(args);
          if (commandName === 'HeadObjectCommand') return output;
          throw Object.assign(new Error('no'), { $metadata: { httpStatusCode } });
        },
      { step: 'deserialize', priority: 'high' },
    );
    const error = await failureOf(open({ client }).putIfAbsent('a', '1'));
    expect(error).toMatchObject({ code: 'ARCHIVE_UNUSABLE', isRetryable: true });
    expect((await open().read('a'))?.toString()).toBe('1');
  });

  it('is not sure of anything when nothing can be asked', async () => {
    await storage.proxy.refuse();
    const error = await failureOf(open().putIfAbsent('a', '1'));
    await storage.proxy.accept();
    expect(error).toMatchObject({ code: 'ARCHIVE_UNUSABLE', isRetryable: true });
    expect(error.message).toMatch(/does not answer.*ECONNREFUSED/);
  });
});

describe('the check of an archive', () => {
  it('refuses a storage that does not honour conditional writes, in words', async () => {
    const client = unconditional();
    const archive = open({ client });
    const { code, message } = await failureOf(archive.check());
    expect(code).toBe('ARCHIVE_UNUSABLE');
    expect(message).toMatch(/If-None-Match: \*.*two workers could pay for one task.*conditional writes/);
    expect(await listed(archive)).toEqual([]);
  });

  it('names a bucket that is not there', async () => {
    const { message } = await failureOf(open({ bucket: 'no-such-bucket' }).check());
    expect(message).toMatch(/no bucket no-such-bucket.*LONGHAUL_ARCHIVE/);
  });

  it('says that credentials are not accepted, without showing them', async () => {
    const secret = { accessKeyId: storage.server.rootAccessKeyId, secretAccessKey: 'a-wrong-secret-of-ours' };
    for (const credentials of [secret, { accessKeyId: 'AKIA0UNKNOWN', secretAccessKey: 'a-secret-of-nobody' }]) {
      const error = await failureOf(open({ client: clientWith(credentials) }).check());
      expect(error.message).toMatch(/credentials are not accepted.*AWS_ACCESS_KEY_ID/);
      const shown = `${error.message}${String(error.stack)}${inspect(error, { depth: 20, showHidden: true })}`;
      expect(Object.values(credentials).filter((value) => shown.includes(value))).toEqual([]);
    }
  });

  it('says which rights the credentials lack', async () => {
    // They may write one object elsewhere, and nothing else.
    const minted = authority.mint({ bucket: storage.bucket, objectKey: 'elsewhere', lifetimeMs: 60_000 });
    const { accessKeyId, accessKeySecret: secretAccessKey, securityToken: sessionToken } = minted;
    const client = clientWith({ accessKeyId, secretAccessKey, sessionToken });
    const { message } = await failureOf(open({ client }).check());
    expect(message).toMatch(/HTTP 403.*s3:PutObject.*s3:ListBucket/);
  });

  it('says that no credentials or no region are set', async () => {
    const none = new S3Client({
      ...settings,
      region: 'cn-x',
      endpoint: 'http://127.0.0.1:1',
      credentials: () => Promise.reject(Object.assign(new Error('none'), { name: 'CredentialsProviderError' })),
    });
    const nowhere = new S3Client({
      ...settings,
      region: () => Promise.reject<string>(new Error('Region is missing')),
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    });
    clients.push(none, nowhere);
    expect((await failureOf(open({ client: none }).check())).message).toMatch(/no credentials.*AWS_ACCESS_KEY_ID/);
    expect((await failureOf(open({ client: nowhere }).check())).message).toMatch(/no region.*AWS_REGION/);
  });
});

describe('a storage that is away for a while', () => {
  it.each<[string, () => Promise<void> | void, () => Promise<void> | void, RegExp]>([
    ['refuses connections', () => storage.proxy.refuse(), () => storage.proxy.accept(), /does not answer/],
    [
      'has lost its bucket',
      () => {
        renameSync(storage.bucketFolder, `${storage.bucketFolder}.away`);
      },
      () => {
        renameSync(`${storage.bucketFolder}.away`, storage.bucketFolder);
      },
      /no bucket archive-of-tests/,
    ],
  ])('because it %s is told in words, and used again once it is back', async (_how, away, back, words) => {
    const archive = open();
    await archive.put('r/0.png', stream('abc'));
    await away();
    try {
      for (const attempt of [
        () => archive.put('r/1.png', stream('abc')),
        () => archive.putIfAbsent('c', '1'),
        () => archive.replace('m', '1'),
        () => archive.read('r/0.png'),
        () => listed(archive),
      ]) {
        const { message, isRetryable } = await failureOf(attempt());
        expect(message).toMatch(words);
        expect(isRetryable).toBe(true);
      }
    } finally {
      await back();
    }
    await archive.put('r/1.png', stream('abc'));
    expect(await listed(archive)).toEqual(['r/0.png', 'r/1.png']);
    expect(readdirSync(spoolFolder)).toEqual([]);
  });
});
