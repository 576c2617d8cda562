import { createHash, randomBytes } from 'node:crypto';
import { truncateSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultPartPlan } from '../../../src/storage/s3/put-object';
import type { Measure } from '../../../src/storage/hash';
import { answerUpload } from '../../support/answer-upload';
import { startHttpServer, type ReceivedRequest, type TestHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';
import { type PathUpload, tokenFor, tokenSecrets as secrets, uploadPath } from '../../support/upload-path';

const folder = temporaryFolder();
const partBytes = 1024 * 1024;
const content = randomBytes(5 * partBytes + 17);
const file = join(folder.path, 'film.mp4');
const parts = { ...defaultPartPlan, aboveBytes: partBytes, partBytes, parallel: 3, pauseMs: 1 };

let server: TestHttpServer;
let seenBefore: number;
/** Says something else than that all is well, and whether it did. */
let answer: (request: ReceivedRequest, response: ServerResponse) => boolean;

beforeAll(async () => {
  writeFileSync(file, content);
  server = await startHttpServer((request, response) => {
    if (!answer(request, response)) answerUpload(request, response);
  });
});
beforeEach(() => {
  seenBefore = server.requests.length;
  answer = () => false;
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

function requests(): readonly ReceivedRequest[] {
  return server.requests.slice(seenBefore);
}

/** What was asked for, in words: `POST uploads`, `PUT 3`, `POST complete`, `DELETE abort`. */
function asked(): string[] {
  return requests().map(({ method, url }) => {
    const { searchParams } = new URL(url, 'http://bucket');
    if (searchParams.has('uploads')) return `${method} uploads`;
    if (!searchParams.has('uploadId')) return `${method} whole`;
    if (method === 'DELETE') return 'DELETE abort';
    return searchParams.has('partNumber') ? `PUT ${searchParams.get('partNumber') ?? ''}` : 'POST complete';
  });
}

function upload(change: Partial<PathUpload> = {}): Promise<Measure> {
  const { port } = new URL(server.url);
  const token = tokenFor(`http://oss-cn-x.localhost:${port}`);
  return uploadPath({ token, path: file, sizeBytes: content.length, contentType: 'video/mp4', parts, ...change });
}

/** Refuses the requests that were asked for in these words, so many times. */
function refuse(words: string, status: number, code: string, times = Number.POSITIVE_INFINITY): void {
  let left = times;
  answer = (_request, response) => {
    if (asked().at(-1) !== words || left <= 0) return false;
    left -= 1;
    response.writeHead(status, { 'content-type': 'application/xml' }).end(`<Error><Code>${code}</Code></Error>`);
    return true;
  };
}

describe('the parts on the wire', () => {
  it('are the whole file, each a plain body of a known length, listed in their order at the end', async () => {
    const progress: number[] = [];
    const uploaded = await upload({ onProgress: (bytes) => progress.push(bytes) });

    expect(uploaded).toEqual({ bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') });
    expect([asked().at(0), asked().at(-1)]).toEqual(['POST uploads', 'POST complete']);
    const numbers = ['1', '2', '3', '4', '5', '6'];
    const puts = numbers.map((number) => `PUT ${number}`);
    expect(asked().sort()).toEqual(['POST complete', 'POST uploads', ...puts]);
    const bodies = puts.map((put) => requests()[asked().indexOf(put)]!.bytes);
    expect(bodies.map(({ length }) => length)).toEqual([...Array.from({ length: 5 }, () => partBytes), 17]);
    expect(Buffer.concat(bodies).equals(content)).toBe(true);
    const list = requests().at(-1)!.body;
    expect([...list.matchAll(/<PartNumber>(\d)</g)].map(([, number]) => number)).toEqual(numbers);
    expect([...list.matchAll(/part-(\d)/g)].map(([, number]) => number)).toEqual(numbers);
    expect(progress.at(-1)).toBe(content.length);
  });

  it('are what OSS accepts, each signed with the token, which stands in a header and never in a URL', async () => {
    await upload();
    for (const { url, headers, method } of requests()) {
      expect(headers.host).toBe(`my-bucket.oss-cn-x.localhost:${new URL(server.url).port}`);
      expect(headers['x-amz-security-token']).toBe(secrets.securityToken);
      expect(headers.authorization).toMatch(/Credential=AKIDSECRET\/\d{8}\/cn-x\/s3\/aws4_request/);
      expect(Object.values(secrets).filter((secret) => url.includes(secret))).toEqual([]);
      const odd = /checksum|crc|trailer|decoded-content|content-encoding|transfer-encoding/;
      expect(Object.keys(headers).filter((name) => odd.test(name))).toEqual([]);
      expect(method !== 'PUT' || headers['x-amz-content-sha256'] === 'UNSIGNED-PAYLOAD').toBe(true);
    }
    expect(requests()[0]!.headers['content-type']).toBe('video/mp4');
  });

  it.each(['POST uploads', 'POST complete'])(
    'are sent once when the storage cannot take %s for now',
    async (request) => {
      refuse(request, 503, 'SlowDown', 2);
      await upload();
      expect(asked().filter((one) => one === request)).toHaveLength(3);
      expect(asked()).toHaveLength(6 + 2 + 2);
    },
  );

  it('are not used for a small file', async () => {
    await upload({ parts: { ...parts, aboveBytes: content.length } });
    expect(asked()).toEqual(['PUT whole']);
  });

  it('are never more at a time than planned', async () => {
    let open = 0;
    let most = 0;
    answer = (_request, response) => {
      open += 1;
      most = Math.max(most, open);
      response.once('finish', () => (open -= 1));
      return false;
    };
    await upload();
    expect(most).toBeLessThanOrEqual(parts.parallel);
  });
});

describe('a part that fails', () => {
  it.each([
    [503, 'SlowDown'],
    [500, 'InternalError'],
  ])('for the moment (HTTP %i %s) is sent again, and the others are not', async (status, code) => {
    refuse('PUT 2', status, code, 2);
    expect(await upload()).toMatchObject({ bytes: content.length });
    expect(asked().filter((words) => words === 'PUT 2')).toHaveLength(3);
    expect(asked().filter((words) => words === 'PUT 3')).toHaveLength(1);
  });

  it('by a reset of its connection is sent again', async () => {
    let resets = 0;
    answer = (_request, response) => {
      if (asked().at(-1) !== 'PUT 4' || resets > 0) return false;
      resets += 1;
      response.socket?.resetAndDestroy();
      return true;
    };
    expect(await upload()).toMatchObject({ bytes: content.length });
    expect(asked().filter((words) => words === 'PUT 4')).toHaveLength(2);
  });

  it('again and again ends the upload, which is aborted so that no part is kept', async () => {
    refuse('PUT 2', 503, 'SlowDown');
    await expect(upload()).rejects.toMatchObject({ code: 'UPLOAD_UNAVAILABLE', storageCode: 'SlowDown' });
    expect(asked().filter((words) => words === 'PUT 2')).toHaveLength(parts.attempts);
    // A part on its way, given up with the others, may arrive after it.
    expect(asked()).toContain('DELETE abort');
    expect(asked()).not.toContain('POST complete');
  });

  it('because the credentials ended asks for fresh ones at once', async () => {
    refuse('PUT 2', 403, 'SecurityTokenExpired');
    await expect(upload()).rejects.toMatchObject({ code: 'CREDENTIALS_EXPIRED', isRetryable: true });
    expect(asked().filter((words) => words === 'PUT 2')).toHaveLength(1);
    // A part on its way, given up with the others, may arrive after it.
    expect(asked()).toContain('DELETE abort');
    expect(asked()).not.toContain('POST complete');
  });

  it('does so too when the credentials may not abort', async () => {
    answer = ({ method }, response) => {
      const isRefused = method === 'DELETE' || asked().at(-1) === 'PUT 2';
      if (isRefused) response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>');
      return isRefused;
    };
    await expect(upload()).rejects.toMatchObject({ code: 'UPLOAD_REFUSED', storageCode: 'AccessDenied' });
  });
});

describe('an upload in parts', () => {
  it('that fails only at its last request is aborted, although that was answered with HTTP 200', async () => {
    answer = (_request, response) => {
      if (asked().at(-1) !== 'POST complete') return false;
      response.writeHead(200).end('<?xml version="1.0"?><Error><Code>InternalError</Code></Error>');
      return true;
    };
    await expect(upload()).rejects.toMatchObject({ code: 'UPLOAD_UNAVAILABLE' });
    expect(asked().at(-1)).toBe('DELETE abort');
  });

  it.each([
    [403, 'AccessDenied'],
    [501, 'NotImplemented'],
  ])('that the storage refuses to begin (HTTP %i %s) goes as one PUT', async (status, code) => {
    refuse('POST uploads', status, code);
    expect(await upload()).toEqual({
      bytes: content.length,
      sha256: createHash('sha256').update(content).digest('hex'),
    });
    expect(asked()).toEqual(['POST uploads', 'PUT whole']);
  });

  it('is aborted with the reason of the caller, and at the storage', async () => {
    const abort = new AbortController();
    const reason = new Error('stop');
    answer = () => {
      if (asked().at(-1) === 'PUT 2') abort.abort(reason);
      return false;
    };
    await expect(upload({ signal: abort.signal })).rejects.toBe(reason);
    // Another part that was on its way may be read after it.
    expect(asked()).toContain('DELETE abort');
    expect(asked()).not.toContain('POST complete');
  });

  it('notices a file that shrinks meanwhile, and keeps nothing of it', async () => {
    const shrinking = join(folder.path, 'shrinking.mp4');
    writeFileSync(shrinking, content);
    answer = () => {
      if (asked().at(-1) === 'POST uploads') truncateSync(shrinking, partBytes + 5);
      return false;
    };
    await expect(upload({ path: shrinking })).rejects.toMatchObject({ code: 'FILE_CHANGED', isRetryable: false });
    expect(asked()).toContain('DELETE abort');
    expect(asked()).not.toContain('POST complete');
  });

  it.each([
    ['EIO', 'in parts', parts],
    ['ESTALE', 'in one piece', { ...parts, aboveBytes: content.length }],
  ])('may be tried again when its disk fails meanwhile (%s, %s): it has not changed', async (code, _how, plan) => {
    const opened = await open(file);
    const sent = upload({ parts: plan, file: failingAfterFirstRead(opened, code) });
    await expect(sent).rejects.toMatchObject({
      ...{ code: 'FILE_UNREADABLE', isRetryable: true },
      message: expect.stringContaining(`cannot be read any more (${code})`) as string,
    });
    await opened.close();
  });
});

/** An open file of which all reads but the first fail. */
function failingAfterFirstRead(opened: FileHandle, code: string): FileHandle {
  let reads = 0;
  const read = async (...args: Parameters<FileHandle['read']>): Promise<unknown> => {
    reads += 1;
    if (reads > 1) throw Object.assign(new Error(code), { code });
    return await opened.read(...args);
  };
  return new Proxy(opened, {
    get: (handle, name) => {
      const value: unknown = name === 'read' ? read : Reflect.get(handle, name);
      return typeof value === 'function' ? (value.bind(handle) as unknown) : value;
    },
  });
}
