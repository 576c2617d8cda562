import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { StorageError, UploadError } from '../../../src/storage/errors';
import { uploadInput, type UploadInput, type UploadTarget } from '../../../src/storage/upload';
import { eventually } from '../../support/eventually';
import { startHttpServer, type ReceivedRequest, type TestHttpServer } from '../../support/start-http-server';
import { startRawServer } from '../../support/start-raw-server';
import { temporaryFolder } from '../../support/temporary-folder';

const folder = temporaryFolder();
const secrets = { accessKeyId: 'AKIDSECRET', accessKeySecret: 'SK-SECRET', securityToken: 'ST-SECRET' };
const content = randomBytes(3 * 1024 * 1024);
const file = join(folder.path, 'photo.jpg');

let server: TestHttpServer;
let answer: (request: ReceivedRequest, response: ServerResponse) => void;

beforeAll(async () => {
  writeFileSync(file, content);
  server = await startHttpServer((request, response) => {
    answer(request, response);
  });
});
beforeEach(() => {
  answer = (_request, response) => response.writeHead(200, { etag: '"x"' }).end();
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

function tokenFor(port: number | string, change: Partial<UploadTarget> = {}): UploadTarget {
  return {
    objectKey: 'inputs/2026/ä photo+1.jpg',
    ...secrets,
    endpoint: `http://oss-cn-x.localhost:${port}`,
    bucket: 'my-bucket',
    region: 'oss-cn-x',
    ...change,
  };
}

function upload(change: Partial<UploadInput> = {}): Promise<unknown> {
  const token = tokenFor(new URL(server.url).port);
  return uploadInput({ token, body: file, sizeBytes: content.length, contentType: 'image/jpeg', ...change });
}

async function failureOf(promise: Promise<unknown>): Promise<UploadError> {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  if (!(error instanceof UploadError)) throw new Error('expected an UploadError', { cause: error });
  return error;
}

function s3Error(status: number, code: string, more = '') {
  return (_request: ReceivedRequest, response: ServerResponse): void => {
    const message = `quoted ${Object.values(secrets).join(' ')}`;
    response
      .writeHead(status, { 'content-type': 'application/xml', connection: 'close' })
      .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>${message}</Message>${more}</Error>`);
  };
}

describe('the PUT on the wire', () => {
  it('is what OSS accepts: one plain body of a known length, unsigned, without checksum headers', async () => {
    const progress: number[] = [];
    const uploaded = await upload({ onProgress: (bytes) => progress.push(bytes) });
    const { method, url, headers, bytes } = server.requests.at(-1)!;
    expect(method).toBe('PUT');
    expect(url).toBe('/inputs/2026/%C3%A4%20photo%2B1.jpg?x-id=PutObject');
    expect(headers).toMatchObject({
      host: `my-bucket.oss-cn-x.localhost:${new URL(server.url).port}`,
      'content-length': String(content.length),
      'content-type': 'image/jpeg',
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      'x-amz-security-token': secrets.securityToken,
    });
    const names = Object.keys(headers);
    expect(
      names.filter((name) => /checksum|crc|trailer|decoded-content|transfer-encoding|content-encoding/.test(name)),
    ).toEqual([]);
    expect(headers.authorization).toMatch(/Credential=AKIDSECRET\/\d{8}\/cn-x\/s3\/aws4_request/);
    expect(headers.authorization).toMatch(/SignedHeaders=[^,]*host[^,]*x-amz-security-token/);
    expect(bytes.equals(content)).toBe(true);
    expect(uploaded).toEqual({
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    });
    expect(progress.at(-1)).toBe(content.length);
    expect(progress.length).toBeGreaterThan(1);
  });

  it('is sent once, whatever the answer', async () => {
    const before = server.requests.length;
    answer = s3Error(503, 'SlowDown');
    await failureOf(upload());
    expect(server.requests).toHaveLength(before + 1);
  });

  it('is never path style: a bucket that cannot be a host name is refused before anything is sent', async () => {
    const before = server.requests.length;
    const { port } = new URL(server.url);
    for (const change of [{ bucket: 'Odd_Bucket' }, { endpoint: `http://127.0.0.1:${port}` }]) {
      expect(await failureOf(upload({ token: tokenFor(port, change) }))).toMatchObject({ code: 'ENDPOINT_UNUSABLE' });
    }
    expect(server.requests).toHaveLength(before);
  });

  it('does not depend on the AWS settings of the environment', async () => {
    const names = ['AWS_REGION', 'AWS_ENDPOINT_URL', 'AWS_USE_FIPS_ENDPOINT', 'AWS_REQUEST_CHECKSUM_CALCULATION'];
    const values = ['eu-x-1', 'http://127.0.0.1:1', 'true', 'WHEN_SUPPORTED'];
    names.forEach((name, index) => (process.env[name] = values[index]));
    try {
      await upload();
    } finally {
      for (const name of names) Reflect.deleteProperty(process.env, name);
    }
    expect(server.requests.at(-1)!.headers).toMatchObject({ 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' });
  });
});

describe('a refusal by the storage', () => {
  it.each([
    ...['InvalidToken', 'InvalidSecurityToken', 'InvalidAccessKeyId', 'ExpiredToken', 'SecurityTokenExpired'].map(
      (code) => [403, code, 'CREDENTIALS_EXPIRED', true] as const,
    ),
    [400, 'InvalidToken', 'CREDENTIALS_EXPIRED', true],
    [403, 'AccessDenied', 'UPLOAD_REFUSED', false],
    [403, 'SignatureDoesNotMatch', 'UPLOAD_REFUSED', false],
    [403, 'SecondLevelDomainForbidden', 'UPLOAD_REFUSED', false],
    [404, 'NoSuchBucket', 'UPLOAD_REFUSED', false],
    [400, 'AuthorizationHeaderMalformed', 'UPLOAD_REFUSED', false],
    [409, 'FileAlreadyExists', 'OBJECT_EXISTS', true],
    [412, 'PreconditionFailed', 'OBJECT_EXISTS', true],
    [500, 'InternalError', 'UPLOAD_UNAVAILABLE', true],
    [503, 'SlowDown', 'UPLOAD_UNAVAILABLE', true],
    [400, 'RequestTimeout', 'UPLOAD_UNAVAILABLE', true],
    [429, 'TooManyRequests', 'UPLOAD_UNAVAILABLE', true],
  ] as const)('of HTTP %i %s is %s', async (status, storageCode, code, isRetryable) => {
    answer = s3Error(status, storageCode);
    expect(await failureOf(upload())).toMatchObject({ code, isRetryable, storageCode, httpStatus: status });
  });

  it('that is no XML is known by its status', async () => {
    answer = (_request, response) => response.writeHead(502).end('<html>');
    expect(await failureOf(upload())).toMatchObject({ code: 'UPLOAD_UNAVAILABLE', httpStatus: 502 });
  });

  it('says in plain words that the account takes no S3-compatible signatures', async () => {
    answer = s3Error(400, 'InvalidArgument', '<EC>0002-00000031</EC>');
    const { message } = await failureOf(upload());
    expect(message).toContain('does not accept S3-compatible V4 signatures');
  });
});

describe('a connection that fails', () => {
  const fast = { connectMs: 300, idleMs: 300 };

  it.each([
    ['a reset', (socket: { resetAndDestroy: () => unknown }) => socket.resetAndDestroy()],
    ['an end', (socket: { destroy: () => unknown }) => socket.destroy()],
    ['rubbish', (socket: { end: (text: string) => unknown }) => socket.end('rubbish\r\n\r\n')],
  ])('by %s amid the upload leaves it unknown', async (_name, onFirstBytes) => {
    const raw = await startRawServer({ onFirstBytes });
    const error = await failureOf(upload({ token: tokenFor(raw.port) }));
    expect(error).toMatchObject({ code: 'UPLOAD_UNAVAILABLE', isRetryable: true });
    await raw.close();
  });

  it('because nobody answers ends after the idle time', async () => {
    const raw = await startRawServer({});
    const error = await failureOf(upload({ token: tokenFor(raw.port), timeouts: fast }));
    expect(error).toMatchObject({ code: 'UPLOAD_UNAVAILABLE' });
    await raw.close();
  });

  it('because nobody listens is retryable', async () => {
    expect(await failureOf(upload({ token: tokenFor(1) }))).toMatchObject({ code: 'UPLOAD_UNAVAILABLE' });
  });

  it('is told apart from an abort by the caller, who gets the reason back', async () => {
    const raw = await startRawServer({});
    const abort = new AbortController();
    const reason = new Error('stop');
    const pending = upload({ token: tokenFor(raw.port), signal: abort.signal }).catch((error: unknown) => error);
    await eventually(() => raw.received() !== '');
    abort.abort(reason);
    expect(await pending).toBe(reason);
    await expect(upload({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    await raw.close();
  });
});

describe('a file that changes', () => {
  const size = 40 * 1024 * 1024;
  let path: string;

  beforeEach(() => {
    path = join(folder.path, `changing-${randomBytes(4).toString('hex')}`);
    writeFileSync(path, Buffer.alloc(size));
  });

  it.each<[string, () => void]>([
    [
      'shrinks',
      () => {
        truncateSync(path, 1024);
      },
    ],
    [
      'grows',
      () => {
        appendFileSync(path, 'more');
      },
    ],
    [
      'is written to',
      () => {
        writeFileSync(path, Buffer.alloc(size, 1));
      },
    ],
  ])('because it %s during the upload is noticed', async (_name, change) => {
    let isChanged = false;
    const error = await failureOf(
      upload({
        body: path,
        sizeBytes: size,
        onProgress: () => {
          if (!isChanged) change();
          isChanged = true;
        },
      }),
    );
    expect(error).toMatchObject({ code: 'FILE_CHANGED', isRetryable: false });
  });

  it('before the upload is noticed, and nothing is sent', async () => {
    const before = server.requests.length;
    appendFileSync(path, 'more');
    expect(await failureOf(upload({ body: path, sizeBytes: size }))).toMatchObject({ code: 'FILE_CHANGED' });
    renameSync(path, `${path}.away`);
    expect(await failureOf(upload({ body: path, sizeBytes: size }))).toMatchObject({ code: 'FILE_CHANGED' });
    symlinkSync(file, path);
    expect(await failureOf(upload({ body: path, sizeBytes: content.length }))).toMatchObject({ code: 'FILE_CHANGED' });
    expect(server.requests).toHaveLength(before);
  });
});

describe('no credential is in an error of an upload', () => {
  it.each<[string, typeof answer]>([
    [
      'a refusal that quotes them',
      s3Error(
        403,
        'SignatureDoesNotMatch',
        `<AWSAccessKeyId>AKIDSECRET</AWSAccessKeyId><StringToSign>ST-SECRET SK-SECRET</StringToSign>`,
      ),
    ],
    ['a refusal that is no XML', (_request, response) => response.writeHead(403).end(Object.values(secrets).join(' '))],
    ['a code that quotes them', s3Error(400, 'AKIDSECRET')],
    ['a reset', (_request, response) => response.socket?.resetAndDestroy()],
    ['rubbish', (_request, response) => response.socket?.end(Object.values(secrets).join('\r\n'))],
  ])('after %s', async (_name, behaviour) => {
    answer = behaviour;
    const error: unknown = await upload().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(StorageError);
    const shown = `${String((error as Error).stack)}${JSON.stringify(error)}${inspect(error, { depth: 20, showHidden: true })}`;
    expect(Object.values(secrets).filter((secret) => shown.includes(secret))).toEqual([]);
  });
});
