import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { ServiceClient } from '../../../src/service';
import { openAgent } from '../../../src/storage/connections';
import { createDownloadAgent, download } from '../../../src/storage/download';
import { openSource } from '../../../src/storage/input/open-source';
import { loopbackRule } from '../../support/loopback-rule';
import { startSlowHandshake } from '../../support/slow-handshake';
import { startHttpServer } from '../../support/start-http-server';
import { startRawServer } from '../../support/start-raw-server';
import { temporaryFolder } from '../../support/temporary-folder';
import { tokenFor, uploadPath } from '../../support/upload-path';

const folder = temporaryFolder();
afterAll(() => {
  folder.remove();
});

/** Of a network that is not there. */
const unreachable = '2001:db8::1';

/** The status of a reply from a host with these addresses, or the error instead of it. */
async function ask(addresses: readonly string[], port: number, connectMs = 5_000): Promise<unknown> {
  const connections = openAgent({ connectMs, addresses: () => Promise.resolve(addresses) });
  try {
    const { statusCode, body } = await connections.request({
      origin: `http://dual.example:${port}`,
      path: '/',
      method: 'GET',
    });
    await body.dump();
    return statusCode;
  } catch (error) {
    return error;
  } finally {
    await connections.destroy();
  }
}

async function upload(endpoint: string): Promise<unknown> {
  const path = join(folder.path, 'a.png');
  writeFileSync(path, 'picture');
  return await uploadPath({ token: tokenFor(endpoint), path, sizeBytes: 7, contentType: 'image/png' });
}

describe('a host with several addresses', () => {
  it.each([
    ['first', (slow: string) => [slow, unreachable]],
    ['last', (slow: string) => [unreachable, slow]],
  ])('is reached when its only address that answers is the %s one and takes a second', async (_place, addresses) => {
    const slow = await startSlowHandshake();
    try {
      expect(await ask(addresses('127.0.0.1'), slow.port)).toBe(200);
    } finally {
      await slow.close();
    }
  });

  it('is not reached when none answers, and the error names each that was tried', async () => {
    const server = await startRawServer({});
    await server.close();
    const error = await ask(['127.0.0.1', '127.0.0.2', unreachable, '::1'], server.port, 1_000);
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    for (const address of ['127.0.0.1', '127.0.0.2', unreachable, '::1']) expect(String(error)).toContain(address);
  });

  it('is named with its addresses when the service is not reached', async () => {
    const server = await startRawServer({});
    await server.close();
    const service = new ServiceClient({ baseUrl: `http://localhost:${server.port}`, apiKey: 'key' });
    const error: unknown = await service.getTask('task-1').catch((thrown: unknown) => thrown);
    expect(String(error)).toMatch(/127\.0\.0\.1.*::1/);
    await service.close();
  });

  it('takes an upload at whichever answers', async () => {
    const sockets = new Set<Socket>();
    const storage = createServer((socket) => {
      sockets.add(socket);
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\netag: "1"\r\ncontent-length: 0\r\n\r\n'));
    });
    await new Promise<void>((resolve) => storage.listen(0, '::1', resolve));
    const { port } = storage.address() as { port: number };
    await upload(`http://storage.localhost:${port}`);
    expect(sockets.size).toBe(1);
    sockets.forEach((socket) => socket.destroy());
    storage.close();
  });
});

const detail = JSON.stringify({ code: 20_000, message: 'Ok', status: true, data: { status: 'Running' } });
const replies: Readonly<Record<string, string>> = {
  POST: `HTTP/1.1 202 Accepted\r\ncontent-length: 22\r\n\r\n{"requestId":"task-1"}`,
  GET: `HTTP/1.1 200 OK\r\ncontent-length: ${detail.length}\r\n\r\n${detail}`,
};

