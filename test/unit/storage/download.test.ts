import { createHash } from 'node:crypto';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { inspect } from 'node:util';
import type { Dispatcher } from 'undici';
import { createDownloadAgent, download, type DownloadOptions } from '../../../src/storage/download';
import { DownloadError, UnprovenEndError } from '../../../src/storage/errors';
import { loopbackRule } from '../../support/loopback-rule';
import { eventually } from '../../support/eventually';
import { startHttpServer, type TestHttpServer } from '../../support/start-http-server';

let server: TestHttpServer;
let dispatcher: Dispatcher;
let link: string;
let answer: (path: string, response: ServerResponse) => void;

beforeAll(async () => {
  server = await startHttpServer(({ url }, response) => {
    answer(url, response);
  });
  dispatcher = createDownloadAgent(loopbackRule, { connectMs: 1_000, idleMs: 30_000 });
  link = `http://bucket.oss-cn-x.localhost:${new URL(server.url).port}/o/1.png?sig=THE-SECRET`;
});
afterAll(async () => {
  await dispatcher.close();
  await server.close();
});

async function fetchWhole(options: Partial<DownloadOptions> = {}, url = link): Promise<Buffer> {
  const { body } = await download(url, { dispatcher, ...options });
  return buffer(body);
}

/** Sends a body for as long as somebody takes it. */
function endless(response: ServerResponse, status: number, headers: OutgoingHttpHeaders): void {
  const fill = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(65_536)));
  };
  response.writeHead(status, headers).on('drain', fill);
  fill();
}

