import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { StorageError, UploadError } from '../../../src/storage/errors';
import type { UploadToken } from '../../../src/storage/upload-client';
import { answerUpload } from '../../support/answer-upload';
import { eventually } from '../../support/eventually';
import { startHttpServer, type ReceivedRequest, type TestHttpServer } from '../../support/start-http-server';
import { startRawServer } from '../../support/start-raw-server';
import { temporaryFolder } from '../../support/temporary-folder';
import { type PathUpload, tokenFor, tokenSecrets as secrets, uploadPath } from '../../support/upload-path';

const folder = temporaryFolder();
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

function tokenAt(port: number | string, change: Partial<UploadToken> = {}): UploadToken {
  return tokenFor(`http://oss-cn-x.localhost:${port}`, { objectKey: 'inputs/2026/ä photo+1.jpg', ...change });
}

function upload(change: Partial<PathUpload> = {}): Promise<unknown> {
  const token = tokenAt(new URL(server.url).port);
  return uploadPath({ token, path: file, sizeBytes: content.length, contentType: 'image/jpeg', ...change });
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

  it('is never path style at a named host: a bucket that cannot be a host name is refused before anything is sent', async () => {
    const before = server.requests.length;
    const { port } = new URL(server.url);
    const token = tokenAt(port, { bucket: 'Odd_Bucket' });
    expect(await failureOf(upload({ token }))).toMatchObject({ code: 'ENDPOINT_UNUSABLE' });
    expect(server.requests).toHaveLength(before);
  });

  it('is path style at an IP address, which has no host names under it', async () => {
    const { port } = new URL(server.url);
    await upload({ token: tokenAt(port, { endpoint: `http://127.0.0.1:${port}` }) });
    const { url, headers } = server.requests.at(-1)!;
    expect(url).toBe('/my-bucket/inputs/2026/%C3%A4%20photo%2B1.jpg?x-id=PutObject');
    expect(headers.host).toBe(`127.0.0.1:${port}`);
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

describe('a clock that is wrong', () => {
  const hour = 3_600_000;

  /** A storage whose clock is so far ahead; it takes what is signed for within a quarter of an hour of it. */
  function clockedAnswer(aheadMs: number, refused: string[]) {
    return ({ url, method, headers }: ReceivedRequest, response: ServerResponse): void => {
      const nowMs = Date.now() + aheadMs;
      response.sendDate = false;
      response.setHeader('date', new Date(nowMs).toUTCString());
      const [, ...parts] = /^(....)(..)(..T..)(..)(..Z)$/.exec(String(headers['x-amz-date'])) ?? [];
      const [year = '', month = '', day = '', minute = '', second = ''] = parts;
      const signedMs = Date.parse(`${year}-${month}-${day}:${minute}:${second}`);
      if (Math.abs(nowMs - signedMs) < hour / 4) {
        answerUpload({ url, method }, response);
        return;
      }
      refused.push(method);
      response
        .writeHead(403, { 'content-type': 'application/xml', connection: 'close' })
        .end('<Error><Code>RequestTimeTooSkewed</Code><Message>The difference is too large.</Message></Error>');
    };
  }

  it.each([
    ['behind', 3 * hour],
    ['ahead', -3 * hour],
  ])('by three hours %s is corrected by the date of the storage, once', async (_how, aheadMs) => {
    const endpoint = `http://clock${aheadMs}.localhost:${new URL(server.url).port}`;
    const token = tokenAt(0, { endpoint });
    const refused: string[] = [];
    answer = clockedAnswer(aheadMs, refused);
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect(await upload({ token })).toEqual({ bytes: content.length, sha256 });
    expect(refused).toEqual(['PUT']);
    await upload({ token });
    expect(refused).toEqual(['PUT']);
  });

  it('is corrected for an upload in parts, too', async () => {
    const token = tokenAt(0, { endpoint: `http://clock-parts.localhost:${new URL(server.url).port}` });
    const refused: string[] = [];
    answer = clockedAnswer(3 * hour, refused);
    await upload({ token, parts: { aboveBytes: 1, partBytes: 1024 * 1024, parallel: 2, attempts: 1, pauseMs: 1 } });
    expect(refused).toEqual(['POST']);
  });

  it('that the storage does not correct is worth another try', async () => {
    answer = s3Error(403, 'RequestTimeTooSkewed');
    expect(await failureOf(upload())).toMatchObject({ code: 'UPLOAD_UNAVAILABLE', isRetryable: true });
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
    [501, 'NotImplemented', 'UPLOAD_REFUSED', false],
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
    const error = await failureOf(upload({ token: tokenAt(raw.port) }));
    expect(error).toMatchObject({ code: 'UPLOAD_UNAVAILABLE', isRetryable: true });
    await raw.close();
  });

  it('because nobody answers ends after the idle time', async () => {
    const raw = await startRawServer({});
    const error = await failureOf(upload({ token: tokenAt(raw.port), timeouts: fast }));
    expect(error).toMatchObject({ code: 'UPLOAD_UNAVAILABLE' });
    await raw.close();
  });

  it('because nobody listens is retryable', async () => {
    expect(await failureOf(upload({ token: tokenAt(1) }))).toMatchObject({ code: 'UPLOAD_UNAVAILABLE' });
  });

  it('is told apart from an abort by the caller, who gets the reason back', async () => {
    const raw = await startRawServer({});
    const abort = new AbortController();
    const reason = new Error('stop');
    const pending = upload({ token: tokenAt(raw.port), signal: abort.signal }).catch((error: unknown) => error);
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

  it.each([
    ['shrinks', Buffer.alloc(1_024)],
    ['grows', Buffer.alloc(size + 4)],
    ['is written to', Buffer.alloc(size, 1)],
  ])('because it %s during the upload is noticed', async (_name, changed) => {
    let isChanged = false;
    const onProgress = (): void => {
      if (!isChanged) writeFileSync(path, changed);
      isChanged = true;
    };
    expect(await failureOf(upload({ path, sizeBytes: size, onProgress }))).toMatchObject({
      code: 'FILE_CHANGED',
      isRetryable: false,
    });
  });

  it('before the upload is noticed, and nothing is sent', async () => {
    const before = server.requests.length;
    appendFileSync(path, 'more');
    expect(await failureOf(upload({ path, sizeBytes: size }))).toMatchObject({ code: 'FILE_CHANGED' });
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
