import { request } from 'undici';
import { eventually } from '../support/eventually';
import { FaultProxy } from '../support/fault-proxy';
import type { NetworkFault } from '../support/faulty-connection';
import { startHttpServer, type TestHttpServer } from '../support/start-http-server';

const body = 'a'.repeat(200_000);
let server: TestHttpServer;
let proxy: FaultProxy;

beforeEach(async () => {
  server = await startHttpServer((_request, response) => response.end(body));
  proxy = await FaultProxy.start(Number(new URL(server.url).port));
});
afterEach(async () => {
  await proxy.close();
  await server.close();
});

async function ask(path: string, content = ''): Promise<string> {
  const url = `http://127.0.0.1:${proxy.port}${path}`;
  try {
    const answer = await request(url, { method: 'POST', body: content, signal: AbortSignal.timeout(5_000) });
    return await answer.body.text();
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

function lay(fault: NetworkFault): void {
  proxy.inject({ markers: ['/paid', 'order-17'], fault });
}

it('passes on what no fault waits for, and meets only the requests that it waits for', async () => {
  lay({ kind: 'resetBefore' });
  expect(await ask('/paid', 'order-18')).toBe(body);
  expect(await ask('/free', 'order-17')).toBe(body);
  expect(await ask('/paid', 'order-17')).toBe('ECONNRESET');
  expect(await ask('/paid', 'order-17')).toBe(body);
  expect(server.requests.map(({ url }) => url)).toEqual(['/paid', '/free', '/paid']);
});

it.each<[string, NetworkFault, string, number]>([
  ['a reset before it is sent reaches nobody', { kind: 'resetBefore' }, 'ECONNRESET', 0],
  ['a reset after it was sent leaves its work done', { kind: 'resetAfter' }, 'ECONNRESET', 1],
  [
    'an answer of the proxy’s own',
    { kind: 'answer', text: 'HTTP/1.1 503 Busy\r\ncontent-length: 4\r\n\r\nbusy' },
    'busy',
    0,
  ],
  ['an answer that breaks off', { kind: 'cutAnswer', afterBytes: 5_000 }, 'UND_ERR_SOCKET', 1],
  ['an answer that comes late', { kind: 'delayAnswer', ms: 50 }, body, 1],
])('%s', async (_what, fault, answer, served) => {
  lay(fault);
  // The marker is in the request's line: of a request whose marker comes later, the beginning has been passed on.
  expect(await ask('/paid?order-17')).toBe(answer);
  expect(server.requests).toHaveLength(served);
});

it.each<[string, NetworkFault]>([
  ['the answer', { kind: 'holdAnswer', afterBytes: 1_000 }],
  ['the request', { kind: 'holdRequest', afterBytes: 1_000 }],
])('holds back the rest of %s until it is let go', async (_what, fault) => {
  const injected = proxy.inject({ markers: ['/paid'], fault });
  const answer = ask('/paid', body);
  await eventually(() => proxy.heldCount() === 1);
  expect(injected.hitCount).toBe(1);
  proxy.release();
  expect(await answer).toBe(body);
  expect(server.requests.map((one) => one.body.length)).toEqual([body.length]);
});

it('refuses connections for a while, as if nobody listened', async () => {
  await proxy.refuse();
  expect(await ask('/paid')).toBe('ECONNREFUSED');
  await proxy.accept();
  expect(await ask('/paid')).toBe(body);
});
