import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { startHttpServer, type ReceivedRequest, type TestHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';
import { uploadPath } from '../../support/upload-path';

const folder = temporaryFolder();
const content = Buffer.from('a picture');
const path = join(folder.path, 'photo.jpg');
writeFileSync(path, content);

let server: TestHttpServer;
let answer: (request: ReceivedRequest, response: ServerResponse) => void;
beforeAll(async () => {
  server = await startHttpServer((request, response) => {
    answer(request, response);
  });
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

function upload(endpoint = `http://storage.localhost:${new URL(server.url).port}`): Promise<unknown> {
  const secrets = { accessKeyId: 'AK', accessKeySecret: 'SK', securityToken: 'ST' };
  const token = { objectKey: 'inputs/photo.jpg', ...secrets, endpoint, bucket: 'my-bucket', region: 'cn-x' };
  return uploadPath({ token, path, sizeBytes: content.length, contentType: 'image/jpeg' });
}

describe('an answer of HTTP 200 to the PUT of an upload', () => {
  it.each<[string, typeof answer]>([
    ['has no ETag', (_request, response) => response.writeHead(200).end()],
    [
      'is a page, with an ETag of its own',
      (_request, response) =>
        response.writeHead(200, { 'content-type': 'text/html', etag: 'W/"4-x"' }).end('<html>sign in</html>'),
    ],
    [
      'has the MD5 of another content as its ETag',
      (_request, response) =>
        response.writeHead(200, { etag: `"${createHash('md5').update('x').digest('hex')}"` }).end(),
    ],
  ])('that %s is none of a storage', async (_what, given) => {
    answer = given;
    expect(await upload().catch((error: unknown) => error)).toMatchObject({ code: 'NO_STORAGE', isRetryable: true });
  });

  it.each([
    ['is its MD5', { etag: `"${createHash('md5').update(content).digest('hex').toUpperCase()}"` }],
    ['says nothing of it', { etag: '"any-form"' }],
    ...['x-amz-server-side-encryption', 'x-oss-server-side-encryption'].map((header): [string, object] => [
      `is another hash, as of what ${header} encrypts`,
      { etag: '"0123456789abcdef0123456789abcdef"', [header]: header.startsWith('x-amz') ? 'aws:kms' : 'KMS' },
    ]),
  ])('says nothing against it in an ETag that %s', async (_what, headers) => {
    answer = (_request, response) => response.writeHead(200, { ...headers }).end();
    expect(await upload()).toMatchObject({ bytes: content.length });
  });

  it('of which none has ever come is the fault of the token', async () => {
    expect(await upload('http://wrong.localhost:1').catch((error: unknown) => error)).toMatchObject({
      code: 'NO_STORAGE',
      isRetryable: true,
    });
  });
});
