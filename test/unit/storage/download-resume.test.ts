import { createHash, randomBytes } from 'node:crypto';
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Dispatcher } from 'undici';
import { createDownloadAgent, download, type DownloadOptions } from '../../../src/storage/download';
import { eventually } from '../../support/eventually';
import { loopbackRule } from '../../support/loopback-rule';
import { type ReceivedRequest, startHttpServer, type TestHttpServer } from '../../support/start-http-server';

const content = randomBytes(2 * 1024 * 1024);
const size = content.length;
const etag = '"of-this-version"';
const yesterday = new Date(Date.now() - 86_400_000).toUTCString();

let server: TestHttpServer;
let dispatcher: Dispatcher;
/** To the first request and to further ones; each URL has requests of its own. */
let first: (response: ServerResponse) => void;
let further: (response: ServerResponse, fromByte: number) => void;
let path = 0;
/** Of the download that runs: a reset takes away what its reader has not seen. */
let received = 0;

beforeAll(async () => {
  server = await startHttpServer((request, response) => {
    const fromByte = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
    if (fromByte === undefined) first(response);
    else further(response, Number(fromByte));
  });
  dispatcher = createDownloadAgent(loopbackRule);
});
beforeEach(() => {
  path += 1;
  received = 0;
});
afterAll(async () => {
  await dispatcher.close();
  await server.close();
});

const requests = (): ReceivedRequest[] => server.requests.filter(({ url }) => url === `/${path}.bin`);

async function fetchWhole(options: Partial<DownloadOptions> = {}): Promise<Buffer> {
  received = 0;
  const onProgress = (bytes: number): void => {
    received = bytes;
    options.onProgress?.(bytes);
  };
  const { body } = await download(`${server.url}/${path}.bin`, { dispatcher, ...options, onProgress });
  return buffer(body);
}

/** Begins a reply, and resets its connection once some bytes of its body have arrived. */
function breakOff(response: ServerResponse, status: number, headers: OutgoingHttpHeaders, bytes: Buffer): void {
  const end = received + bytes.length;
  const isOver = (): boolean => received >= end || response.destroyed;
  response.writeHead(status, headers).write(bytes, () => {
    const arrived = eventually(isOver, { what: 'the bytes to arrive' }).catch(() => undefined);
    void arrived.then(() => response.socket?.resetAndDestroy());
  });
}

function restHeaders(fromByte: number, more: OutgoingHttpHeaders = {}): OutgoingHttpHeaders {
  const range = { 'content-range': `bytes ${fromByte}-${size - 1}/${size}`, 'content-length': size - fromByte };
  return { ...range, etag, ...more };
}

function without(name: string, headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([one]) => one !== name));
}

function breaksOffAt(share: number, more: OutgoingHttpHeaders = { etag }): (response: ServerResponse) => void {
  return (response) => {
    breakOff(response, 200, { 'content-length': size, ...more }, content.subarray(0, size * share));
  };
}