describe('download', () => {
  it('gives the bytes and their length, also from a host under localhost', async () => {
    answer = (_path, response) => response.writeHead(200, { 'content-length': 7 }).end('picture');
    const { body, sizeBytes } = await download(link, { dispatcher, expectedBytes: 7 });
    expect(sizeBytes).toBe(7);
    expect((await buffer(body)).toString()).toBe('picture');
    expect(server.requests.at(-1)!.url).toBe('/o/1.png?sig=THE-SECRET');
  });

  it('says what is wrong with a link of 8,000 characters', async () => {
    answer = (_path, response) => response.writeHead(403).end();
    const long = link.replace('/o/', `/${'a'.repeat(8_000)}/`);
    await expect(fetchWhole({}, long)).rejects.toThrow(/a… is no longer valid \(HTTP 403\)$/);
  });

  it('gives no length where the storage says none', async () => {
    answer = (_path, response) => {
      response.write('pic');
      response.end('ture');
    };
    const { body, sizeBytes } = await download(link, { dispatcher });
    expect(sizeBytes).toBeUndefined();
    expect((await buffer(body)).toString()).toBe('picture');
  });

  it.each([403, 404, 410])('asks for fresh links on HTTP %i', async (httpStatus) => {
    answer = (_path, response) => response.writeHead(httpStatus).end('<Error/>');
    await expect(fetchWhole()).rejects.toMatchObject({ code: 'LINK_EXPIRED', httpStatus, isRetryable: true });
  });

  it.each([204, 206, 400, 416, 500, 503])('takes nothing that comes with HTTP %i', async (httpStatus) => {
    answer = (_path, response) => response.writeHead(httpStatus).end();
    await expect(fetchWhole()).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED', httpStatus });
  });

  it('follows three redirects and no more', async () => {
    answer = (path, response) => {
      const left = Number(path.slice(1));
      if (left === 0) response.end('end');
      else response.writeHead(307, { location: `/${left - 1}` }).end();
    };
    expect((await fetchWhole({}, `${server.url}/3`)).toString()).toBe('end');
    await expect(fetchWhole({}, `${server.url}/4`)).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
  });

  it('follows a redirect at once whose own body does not end, and lets go of its connection', async () => {
    let isClosed = false;
    answer = (path, response) => {
      if (path === '/end') {
        response.end('end');
        return;
      }
      endless(
        response.on('close', () => (isClosed = true)),
        302,
        { location: '/end' },
      );
    };
    expect((await fetchWhole({ signal: AbortSignal.timeout(20_000) })).toString()).toBe('end');
    expect(await eventually(() => isClosed, { what: 'the connection to be closed' })).toBe(true);
  });

  it.each(['file:///etc/passwd', 'javascript:alert(1)'])('follows no redirect to %s, and says so', async (location) => {
    answer = (_path, response) => response.writeHead(302, { location }).end();
    await expect(fetchWhole()).rejects.toMatchObject({
      code: 'DOWNLOAD_FAILED',
      message: expect.stringMatching(/^http:.*\/o\/1\.png redirects to what is no http or https URL$/) as string,
    });
  });

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['cut short', (r) => r.writeHead(200, { 'content-length': 9 }).write('x', () => r.destroy())],
    ['reset', (r) => r.writeHead(200, { 'content-length': 9 }).write('x', () => r.socket?.resetAndDestroy())],
    ['cut short in chunks', (r) => r.write('x', () => r.destroy())],
  ])('ends with an error when the body is %s', async (_how, behave) => {
    answer = (_path, response) => behave(response);
    await expect(fetchWhole()).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
  });

  it('ends with an error when the file is not as long as expected', async () => {
    answer = (_path, response) => response.writeHead(200, { 'content-length': 3 }).end('abc');
    await expect(fetchWhole({ expectedBytes: 4 })).rejects.toMatchObject({ code: 'DOWNLOAD_CUT_SHORT' });
    answer = (_path, response) => {
      response.write('a');
      response.end('bc');
    };
    await expect(fetchWhole({ expectedBytes: 4 })).rejects.toMatchObject({ code: 'DOWNLOAD_CUT_SHORT' });
  });

  it.each<[string, Record<string, string>]>([
    ['Content-MD5', { 'content-md5': createHash('md5').update('123456789').digest('base64') }],
    ['CRC-64', { 'x-oss-hash-crc64ecma': '11051210869376104954' }],
    ['ETag', { etag: `"${createHash('md5').update('123456789').digest('hex').toUpperCase()}"` }],
  ])('compares every byte with the %s that the storage gives', async (sum, headers) => {
    answer = (_path, response) => response.writeHead(200, headers).end('123456789');
    expect((await fetchWhole()).toString()).toBe('123456789');
    answer = (_path, response) => response.writeHead(200, headers).end('123456780');
    const failure: unknown = await fetchWhole().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: sum === 'ETag' ? 'DOWNLOAD_CUT_SHORT' : 'CONTENT_WRONG' });
    // A tag may be of another kind: what comes twice is believed.
    const earlier = failure instanceof UnprovenEndError ? failure.came : undefined;
    const again = await fetchWhole({ earlier }).then(
      ({ length }) => length,
      () => 0,
    );
    expect(again).toBe(sum === 'ETag' ? 9 : 0);
  });

  it.each([
    ['PNG', '89504e470d0a1a0a', '49454e44ae426082'],
    ['JPEG', 'ffd8ffe0', 'ffd9'],
    ['GIF', '474946383961', '3b'],
  ])('without a length ends with the own end of the format, or with an error: %s', async (_what, begin, end) => {
    const file = Buffer.concat([Buffer.from(begin, 'hex'), Buffer.alloc(2_000), Buffer.from(end, 'hex')]);
    const send = (body: Buffer) => (_path: string, response: ServerResponse) => {
      response.socket?.end(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n'), body]));
    };
    answer = send(file);
    expect(await fetchWhole()).toEqual(file);
    answer = send(file.subarray(0, -10));
    await expect(fetchWhole()).rejects.toMatchObject({ code: 'DOWNLOAD_CUT_SHORT' });
  });

  it('in chunks to the last, and yet without the end of its format, is fetched again and compared', async () => {
    answer = (_path, response) => {
      response.write(Buffer.from('89504e470d0a1a0a', 'hex'));
      response.end(Buffer.alloc(2_000));
    };
    const failure: unknown = await fetchWhole().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnprovenEndError);
    const { came: earlier } = failure as UnprovenEndError;
    expect(await fetchWhole({ earlier })).toHaveLength(2_008);
  });

  it('ends with an error when the storage falls silent', async () => {
    const impatient = createDownloadAgent(loopbackRule, { connectMs: 1_000, idleMs: 300 });
    answer = (_path, response) => response.writeHead(200, { 'content-length': 9 }).write('x');
    await expect(fetchWhole({ dispatcher: impatient })).rejects.toMatchObject({
      code: 'DOWNLOAD_FAILED',
      message: expect.stringContaining('UND_ERR_BODY_TIMEOUT') as string,
    });
    await impatient.close();
  });

  it.each(['', 'file:///etc/passwd', 'not a link', '/only/a/path'])('refuses the link %j', async (url) => {
    await expect(fetchWhole({}, url)).rejects.toMatchObject({ code: 'LINK_INVALID' });
  });

  it.each([
    ['stops', true],
    ['never begins', false],
  ])('lets go of the connection when the reader %s', async (_what, begins) => {
    let isClosed = false;
    answer = (_path, response) => {
      endless(
        response.on('close', () => (isClosed = true)),
        200,
        { 'content-length': 1e9 },
      );
    };
    const { body } = await download(link, { dispatcher });
    if (begins) await body[Symbol.asyncIterator]().next();
    body.destroy();
    expect(await eventually(() => isClosed, { what: 'the connection to be closed' })).toBe(true);
  });

  it('rejects with the reason of the signal, before and amid the body', async () => {
    const reason = new Error('stop');
    await expect(fetchWhole({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const abort = new AbortController();
    answer = (_path, response) => {
      response.writeHead(200, { 'content-length': 9 }).write('x', () => {
        abort.abort(reason);
      });
    };
    await expect(fetchWhole({ signal: abort.signal })).rejects.toBe(reason);
  });

  it.each<[string, (response: ServerResponse) => unknown]>([
    ['a refusal', (response) => response.writeHead(403).end(link)],
    ['an error', (response) => response.writeHead(500).end(link)],
    ['a redirect without end', (response) => response.writeHead(302, { location: link }).end()],
    ['a reset', (response) => response.socket?.resetAndDestroy()],
    ['rubbish', (response) => response.socket?.end(`${link}\r\n\r\n`)],
    ['a wrong length', (response) => response.writeHead(200, { 'content-length': 3 }).end('abc')],
  ])('never shows the signature of the link, after %s', async (_what, behave) => {
    answer = (_path, response) => behave(response);
    const error: unknown = await fetchWhole({ expectedBytes: 4 }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DownloadError);
    expect(`${inspect(error, { depth: 20, showHidden: true })}${JSON.stringify(error)}`).not.toContain('THE-SECRET');
  });
});
