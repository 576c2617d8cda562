import { randomUUID } from 'node:crypto';
import { failureOf, S3ArchiveUnderTest } from './s3-archive-under-test';

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