describe('a download that breaks off', () => {
  it.each<[string, OutgoingHttpHeaders, string]>([
    ['a strong tag', { etag, 'last-modified': yesterday }, etag],
    ['a time of its last change, and no tag', { 'last-modified': yesterday }, yesterday],
  ])('goes on where it ended, with %s', async (_what, headers, validator) => {
    first = breaksOffAt(0.6, headers);
    further = (response, fromByte) => {
      response.writeHead(206, restHeaders(fromByte, headers)).end(content.subarray(fromByte));
    };
    const progress: number[] = [];
    const whole = await fetchWhole({ onProgress: (bytes) => progress.push(bytes) });
    expect(whole.equals(content)).toBe(true);
    expect(requests()).toHaveLength(2);
    const [, { headers: asked }] = requests() as [ReceivedRequest, ReceivedRequest];
    expect(asked['if-range']).toBe(validator);
    expect(asked.range).toBe(`bytes=${Math.floor(size * 0.6)}-`);
    expect(progress).toEqual([...progress].sort((one, other) => one - other));
  });

  it('is not fetched further where nothing tells one version from another', async () => {
    further = (response, fromByte) => response.writeHead(206, restHeaders(fromByte)).end(content.subarray(fromByte));
    for (const headers of [
      {},
      { etag: `W/${etag}`, 'last-modified': yesterday },
      { 'last-modified': new Date(Date.now() + 5_000).toUTCString() },
    ]) {
      path += 1;
      first = breaksOffAt(0.6, headers);
      await expect(fetchWhole()).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
      expect(requests()).toHaveLength(1);
    }
    path += 1;
    first = (response) => {
      breakOff(response, 200, { etag }, content);
    };
    await expect(fetchWhole()).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
    expect(requests()).toHaveLength(1);
  });

  const rest = (headers: (fromByte: number) => OutgoingHttpHeaders, status = 206) => {
    return (response: ServerResponse, fromByte: number): void => {
      response.writeHead(status, headers(fromByte)).end(content.subarray(fromByte));
    };
  };
  it.each<[string, (response: ServerResponse, fromByte: number) => unknown]>([
    ['everything instead', (response) => response.writeHead(200, { etag, 'content-length': size }).end(content)],
    ['the rest of another version', rest((from) => restHeaders(from, { etag: '"of-another"' }))],
    ['the rest of an unknown version', rest((from) => without('etag', restHeaders(from)))],
    ['another part', rest((from) => restHeaders(from, { 'content-range': `bytes ${from - 1}-${size - 2}/${size}` }))],
    [
      'the end of a longer file',
      rest((from) => restHeaders(from, { 'content-range': `bytes ${from}-${size - 1}/${size + 1}` })),
    ],
    ['a file of unknown length', rest((from) => restHeaders(from, { 'content-range': `bytes ${from}-${size - 1}/*` }))],
    ['parts in an envelope', rest((from) => without('content-range', restHeaders(from)))],
    ['a rest of unknown length', rest((from) => ({ etag, 'content-range': `bytes ${from}-${size - 1}/${size}` }))],
    ['an encoded rest', rest((from) => restHeaders(from, { 'content-encoding': 'gzip' }))],
    ['the rest as all', rest(restHeaders, 200)],
    ['a part that is not there', (response) => response.writeHead(416, { 'content-range': `bytes */${size}` }).end()],
    ['a refusal', (response) => response.writeHead(403).end()],
    ['an error', (response) => response.writeHead(503).end()],
    ['a reset', (response) => response.socket?.resetAndDestroy()],
    ['the rest from another place', (response) => response.writeHead(302, { location: '/elsewhere.bin' }).end()],
  ])('ends with an error, and joins nothing, when what comes is %s', async (_what, behave) => {
    first = breaksOffAt(0.6);
    further = (response, fromByte) => {
      if (response.req.url === '/elsewhere.bin') rest(restHeaders)(response, fromByte);
      else behave(response, fromByte);
    };
    await expect(fetchWhole()).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
    expect(requests()).toHaveLength(2);
  });

  it('asks at the place that a redirect leads to, and takes the rest from there', async () => {
    const target = `/target-${path}.bin`;
    const redirect = (response: ServerResponse): boolean => {
      if (response.req.url === target) return false;
      response.writeHead(302, { location: target }).end();
      return true;
    };
    first = (response) => {
      if (!redirect(response)) breaksOffAt(0.6)(response);
    };
    further = (response, fromByte) => {
      if (!redirect(response)) rest(restHeaders)(response, fromByte);
    };
    expect((await fetchWhole()).equals(content)).toBe(true);
    expect(server.requests.filter(({ url }) => url === target)).toHaveLength(2);
  });

  it('ends with an error when the whole is not what its checksum says', async () => {
    const sum = { etag, 'content-md5': createHash('md5').update(content).digest('base64') };
    first = breaksOffAt(0.6, sum);
    further = (response, fromByte) => {
      response.writeHead(206, restHeaders(fromByte)).end(Buffer.alloc(size - fromByte));
    };
    await expect(fetchWhole()).rejects.toMatchObject({ code: 'CONTENT_WRONG' });
    further = rest(restHeaders);
    expect((await fetchWhole()).equals(content)).toBe(true);
  });

  it('is given up once two requests bring next to nothing', async () => {
    first = breaksOffAt(0.1);
    further = (response, fromByte) => {
      breakOff(response, 206, restHeaders(fromByte), content.subarray(fromByte, fromByte + 1));
    };
    await expect(fetchWhole()).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED' });
    expect(requests()).toHaveLength(3);
  });

  it('goes on as often as it breaks off, as long as each request brings its share', async () => {
    first = breaksOffAt(0.1);
    further = (response, fromByte) => {
      const part = content.subarray(fromByte, fromByte + Math.ceil(size / 10));
      if (fromByte + part.length === size) response.writeHead(206, restHeaders(fromByte)).end(part);
      else breakOff(response, 206, restHeaders(fromByte), part);
    };
    expect((await fetchWhole()).equals(content)).toBe(true);
    expect(requests()).toHaveLength(10);
  });

  it('is asked for no further once its reader has failed, or its signal is aborted', async () => {
    let breakOffNow: (() => void) | undefined;
    first = (response) => {
      breakOffNow = () => response.socket?.resetAndDestroy();
      response.writeHead(200, { etag, 'content-length': size }).write(content.subarray(0, size / 4));
    };
    further = () => undefined;
    const onProgress = (bytes: number): void => {
      received = bytes;
    };
    const { body } = await download(`${server.url}/${path}.bin`, { dispatcher, onProgress });
    body.on('error', () => undefined).resume();
    await eventually(() => received === size / 4, { what: 'the reader to wait for more' });
    body.destroy(new Error('the disk is full'));
    breakOffNow?.();
    await eventually(() => body.closed, { what: 'the body to be closed' });
    expect(requests()).toHaveLength(1);

    const abort = new AbortController();
    const reason = new Error('stop');
    first = breaksOffAt(0.6);
    further = () => {
      abort.abort(reason);
    };
    await expect(fetchWhole({ signal: abort.signal })).rejects.toBe(reason);
  });
});
