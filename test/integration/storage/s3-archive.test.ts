import { randomUUID } from 'node:crypto';
import { readdirSync, renameSync } from 'node:fs';
import { inspect } from 'node:util';
import { S3Client } from '@aws-sdk/client-s3';
import { listed, stream } from '../../support/archive-content';
import { failureOf, S3ArchiveUnderTest, settings } from './s3-archive-under-test';

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

describe('the check of an archive', () => {
  it('refuses a storage that does not honour conditional writes, in words', async () => {
    const client = s3.unconditional();
    const archive = s3.open({ client });
    const { code, message } = await failureOf(archive.check());
    expect(code).toBe('ARCHIVE_UNUSABLE');
    expect(message).toMatch(/If-None-Match: \*.*two workers could pay for one task.*conditional writes/);
    expect(await listed(archive)).toEqual([]);
  });

  it('names a bucket that is not there', async () => {
    const { message } = await failureOf(s3.open({ bucket: 'no-such-bucket' }).check());
    expect(message).toMatch(/no bucket no-such-bucket.*LONGHAUL_ARCHIVE/);
  });

  it('says that credentials are not accepted, without showing them', async () => {
    const secret = { accessKeyId: s3.storage.server.rootAccessKeyId, secretAccessKey: 'a-wrong-secret-of-ours' };
    for (const credentials of [secret, { accessKeyId: 'AKIA0UNKNOWN', secretAccessKey: 'a-secret-of-nobody' }]) {
      const error = await failureOf(s3.open({ client: s3.clientWith(credentials) }).check());
      expect(error.message).toMatch(/credentials are not accepted.*AWS_ACCESS_KEY_ID/);
      const shown = `${error.message}${String(error.stack)}${inspect(error, { depth: 20, showHidden: true })}`;
      expect(Object.values(credentials).filter((value) => shown.includes(value))).toEqual([]);
    }
  });

  it('says which rights the credentials lack', async () => {
    // They may write one object elsewhere, and nothing else.
    const minted = s3.authority.mint({ bucket: s3.storage.bucket, objectKey: 'elsewhere', lifetimeMs: 60_000 });
    const { accessKeyId, accessKeySecret: secretAccessKey, securityToken: sessionToken } = minted;
    const client = s3.clientWith({ accessKeyId, secretAccessKey, sessionToken });
    const { message } = await failureOf(s3.open({ client }).check());
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
    s3.clients.push(none, nowhere);
    expect((await failureOf(s3.open({ client: none }).check())).message).toMatch(/no credentials.*AWS_ACCESS_KEY_ID/);
    expect((await failureOf(s3.open({ client: nowhere }).check())).message).toMatch(/no region.*AWS_REGION/);
  });
});

describe('a storage that is away for a while', () => {
  it.each<[string, () => Promise<void> | void, () => Promise<void> | void, RegExp]>([
    ['refuses connections', () => s3.storage.proxy.refuse(), () => s3.storage.proxy.accept(), /does not answer/],
    [
      'has lost its bucket',
      () => {
        renameSync(s3.storage.bucketFolder, `${s3.storage.bucketFolder}.away`);
      },
      () => {
        renameSync(`${s3.storage.bucketFolder}.away`, s3.storage.bucketFolder);
      },
      /no bucket archive-of-tests/,
    ],
  ])('because it %s is told in words, and used again once it is back', async (_how, away, back, words) => {
    const archive = s3.open();
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
    expect(readdirSync(s3.spoolFolder)).toEqual([]);
  });
});

describe('putIfAbsent', () => {
  it('knows that it made the file although the reply was lost', async () => {
    const client = s3.owner();
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
    expect(await s3.open({ client }).putIfAbsent('.creates/a/1.json', 'mine')).toBe(true);
    expect(await s3.open().putIfAbsent('.creates/a/1.json', 'other')).toBe(false);
    expect((await s3.open().read('.creates/a/1.json'))?.toString()).toBe('mine');
  });

  it('puts nothing in the place of what is there, also where the storage ignores the condition', async () => {
    await s3.open().putIfAbsent('.creates/a/1.json', 'first');
    expect(await s3.open({ client: s3.unconditional() }).putIfAbsent('.creates/a/1.json', 'second')).toBe(false);
    expect((await s3.open().read('.creates/a/1.json'))?.toString()).toBe('first');
  });

  it('has made nothing where the storage answers 200 and keeps nothing', async () => {
    const client = s3.owner();
    client.middlewareStack.add(
      (next, { commandName }) =>
        (args) =>
          commandName === 'PutObjectCommand'
            ? Promise.resolve({ output: { $metadata: {} }, response: {} })
            : next(args),
      { step: 'initialize' },
    );
    const error = await failureOf(s3.open({ client }).putIfAbsent('a', '1'));
    expect(error).toMatchObject({ code: 'ARCHIVE_UNUSABLE', isRetryable: true });
  });

  it.each([412, 500])('is not sure whose it is when %i is answered and nothing can be read', async (httpStatusCode) => {
    const client = s3.owner();
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const output = await next(args);
          if (commandName === 'HeadObjectCommand') return output;
          throw Object.assign(new Error('no'), { $metadata: { httpStatusCode } });
        },
      { step: 'deserialize', priority: 'high' },
    );
    const error = await failureOf(s3.open({ client }).putIfAbsent('a', '1'));
    expect(error).toMatchObject({ code: 'ARCHIVE_UNUSABLE', isRetryable: true });
    expect((await s3.open().read('a'))?.toString()).toBe('1');
  });

  it('is not sure of anything when nothing can be asked', async () => {
    await s3.storage.proxy.refuse();
    const error = await failureOf(s3.open().putIfAbsent('a', '1'));
    await s3.storage.proxy.accept();
    expect(error).toMatchObject({ code: 'ARCHIVE_UNUSABLE', isRetryable: true });
    expect(error.message).toMatch(/does not answer.*ECONNREFUSED/);
  });
});
