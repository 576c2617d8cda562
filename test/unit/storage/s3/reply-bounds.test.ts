import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UploadError } from '../../../../src/storage/errors';
import { S3Archive } from '../../../../src/storage/archive/s3-archive';
import { S3Bucket } from '../../../../src/storage/s3/s3-bucket';
import { createArchiveClient } from '../../../../src/storage/s3/s3-client';
import { eventually } from '../../../support/eventually';
import { type ReceivedRequest, startHttpServer, type TestHttpServer } from '../../../support/start-http-server';
import { temporaryFolder } from '../../../support/temporary-folder';
import { tokenFor, uploadPath } from '../../../support/upload-path';

const folder = temporaryFolder();
const path = join(folder.path, 'photo.jpg');
let server: TestHttpServer;
let answer: (request: ReceivedRequest, response: ServerResponse) => void;
let sentBytes = 0;
let openAnswers = 0;

beforeAll(async () => {
  writeFileSync(path, 'photo');
  server = await startHttpServer((request, response) => {
    answer(request, response);
  });
});
beforeEach(() => {
  sentBytes = 0;
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

const kibibyte = 1024;
/** Where the test ends what would go on for ever. */
const enoughBytes = 200 * 1024 * kibibyte;

/** Whether every answer was broken off before it had much; what the two ends of a connection hold is sent, too. */
async function areBrokenOff(): Promise<boolean> {
  await eventually(() => openAnswers === 0);
  return sentBytes < 40 * 1024 * kibibyte;
}

/** Sends a body for as long as somebody takes it. */
function endless(response: ServerResponse, status: number, headers = {}): void {
  openAnswers += 1;
  response.writeHead(status, headers).once('close', () => (openAnswers -= 1));
  const send = (): void => {
    while (!response.destroyed && sentBytes < enoughBytes) {
      sentBytes += 64 * kibibyte;
      if (!response.write(Buffer.alloc(64 * kibibyte, 'x'))) return;
    }
    response.end();
  };
  response.on('drain', send);
  send();
}

/** What an upload of five bytes brings, or fails with. */
async function upload(aboveBytes = 100, endpoint = server.url): Promise<unknown> {
  const parts = { aboveBytes, partBytes: 5 * 1024 * kibibyte, parallel: 1, attempts: 1, pauseMs: 1 };
  const input = { token: tokenFor(endpoint), path, sizeBytes: 5, contentType: 'image/jpeg', parts };
  return await uploadPath(input).catch((error: unknown) => error);
}

function client() {
  const keys = { accessKeyId: 'AKID', secretAccessKey: 'SK' };
  return createArchiveClient(true, { region: 'r', endpoint: server.url, keys });
}

const longer = /the answer is longer than \d+ bytes/;

describe('an answer of a storage that does not end', () => {
  it.each([200, 400, 500])(
    'is not kept in memory when a file is put (HTTP %d): the upload is tried again',
    async (status) => {
      answer = (_request, response) => {
        endless(response, status, { etag: '"a"' });
      };
      const error = await upload();

      expect(error).toBeInstanceOf(UploadError);
      expect(error).toMatchObject({ code: 'NO_STORAGE', message: expect.stringMatching(longer) as string });
      expect(await areBrokenOff()).toBe(true);
    },
  );

  it('is not kept in memory when an upload in parts begins', async () => {
    answer = (_request, response) => {
      endless(response, 200);
    };
    expect(String(await upload(1))).toMatch(longer);
    expect(await areBrokenOff()).toBe(true);
  });

  it('is not kept in memory when an archive lists, looks, writes or reads', async () => {
    answer = ({ method }, response) => {
      endless(response, method === 'GET' ? 200 : 500, { etag: '"a"' });
    };
    const bucket = new S3Bucket(client(), 'b');
    await expect(bucket.list('').next()).rejects.toThrow(longer);
    sentBytes = 0;
    await expect(bucket.put('a', { content: 'x', contentType: 'text/plain', metadata: {} })).rejects.toThrow(longer);
    sentBytes = 0;
    await expect(bucket.remove('a')).rejects.toThrow(longer);
    answer = (_request, response) => {
      endless(response, 403);
    };
    sentBytes = 0;
    await expect(bucket.read('a')).rejects.toThrow(longer);
    expect(await areBrokenOff()).toBe(true);
  });
});

describe('an answer of HTTP 200 to the PUT of an upload', () => {
  const md5Of = (text: string): string => createHash('md5').update(text).digest('hex');

  it.each<[string, typeof answer]>([
    ['has no ETag', (_request, response) => response.writeHead(200).end()],
    [
      'is a page, with an ETag of its own',
      (_request, response) =>
        response.writeHead(200, { 'content-type': 'text/html', etag: 'W/"4-x"' }).end('<html>sign in</html>'),
    ],
    [
      'has the MD5 of another content as its ETag',
      (_request, response) => response.writeHead(200, { etag: `"${md5Of('x')}"` }).end(),
    ],
  ])('that %s is none of a storage', async (_what, given) => {
    answer = given;
    expect(await upload()).toMatchObject({ code: 'NO_STORAGE', isRetryable: true });
  });

  it.each([
    ['is its MD5', { etag: `"${md5Of('photo').toUpperCase()}"` }],
    ['says nothing of it', { etag: '"any-form"' }],
    ...['x-amz-server-side-encryption', 'x-oss-server-side-encryption'].map((header): [string, object] => [
      `is another hash, as of what ${header} encrypts`,
      { etag: '"0123456789abcdef0123456789abcdef"', [header]: header.startsWith('x-amz') ? 'aws:kms' : 'KMS' },
    ]),
  ])('says nothing against it in an ETag that %s', async (_what, headers) => {
    answer = (_request, response) => response.writeHead(200, { ...headers }).end();
    expect(await upload()).toMatchObject({ bytes: 5 });
  });

  it('of which none has ever come is the fault of the token', async () => {
    expect(await upload(100, 'http://wrong.localhost:1')).toMatchObject({ code: 'NO_STORAGE', isRetryable: true });
  });
});

describe('a list of a bucket', () => {
  it('has nothing of another prefix, even where the storage was not told of any', async () => {
    const contents = ['other/r/0.png', 'site/r/0.png'].map(
      (key) => `<Contents><Key>${key}</Key><Size>3</Size></Contents>`,
    );
    answer = (_request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(`<ListBucketResult><Name>b</Name><IsTruncated>false</IsTruncated>${contents.join('')}</ListBucketResult>`);
    const archive = new S3Archive({ client: client(), bucket: 'b', prefix: 'site', spoolFolder: folder.path });
    const names: string[] = [];
    for await (const { name } of archive.list('')) names.push(name);
    expect(names).toEqual(['r/0.png']);
  });
});

describe('an object of an archive', () => {
  it('may be longer than any other answer', async () => {
    const content = Buffer.alloc(30 * 1024 * kibibyte, 'x');
    answer = (_request, response) =>
      response.writeHead(200, { etag: '"a"', 'content-length': content.length }).end(content);
    const archive = new S3Archive({ client: client(), bucket: 'b', prefix: '', spoolFolder: folder.path });

    const opened = await archive.open('a.png');
    let bytes = 0;
    for await (const chunk of opened?.content ?? []) bytes += (chunk as Buffer).length;

    expect(bytes).toBe(content.length);
  });
});
