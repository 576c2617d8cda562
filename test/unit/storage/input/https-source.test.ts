import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { SourceError } from '../../../../src/storage/errors';
import { openSource } from '../../../../src/storage/input/open-source';
import { eventually } from '../../../support/eventually';
import { contentOf } from '../../../support/opened-content';
import { type ReceivedRequest, startHttpServer, type TestHttpServer } from '../../../support/start-http-server';
import { startRawServer } from '../../../support/start-raw-server';
import { temporaryFolder } from '../../../support/temporary-folder';

const folder = temporaryFolder();
const spoolFolder = join(folder.path, 'spool');

let server: TestHttpServer;
let host: string;
let answer: (request: ReceivedRequest, response: ServerResponse) => void;

beforeAll(async () => {
  server = await startHttpServer((request, response) => {
    answer(request, response);
  });
  host = new URL(server.url).host;
});
afterAll(async () => {
  await server.close();
  folder.remove();
});

function spooledFiles() {
  return existsSync(spoolFolder) ? readdirSync(spoolFolder) : [];
}

function open(source: string, inputHosts: readonly string[] = [host], signal?: AbortSignal) {
  return openSource(source, { inputRoots: [], inputHosts, maxBytes: 1_000, spoolFolder }, signal);
}

/** What a URL gives, which is released. */
async function fetched(source: string, inputHosts?: readonly string[]): Promise<{ name: string; content: string }> {
  const opened = await open(source, inputHosts);
  const content = await contentOf(opened);
  await opened.release();
  return { name: opened.name, content };
}

async function refusalOf(source: string, inputHosts?: readonly string[]): Promise<SourceError> {
  const error: unknown = await open(source, inputHosts).catch((thrown: unknown) => thrown);
  if (!(error instanceof SourceError)) throw new Error('expected a SourceError', { cause: error });
  return error;
}

