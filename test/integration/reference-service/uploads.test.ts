import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { eventually } from '../../support/eventually';
import { startService } from '../../support/start-reference-service';
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
async function putOutcome(token: UploadToken): Promise<string> {
  const storage = storageClient(token);
  const put = new PutObjectCommand({ Bucket: token.storage.bucket, Key: token.file.object_key, Body: BYTES });
  return storage.send(put).then(
    () => 'accepted',
    (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
  );
}

describe('temporary credentials', () => {
  it('neither read nor delete it', async () => {
    const token = await client.token('a.png');
    await putOutcome(token);
    const storage = storageClient(token);
    const object = { Bucket: token.storage.bucket, Key: token.file.object_key };

    await expect(storage.send(new GetObjectCommand(object))).rejects.toMatchObject({ name: 'AccessDenied' });
    await expect(storage.send(new DeleteObjectCommand(object))).rejects.toMatchObject({ name: 'AccessDenied' });
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
