import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { eventually } from '../../support/eventually';
import { startService } from '../../support/start-reference-service';
import { aNumber, objectWith, textLike } from './matchers';
import { PlainClient, storageClient, type UploadToken } from './plain-client';

const BYTES = Buffer.from('the bytes of a picture');
const SHORT_LIFETIME_MS = 700;

let service: ReferenceService;
let client: PlainClient;

beforeAll(async () => {
  service = await startService({
    accounts: [
      { id: 'one', apiKey: 'key-of-account-one' },
      { id: 'two', apiKey: 'key-of-account-two' },
    ],
  });
  client = new PlainClient(service);
});

afterAll(() => service.stop());

/** Name of the storage's refusal, or "accepted". */
async function putOutcome(
  token: UploadToken,
  change: Parameters<typeof storageClient>[1] = {},
  key?: string,
): Promise<string> {
  const storage = storageClient(token, change);
  const put = new PutObjectCommand({ Bucket: token.storage.bucket, Key: key ?? token.file.object_key, Body: BYTES });
  return storage.send(put).then(
    () => 'accepted',
    (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
  );
}

describe('an upload token', () => {
  it('names a key of the form inputs/<date>/<name>.<ext>, the storage, and a region with its oss- prefix', async () => {
    const token = await client.token('My photo.JPG');

    expect(token.file.object_key).toMatch(/^inputs\/\d{8}\/[0-9a-f]{32}\.jpg$/);
    expect(token.storage).toEqual({
      endpoint: textLike(/^http:\/\/oss-cn-shanghai\.localhost:\d+$/),
      bucket: 'reference-service',
      region: 'oss-cn-shanghai',
    });
  });

  it('never names the same key twice', async () => {
    const tokens = await Promise.all([client.token('a.png'), client.token('a.png'), client.token('a.png')]);

    expect(new Set(tokens.map((token) => token.file.object_key)).size).toBe(3);
  });

  it.each([
    ['a name without an extension', 'photo', 'inputs'],
    ['a type that is neither image, audio nor video', 'letter.pdf', 'inputs'],
    ['an empty name', '', 'inputs'],
    ['another file_type', 'photo.png', 'outputs'],
  ])('is refused for %s', async (_case, fileName, fileType) => {
    const answer = await client.askToken(fileName, fileType);

    expect(answer).toMatchObject({ status: 400, body: { code: 20015, status: false, data: null } });
  });

  it.each(['photo.png', 'song.mp3', 'film.mp4'])('is given for %s', async (fileName) => {
    expect((await client.askToken(fileName)).status).toBe(200);
  });
});

describe('temporary credentials', () => {
  it('write exactly the object they were made for', async () => {
    const token = await client.token('a.png');

    expect(await putOutcome(token)).toBe('accepted');
    expect(await putOutcome(token, {}, 'inputs/20200101/another.png')).toBe('AccessDenied');
    expect(await putOutcome(token, {}, (await client.token('b.png')).file.object_key)).toBe('AccessDenied');
  });

  it('neither read nor delete it', async () => {
    const token = await client.token('a.png');
    await putOutcome(token);
    const storage = storageClient(token);
    const object = { Bucket: token.storage.bucket, Key: token.file.object_key };

    await expect(storage.send(new GetObjectCommand(object))).rejects.toMatchObject({ name: 'AccessDenied' });
    await expect(storage.send(new DeleteObjectCommand(object))).rejects.toMatchObject({ name: 'AccessDenied' });
  });

  it('are refused with an altered token, a token of others, or a wrong secret', async () => {
    const token = await client.token('a.png');
    const other = await client.token('b.png');

    expect(await putOutcome(token, { securityToken: `${token.file.security_token}x` })).toBe('InvalidToken');
    expect(await putOutcome(token, { securityToken: other.file.security_token })).toBe('InvalidToken');
    expect(await putOutcome(token, { secret: other.file.access_key_secret })).toBe('SignatureDoesNotMatch');
  });

  it('end with their commit, so that a committed file stays what it is', async () => {
    const token = await client.token('a.png');
    await putOutcome(token);
    await client.commit('a.png', token.file.object_key);

    expect(await putOutcome(token)).toBe('InvalidToken');
  });

  it('end when their lifetime is over', async () => {
    const hasty = await startService({ credentialLifetimeMs: SHORT_LIFETIME_MS });
    try {
      const token = await new PlainClient(hasty).token('a.png');
      const outcomeAtOnce = await putOutcome(token);
      const outcomeLater = await eventually(async () => {
        const outcome = await putOutcome(token);
        return outcome !== 'accepted' && outcome;
      });

      expect([outcomeAtOnce, outcomeLater]).toEqual(['accepted', 'InvalidToken']);
    } finally {
      await hasty.stop();
    }
  });
});

describe('a commit', () => {
  it('makes a resource whose link leads to the uploaded bytes', async () => {
    const resource = await client.upload('Holiday photo.PNG', BYTES);

    expect(resource).toMatchObject({ id: aNumber, name: 'Holiday photo.PNG', ext: '.png' });
    expect(Buffer.from(await (await fetch(resource.url)).arrayBuffer())).toEqual(BYTES);
  });

  it('finds the same resource when it is repeated', async () => {
    const resource = await client.upload('a.png', BYTES);

    expect(await client.commit('a.png', resource.objectKey)).toMatchObject({
      status: 200,
      body: { data: { id: resource.id } },
    });
  });

  it('is refused before the upload, for a made-up key, and for the key of another account', async () => {
    const token = await client.token('a.png');
    const stranger = new PlainClient({ url: service.url, apiKey: 'key-of-account-two' });
    await putOutcome(token);
    const unused = await client.token('b.png');

    expect(await client.commit('b.png', unused.file.object_key)).toMatchObject({ status: 404, body: { code: 20404 } });
    expect(await client.commit('a.png', 'inputs/20200101/x.png')).toMatchObject({ status: 400, body: { code: 20015 } });
    expect(await stranger.commit('a.png', token.file.object_key)).toMatchObject({ status: 400, body: { code: 20015 } });
  });
});

describe('the resource list', () => {
  it('is paged, newest first, filtered, and each account sees its own', async () => {
    const fresh = await startService({
      accounts: [
        { id: 'a', apiKey: 'key-of-a' },
        { id: 'b', apiKey: 'key-of-b' },
      ],
    });
    try {
      const [a, b] = [new PlainClient(fresh), new PlainClient({ url: fresh.url, apiKey: 'key-of-b' })];
      for (const name of ['1.png', '2.jpg', '3.png']) await a.upload(name, BYTES);
      const third = await a.upload('4.png', BYTES);
      await b.upload('of-b.png', BYTES);
      const list = async (query: string): Promise<unknown> => (await a.ask('GET', `/x/v1/input_resource${query}`)).body;
      const named = (...names: string[]): unknown => names.map((name) => objectWith({ name }));

      expect(await list('')).toMatchObject({
        code: 20000,
        data: { list: named('4.png', '3.png', '2.jpg', '1.png'), total: 4, current: 1, page_size: 20 },
      });
      expect(await list('?current=2&page_size=3')).toMatchObject({
        data: { list: named('1.png'), total: 4, current: 2, page_size: 3 },
      });
      expect(await list('?current=9')).toMatchObject({ data: { list: [], total: 4, current: 9 } });
      expect(await list('?ext=.jpg')).toMatchObject({ data: { list: named('2.jpg'), total: 1 } });
      expect(await list(`?object_key=${third.objectKey}`)).toMatchObject({ data: { list: named('4.png'), total: 1 } });
      expect(await list('?page_size=101')).toMatchObject({ code: 20015, status: false });
      expect(await list('?current=0')).toMatchObject({ code: 20015, status: false });
    } finally {
      await fresh.stop();
    }
  });
});