describe('openSource of a URL', () => {
  it('fetches it into a file without a name that only this user can read', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-type': 'image/png' }).end('GIF89a;');
    const opened = await open(`${server.url}/a/my%20photo.jpg?size=2`);
    expect(opened).toMatchObject({ name: 'my photo.jpg', sizeBytes: 7, contentType: 'image/jpeg' });
    expect(await contentOf(opened)).toBe('GIF89a;');
    const { mode, nlink } = await opened.file.stat();
    expect({ others: mode & 0o077, nlink }).toEqual({ others: 0, nlink: 0 });
    await opened.release();
    await opened.release();
    expect(spooledFiles()).toEqual([]);
  });

  it.each([
    ['/download', 'image/png', 'download.png'],
    ['/', 'image/jpeg; x=1', 'input.jpg'],
    ['/a%2Fb%00.png', 'image/png', 'a_b_.png'],
    ['/%E0%A4%A.gif', 'image/gif', '%E0%A4%A.gif'],
    ['/x', 'nonsense', 'x'],
  ])('names %s of type %s %s', async (path, type, name) => {
    answer = (_request, response) => response.writeHead(200, { 'content-type': type }).end('GIF89a;');
    expect((await fetched(`${server.url}${path}`)).name).toBe(name);
  });

  it('follows three redirects and no more', async () => {
    answer = ({ url }, response) => {
      const left = Number(url.slice(1));
      if (left === 0) response.end('end');
      else response.writeHead(302, { location: `/${left - 1}` }).end('moved');
    };
    expect((await fetched(`${server.url}/3`)).content).toBe('end');
    expect(await refusalOf(`${server.url}/4`)).toMatchObject({ code: 'FETCH_REFUSED' });
  });

  it.each(['https://127.0.0.1', 'https://localhost', 'https://[::1]', 'https://[::ffff:127.0.0.1]', 'https://0x7f.1'])(
    'does not even connect to %s, which is not public',
    async (origin) => {
      const target = await startRawServer({});
      const error = await refusalOf(`${origin}:${target.port}/x.png`, []);
      expect(error).toMatchObject({ code: 'HOST_NOT_ALLOWED', isRetryable: false });
      expect(error.remedy).toContain('LONGHAUL_INPUT_HOSTS');
      expect(target.connectionCount()).toBe(0);
      await target.close();
    },
  );

  it.each([
    ['a host of its own', 'https://nowhere.invalid/x.png', []],
    ['a host that is allowed', 'http://nowhere.invalid/x.png', ['nowhere.invalid']],
    ['a name of one label', 'https://nowhere/x.png', []],
  ])('that names %s which does not resolve is worth another try', async (_what, source, inputHosts) => {
    expect(await refusalOf(source, inputHosts)).toMatchObject({ code: 'FETCH_FAILED', isRetryable: true });
  });

  it('that is refused ends its connection at once, however much is still to come', async () => {
    const target = await startRawServer({
      onFirstBytes: (socket) => {
        socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 100000\r\n\r\nx');
      },
    });
    const source = `${target.url}/x.png`;
    expect(await refusalOf(source, ['127.0.0.1'])).toMatchObject({ code: 'FETCH_REFUSED' });
    await eventually(() => target.openCount() === 0);
    await target.close();
  });

  it('whose redirect brings a body without end is followed at once', async () => {
    const target = await startRawServer({
      onFirstBytes: (socket) => {
        socket.write(`HTTP/1.1 302 Found\r\nlocation: ${server.url}/y.png\r\ncontent-length: 100000\r\n\r\nx`);
      },
    });
    answer = (_request, response) => response.end('GIF89a;');
    expect((await fetched(`${target.url}/x.png`, ['127.0.0.1'])).content).toBe('GIF89a;');
    await eventually(() => target.openCount() === 0);
    await target.close();
  });

  it('does not follow a redirect from an allowed host to an address that is not public', async () => {
    const target = await startRawServer({});
    for (const location of [`https://127.0.0.1:${target.port}/`, `http://127.0.0.1:${target.port}/latest/meta-data`]) {
      answer = (_request, response) => response.writeHead(302, { location }).end();
      expect(await refusalOf(`${server.url}/x.png`)).toMatchObject({ code: 'HOST_NOT_ALLOWED' });
    }
    expect(target.connectionCount()).toBe(0);
    await target.close();
  });

  it('refuses plain http unless the host is allowed, with its port or without', async () => {
    answer = (_request, response) => response.end('GIF89a;');
    expect(await refusalOf('http://example.com/x.png')).toMatchObject({ code: 'HOST_NOT_ALLOWED' });
    expect(await refusalOf(`${server.url}/x.png`, ['127.0.0.1:1'])).toMatchObject({ code: 'HOST_NOT_ALLOWED' });
    await fetched(`${server.url}/x.png`, ['127.0.0.1']);
  });

  it.each(['X-Amz-Signature', 'x-oss-signature', 'Signature', 'token', 'sig'])(
    'refuses a link with the query parameter %s, and does not repeat it',
    async (parameter) => {
      const before = server.requests.length;
      const error = await refusalOf(`${server.url}/x.png?a=1&${parameter}=THE-SECRET`);
      expect(error).toMatchObject({ code: 'URL_SIGNED' });
      expect(inspect(error)).not.toContain('THE-SECRET');
      expect(server.requests).toHaveLength(before);
    },
  );

  it.each(['https://', 'https://user:pass@example.com/x'])('refuses %s', async (source) => {
    expect(await refusalOf(source)).toMatchObject({ code: 'URL_INVALID' });
  });

  it.each<[string, (response: ServerResponse) => unknown, string]>([
    ['a 404', (response) => response.writeHead(404).end('x'), 'FETCH_REFUSED'],
    ['a 403', (response) => response.writeHead(403).end('x'), 'FETCH_REFUSED'],
    ['a redirect to nowhere', (response) => response.writeHead(302).end('x'), 'FETCH_REFUSED'],
    ['bytes that are encoded', (r) => r.writeHead(200, { 'content-encoding': 'gzip' }).end('x'), 'FETCH_REFUSED'],
    ['a 500', (response) => response.writeHead(500).end('x'), 'FETCH_FAILED'],
    ['a 429', (response) => response.writeHead(429).end('x'), 'FETCH_FAILED'],
    [
      'a body cut short',
      (r) => r.writeHead(200, { 'content-length': 9 }).write('x', () => r.destroy()),
      'FETCH_FAILED',
    ],
    ['a reset', (response) => response.socket?.resetAndDestroy(), 'FETCH_FAILED'],
    ['another checksum', (r) => r.writeHead(200, { 'x-oss-hash-crc64ecma': '1' }).end('GIF89a;'), 'FETCH_FAILED'],
    ['nothing in it', (response) => response.end(), 'EMPTY'],
    ['a length that is too large', (r) => r.writeHead(200, { 'content-length': 1_001 }).write('x'), 'TOO_LARGE'],
    ['more than it may have', (response) => response.end('x'.repeat(1_001)), 'TOO_LARGE'],
    ['no end', (r) => setInterval(() => r.write('x'.repeat(100)), 1).unref(), 'TOO_LARGE'],
  ])('refuses %s and leaves nothing behind', async (_what, behave, code) => {
    answer = (_request, response) => behave(response);
    expect(await refusalOf(`${server.url}/x.png`)).toMatchObject({ code, isRetryable: code === 'FETCH_FAILED' });
    expect(spooledFiles()).toEqual([]);
  });

  const page = '<!DOCTYPE html><title>Sign in</title>';

  it.each<[string, string, string, string]>([
    ['a sign-in page', '/x.png', 'text/html; charset=utf-8', page],
    ['an error as JSON', '/x.mp4', 'application/json', '{"error":"login"}'],
    ['a page where the link has no extension', '/download', 'text/html', page],
    ['an error as JSON where the link has no extension', '/download', 'application/json', '{"error":"login"}'],
  ])('refuses %s for good: it is not the file', async (_what, path, type, body) => {
    answer = (_request, response) => response.writeHead(200, { 'content-type': type }).end(body);
    const error = await refusalOf(`${server.url}${path}`);
    expect(error).toMatchObject({ code: 'NOT_THE_FILE', isRetryable: false });
    expect(error.message).toContain(`${server.url}${path.split('?')[0]}`);
    expect(spooledFiles()).toEqual([]);
  });

  it.each(['/x.png', '/download', '/v1.2'])(
    'refuses a redirect of %s to a page, whatever that is called',
    async (path) => {
      answer = ({ url }, response) => {
        if (url === '/sign-in.html') response.writeHead(200, { 'content-type': 'text/html' }).end(page);
        else response.writeHead(302, { location: '/sign-in.html' }).end();
      };
      expect(await refusalOf(`${server.url}${path}`)).toMatchObject({ code: 'NOT_THE_FILE' });
    },
  );

  it('takes a picture that is called a page', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('GIF89a;');
    expect((await fetched(`${server.url}/x.png`)).content).toBe('GIF89a;');
  });

  describe('whose end is the end of the connection', () => {
    let bodies: string[];
    beforeEach(() => {
      answer = (_request, response) => {
        response.useChunkedEncodingByDefault = false;
        response.writeHead(200, { connection: 'close' }).end(bodies.length > 1 ? bodies.shift() : bodies[0]);
      };
    });

    it.each([
      ['brings the same twice', ['GIF89a;whole'], 2],
      ['was cut short at first', ['GIF89a;wh', 'GIF89a;whole'], 3],
    ])('is fetched again until it %s', async (_when, given, times) => {
      bodies = given;
      const before = server.requests.length;
      expect((await fetched(`${server.url}/x.png`)).content).toBe('GIF89a;whole');
      expect(server.requests).toHaveLength(before + times);
    });

    it('is refused where it brings something else each time', async () => {
      bodies = ['GIF89a;1', 'GIF89a;2', 'GIF89a;3'];
      expect(await refusalOf(`${server.url}/x.png`)).toMatchObject({ code: 'FETCH_REFUSED' });
    });

    it('is compared with its Content-MD5 where it has one', async () => {
      const md5 = createHash('md5').update('GIF89a;whole').digest('base64');
      answer = (_request, response) => {
        response.useChunkedEncodingByDefault = false;
        response.writeHead(200, { connection: 'close', 'content-md5': md5 }).end('GIF89a;wh');
      };
      expect(await refusalOf(`${server.url}/x.png`)).toMatchObject({ code: 'FETCH_FAILED' });
    });
  });

  it.each<[string, Record<string, string>]>([
    ['a Content-MD5 that is none', { 'content-md5': createHash('md5').update('GIF89a;').digest('hex') }],
    ['a tag of another kind', { etag: '"0123456789abcdef0123456789abcdef"' }],
  ])('takes what comes with %s', async (_what, headers) => {
    answer = (_request, response) => response.writeHead(200, { ...headers, 'content-length': 7 }).end('GIF89a;');
    expect((await fetched(`${server.url}/x.png`)).content).toBe('GIF89a;');
  });

  it('fetches half a file again that comes in chunks to the last', async () => {
    const bodies = ['GIF89a', 'GIF89a;whole;', 'GIF89a;whole;'];
    answer = (_request, response) => response.writeHead(200).end(bodies.shift());
    expect((await fetched(`${server.url}/x.png`)).content).toBe('GIF89a;whole;');
  });

  it('rejects with the reason of the signal when the caller aborts amid the body', async () => {
    const abort = new AbortController();
    const reason = new Error('stop');
    answer = (_request, response) => {
      response.writeHead(200).write('x', () => {
        abort.abort(reason);
      });
    };
    await expect(open(`${server.url}/x.png`, [host], abort.signal)).rejects.toBe(reason);
    expect(spooledFiles()).toEqual([]);
  });
});