/** Answers each request of a connection with what `interim` writes, then with the reply. */
async function startInterim(interim: (socket: Socket) => Promise<void>) {
  return await startRawServer({
    onConnection: (socket) => {
      socket.on('data', (chunk) => {
        const method = chunk.toString().split(' ', 1)[0] ?? '';
        const reply = replies[method];
        if (reply !== undefined) void interim(socket).then(() => socket.write(reply));
      });
    },
  });
}

function written(socket: Socket, ...texts: readonly string[]): Promise<void> {
  return texts.reduce(
    (before, text) =>
      before.then(async () => {
        await new Promise<void>((resolve) => socket.write(text, () => setImmediate(resolve)));
      }),
    Promise.resolve(),
  );
}

describe('an interim reply', () => {
  const interim = 'HTTP/1.1 100 Continue\r\nvia: a proxy\r\n\r\n';
  const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n';

  it.each([
    ['100 Continue', [interim]],
    ['102 Processing and 103 Early Hints', ['HTTP/1.1 102 Processing\r\n\r\n', hints]],
    ['several of them at once', [`${interim}${interim}${hints}${interim}`]],
    ['one of them byte by byte', Array.from(interim)],
  ])('is passed over by creates and polls: %s', async (_what, texts) => {
    const server = await startInterim((socket) => written(socket, ...texts));
    const service = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
    expect(await service.createTask({ webAppId: 1, inputValues: {} })).toMatchObject({
      outcome: 'accepted',
      requestId: 'task-1',
    });
    for (let poll = 0; poll < 3; poll += 1) {
      expect(await service.getTask('task-1')).toMatchObject({ status: 'Running' });
    }
    expect(server.connectionCount()).toBeLessThan(4);
    await service.close();
    await server.close();
  });

  it('is passed over by downloads and inputs, and content that looks like one is not', async () => {
    const content = 'HTTP/1.1 100 Continue\r\n\r\n and more';
    const server = await startRawServer({
      onFirstBytes: (socket) => {
        void written(socket, interim, `HTTP/1.1 200 OK\r\ncontent-length: ${content.length}\r\n\r\n`, content);
      },
    });
    const dispatcher = createDownloadAgent(loopbackRule);
    const { body } = await download(`${server.url}/a.txt`, { dispatcher });
    const chunks: Buffer[] = [];
    for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
    expect(Buffer.concat(chunks).toString()).toBe(content);
    const { host } = new URL(server.url);
    const rules = { inputRoots: [], inputHosts: [host], maxBytes: 1_000, spoolFolder: folder.path };
    const source = await openSource(`${server.url}/a.txt`, rules);
    expect(source.sizeBytes).toBe(content.length);
    await source.release();
    await dispatcher.destroy();
    await server.close();
  });
});

it('names Longhaul and its version in every request', async () => {
  const server = await startHttpServer(({ method }, response) => {
    response.setHeader('etag', '"1"');
    if (method === 'POST') response.writeHead(202).end('{"requestId":"task-1"}');
    else response.end(method === 'GET' ? detail : '');
  });
  const { host } = new URL(server.url);
  const service = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
  await service.createTask({ webAppId: 1, inputValues: {} });
  await service.getTask('task-1');
  const dispatcher = createDownloadAgent(loopbackRule);
  (await download(`${server.url}/a.txt`, { dispatcher })).body.pipe(
    new Writable({
      write: (_chunk, _coding, done) => {
        done();
      },
    }),
  );
  const rules = { inputRoots: [], inputHosts: [host], maxBytes: 1_000, spoolFolder: folder.path };
  await (await openSource(`${server.url}/a.txt`, rules)).release();
  await upload(server.url);
  const agents = server.requests.map(({ headers }) => headers['user-agent']);
  expect(agents).toHaveLength(5);
  const manifest = JSON.parse(readFileSync(join(__dirname, '../../../package.json'), 'utf8')) as { version: string };
  for (const agent of agents) expect(agent?.split(' ')).toContain(`longhaul/${manifest.version}`);
  await service.close();
  await dispatcher.destroy();
  await server.close();
});
