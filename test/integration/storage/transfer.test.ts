import { createHash, randomBytes } from 'node:crypto';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dispatcher } from 'undici';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { ServiceClient } from '../../../src/service';
import { createDownloadAgent, download } from '../../../src/storage/download';
import { UploadError } from '../../../src/storage/errors';
import { FolderArchive } from '../../../src/storage/archive/folder-archive';
import { hashStream } from '../../../src/storage/hash';
import { defaultPartPlan } from '../../../src/storage/s3/put-object';
import type { UploadToken } from '../../../src/storage/upload-client';
import { loopbackRule } from '../../support/loopback-rule';
import { eventually } from '../../support/eventually';
import { startService } from '../../support/start-reference-service';
import { temporaryFolder } from '../../support/temporary-folder';
import { uploadPath } from '../../support/upload-path';

const folder = temporaryFolder();
/** S3 takes no part below 5 MiB but the last. */
const mebibyte = 1024 * 1024;
const picture = join(folder.path, 'picture.png');
// Small enough that a refusal is read before a reset of the connection can hide it.
const content = randomBytes(200_017);

let service: ReferenceService;
let client: ServiceClient;
let dispatcher: Dispatcher;

beforeAll(async () => {
  writeFileSync(picture, content);
  service = await startService({ linkStyle: 'virtual-host', linkLifetimeMs: 10_000 });
  client = new ServiceClient({ baseUrl: service.url, apiKey: service.apiKey });
  dispatcher = createDownloadAgent(loopbackRule);
});
afterAll(async () => {
  await dispatcher.close();
  await client.close();
  await service.stop();
  folder.remove();
});

function upload(token: UploadToken, path = picture, sizeBytes = content.length) {
  return uploadPath({ token, path, sizeBytes, contentType: 'image/png' });
}

/** The same token with something changed; spreading it keeps the credentials, which printing would not. */
async function tokenWith(change: Partial<UploadToken> = {}): Promise<UploadToken> {
  return { ...(await client.getUploadToken('picture.png')), ...change };
}

describe('an input file on a real storage server', () => {
  it('is uploaded with the credentials of its token, committed, fetched and archived as the same bytes', async () => {
    const token = await tokenWith();
    const uploaded = await upload(token);
    const { url } = await client.commitInput({ name: 'picture.png', objectKey: token.objectKey });
    const { body, sizeBytes } = await download(url, { dispatcher });
    const kept = await new FolderArchive(join(folder.path, 'archive')).put('r-1/0.png', body, {
      bytes: content.length,
      sha256: uploaded.sha256,
    });

    expect(uploaded).toEqual({
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    });
    expect(sizeBytes).toBe(content.length);
    expect(kept).toMatchObject({ bytes: content.length, sha256: uploaded.sha256 });
  });

  it('is uploaded in parts with the credentials of one key when it is large, and is the same bytes', async () => {
    const film = randomBytes(11 * mebibyte + 7);
    const path = join(folder.path, 'film.bin');
    writeFileSync(path, film);
    const token = await tokenWith();
    const plan = { ...defaultPartPlan, aboveBytes: 5 * mebibyte, partBytes: 5 * mebibyte };
    const input = { token, path, sizeBytes: film.length, contentType: 'image/png', parts: plan };
    const uploaded = await uploadPath(input);
    const { url } = await client.commitInput({ name: 'picture.png', objectKey: token.objectKey });
    const { body } = await download(url, { dispatcher, expectedBytes: film.length });

    const sha256 = createHash('sha256').update(film).digest('hex');
    expect(uploaded).toEqual({ bytes: film.length, sha256 });
    expect(await hashStream(body)).toEqual({ bytes: film.length, sha256 });

    service.authority.revoke(token.objectKey);
    await expect(uploadPath(input)).rejects.toMatchObject({ code: 'CREDENTIALS_EXPIRED' });
  });

  it('asks for fresh credentials when those of its token ended, were altered, or are unknown', async () => {
    const ended = await tokenWith();
    service.authority.revoke(ended.objectKey);
    for (const token of [
      ended,
      await tokenWith({ securityToken: 'another' }),
      await tokenWith({ accessKeyId: 'ASIA0000000000000000' }),
    ]) {
      await expect(upload(token)).rejects.toMatchObject({ code: 'CREDENTIALS_EXPIRED', isRetryable: true });
    }
  });

  it.each<[string, Partial<UploadToken>, string]>([
    ['the secret is wrong', { accessKeySecret: 'wrong' }, 'SignatureDoesNotMatch'],
    ['the key is not the one of the token', { objectKey: 'inputs/1/other.png' }, 'AccessDenied'],
    ['the region is not the one of the storage', { region: 'oss-cn-other' }, 'AuthorizationHeaderMalformed'],
  ])('is refused for good when %s', async (_why, change, storageCode) => {
    await expect(upload(await tokenWith(change))).rejects.toMatchObject({
      code: 'UPLOAD_REFUSED',
      isRetryable: false,
      storageCode,
    });
  });

  it('is told why it is refused amid a large body, or that nothing is known; either way it asks for a fresh token', async () => {
    const large = join(folder.path, 'large.bin');
    const sizeBytes = 256 * 1024 * 1024;
    writeFileSync(large, '');
    truncateSync(large, sizeBytes);
    const seen = new Set<unknown>();
    for (let attempt = 0; attempt < 20 && !seen.has('CREDENTIALS_EXPIRED'); attempt += 1) {
      const token = await tokenWith({ securityToken: 'another' });
      const error: unknown = await upload(token, large, sizeBytes).catch((thrown: unknown) => thrown);
      seen.add(error instanceof UploadError ? error.code : error);
    }
    expect(seen).toContain('CREDENTIALS_EXPIRED');
    seen.delete('CREDENTIALS_EXPIRED');
    seen.delete('UPLOAD_UNAVAILABLE');
    expect([...seen]).toEqual([]);
  });

  it('is fetched only as long as its link lasts', async () => {
    const token = await tokenWith();
    await upload(token);
    const { url } = await client.commitInput({ name: 'picture.png', objectKey: token.objectKey });
    const failure = await eventually(
      async () => {
        const error: unknown = await download(url, { dispatcher }).then(
          ({ body }) => {
            body.destroy();
          },
          (thrown: unknown) => thrown,
        );
        return error;
      },
      { what: 'the end of the link' },
    );
    expect(failure).toMatchObject({ code: 'LINK_EXPIRED', httpStatus: 403 });
  });
});
