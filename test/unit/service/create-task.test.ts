import type { Socket } from 'node:net';
import { ServiceClient, type CreateTaskAsyncOptions } from '../../../src/service';
import { eventually } from '../../support/eventually';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';
import { startRawServer, type RawBehaviour } from '../../support/start-raw-server';

const request = { webAppId: 42, inputValues: { '1:LoadImage.image': 'https://s/x.png', '2:ImageScale.width': 512 } };
const accepted = 'HTTP/1.1 202 Accepted\r\ncontent-type: application/json\r\n';

async function createAgainst(behaviour: RawBehaviour, options: CreateTaskAsyncOptions = {}, scheme = 'http') {
  const server = await startRawServer(behaviour);
  const client = new ServiceClient({ baseUrl: `${scheme}://127.0.0.1:${server.port}`, apiKey: 'key' });
  try {
    const outcome = await client.createTask(request, { timeoutMs: 5_000, ...options });
    return { outcome, creates: server.received().split('POST /').length - 1, connections: server.connectionCount() };
  } finally {
    await client.close();
    await server.close();
  }
}

describe('createTask over connections that fail', () => {
  it('is not sent when nobody listens', async () => {
    const client = new ServiceClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' });
    const outcome = await client.createTask(request);
    expect(outcome).toEqual({ outcome: 'notSent', reason: 'the connection was refused (ECONNREFUSED at 127.0.0.1)' });
    await client.close();
  });

  it('is not sent when the host name is not known', async () => {
    const client = new ServiceClient({ baseUrl: 'http://service.invalid', apiKey: 'key' });
    expect(await client.createTask(request)).toMatchObject({ outcome: 'notSent' });
    await client.close();
  });

  it('is not sent when TLS is cut off before it stands', async () => {
    const { outcome } = await createAgainst({ onFirstBytes: (socket) => socket.resetAndDestroy() }, {}, 'https');
    expect(outcome).toMatchObject({ outcome: 'notSent', reason: expect.stringContaining('ECONNRESET') as string });
  });

  it('is not sent when the server does not speak TLS', async () => {
    const { outcome } = await createAgainst({ onFirstBytes: (socket) => socket.end('no tls here') }, {}, 'https');
    expect(outcome).toMatchObject({ outcome: 'notSent', reason: expect.stringContaining('TLS') as string });
  });

  it('is not sent when the time is over before TLS stands', async () => {
    const { outcome } = await createAgainst({}, { timeoutMs: 100 }, 'https');
    expect(outcome).toEqual({ outcome: 'notSent', reason: 'no reply within 100 ms' });
  });

  it('is not sent when the caller had already aborted', async () => {
    const { outcome, connections } = await createAgainst({}, { signal: AbortSignal.abort() });
    expect(outcome).toMatchObject({ outcome: 'notSent' });
    expect(connections).toBe(0);
  });

  it.each<[string, (socket: Socket) => unknown, string]>([
    ['a reset', (socket) => socket.resetAndDestroy(), 'ECONNRESET'],
    ['an end without a reply', (socket) => socket.end(), 'UND_ERR_SOCKET'],
    ['rubbish instead of a reply', (socket) => socket.end('rubbish\r\n\r\n'), 'not HTTP'],
    ['half a head', (socket) => socket.end('HTTP/1.1 202 Acc'), 'UND_ERR_SOCKET'],
    ['half a body', (socket) => socket.end(`${accepted}content-length: 20\r\n\r\n{"requestId":"r`), 'UND_ERR_SOCKET'],
    ['a broken chunk', (socket) => socket.end(`${accepted}transfer-encoding: chunked\r\n\r\nzz\r\n`), 'HPE_'],
    [
      'a reset amid the body',
      (socket) => socket.write(`${accepted}content-length: 9\r\n\r\n{`, () => socket.resetAndDestroy()),
      'HTTP 202',
    ],
  ])('is uncertain after %s, and is sent once', async (_name, onFirstBytes, words) => {
    const { outcome, creates } = await createAgainst({ onFirstBytes });
    expect(outcome).toMatchObject({ outcome: 'uncertain', reason: expect.stringContaining(words) as string });
    expect(creates).toBe(1);
  });

  it.each<[string, RawBehaviour['onFirstBytes']]>([
    ['never answers', () => undefined],
    ['stalls amid the head', (socket) => socket.write('HTTP/1.1 202 Acc')],
    ['stalls amid the body', (socket) => socket.write(`${accepted}content-length: 99\r\n\r\n{`)],
  ])('is uncertain when the service %s until the time is over', async (_name, onFirstBytes) => {
    const { outcome, creates } = await createAgainst({ onFirstBytes: onFirstBytes! }, { timeoutMs: 150 });
    expect(outcome).toMatchObject({ outcome: 'uncertain', reason: expect.stringContaining('150 ms') as string });
    expect(creates).toBe(1);
  });

  it('is uncertain when a body trickles for longer than the whole create may take', async () => {
    const { outcome } = await createAgainst(
      {
        onFirstBytes: (socket) => {
          socket.write(`${accepted}transfer-encoding: chunked\r\n\r\n`);
          const timer = setInterval(() => socket.write('1\r\n \r\n'), 20);
          socket.on('close', () => {
            clearInterval(timer);
          });
        },
      },
      { timeoutMs: 200 },
    );
    expect(outcome).toMatchObject({ outcome: 'uncertain' });
  });

  it('is uncertain when the caller aborts after the request left', async () => {
    const abort = new AbortController();
    const { outcome } = await createAgainst(
      {
        onFirstBytes: () => {
          abort.abort();
        },
      },
      { signal: abort.signal },
    );
    expect(outcome).toEqual({ outcome: 'uncertain', reason: 'the caller aborted the request' });
  });

  it('keeps the id of a reply that was cut only after whole JSON', async () => {
    const { outcome } = await createAgainst({
      onFirstBytes: (socket) => socket.end(`${accepted}content-length: 99\r\n\r\n{"requestId":"r-1"}`),
    });
    expect(outcome).toEqual({ outcome: 'accepted', requestId: 'r-1' });
  });

  it('tells its own request from others that are sent at the same moment', async () => {
    const other = await startHttpServer((_request, response) => {
      replyJson(response, 202, { requestId: 'r-2' });
    });
    const busy = new ServiceClient({ baseUrl: other.url, apiKey: 'key' });
    const [{ outcome }, ...others] = await Promise.all([
      createAgainst({}, { timeoutMs: 300 }, 'https'),
      ...Array.from({ length: 20 }, () => busy.createTask(request)),
    ]);
    expect(outcome).toMatchObject({ outcome: 'notSent' });
    expect(others).toEqual(others.map(() => ({ outcome: 'accepted', requestId: 'r-2' })));
    await busy.close();
    await other.close();
  });
});

describe('createTask over HTTP', () => {
  let server: TestHttpServer;
  let client: ServiceClient;
  let answer: Parameters<typeof startHttpServer>[0];

  beforeAll(async () => {
    server = await startHttpServer((received, response) => {
      answer(received, response);
    });
    client = new ServiceClient({ baseUrl: `${server.url}/base`, apiKey: () => Promise.resolve('key') });
  });
  beforeEach(() => {
    answer = (_received, response) => {
      replyJson(response, 202, { requestId: 'r-1' });
    };
  });
  afterAll(async () => {
    await client.close();
    await server.close();
  });

  it('sends what section 4.1 asks for in asynchronous mode', async () => {
    await client.createTask({ ...request, suppressPreviewOutput: true }, { headers: { 'X-Svc-Task-Trace': 'a:b' } });
    const sent = server.requests.at(-1)!;
    expect(sent).toMatchObject({
      method: 'POST',
      url: '/base/w/v1/webapp/task/openapi/create',
      headers: {
        authorization: 'Bearer key',
        'content-type': 'application/json',
        'x-svc-task-async': 'enable',
        'x-svc-task-trace': 'a:b',
        connection: 'close',
      },
    });
    expect(JSON.parse(sent.body)).toEqual({
      web_app_id: 42,
      suppress_preview_output: true,
      input_values: request.inputValues,
    });
    expect(sent.headers).not.toHaveProperty('x-svc-task-webhook-url');
  });

  it('sends the callback headers instead of the asynchronous one in callback mode', async () => {
    await client.createTask(request, { callback: { url: 'https://me.example/cb', token: 'cb-token' } });
    const { headers } = server.requests.at(-1)!;
    expect(headers).toMatchObject({
      'x-svc-task-webhook-url': 'https://me.example/cb',
      'x-svc-task-authorization': 'Bearer cb-token',
    });
    expect(headers).not.toHaveProperty('x-svc-task-async');
    expect(JSON.parse(server.requests.at(-1)!.body)).not.toHaveProperty('suppress_preview_output');
  });

  it('opens a connection of its own for every create and leaves none open', async () => {
    const before = server.connectionCount();
    await client.createTask(request);
    await client.createTask(request);
    expect(server.connectionCount()).toBe(before + 2);
  });

  it('never follows a redirect', async () => {
    const before = server.requests.length;
    answer = (_received, response) => response.writeHead(307, { location: `${server.url}/elsewhere` }).end();
    expect(await client.createTask(request)).toMatchObject({ outcome: 'rejected', retryable: false, httpStatus: 307 });
    expect(server.requests).toHaveLength(before + 1);
  });

  it('tells how long the service asks to wait, and its words without the secrets it quotes', async () => {
    answer = (received, response) => {
      const message = `slow down ${String(received.headers['x-svc-task-authorization'])} ${String(received.headers.authorization)}`;
      replyJson(response, 429, { code: 50600, message, status: false }, { 'retry-after': '7' });
    };
    expect(await client.createTask(request, { callback: { url: 'https://me/cb', token: 'cb-token' } })).toEqual({
      outcome: 'rejected',
      retryable: true,
      httpStatus: 429,
      code: 50600,
      meaning: 'RATE_LIMITED',
      scope: 'account',
      message: 'slow down Bearer [redacted] Bearer [redacted]',
      retryAfterMs: 7_000,
    });
  });

  it('is not sent when the API key cannot be obtained or used', async () => {
    const before = server.requests.length;
    const failing = new ServiceClient({ baseUrl: server.url, apiKey: () => Promise.reject(new Error('no such file')) });
    const broken = new ServiceClient({ baseUrl: server.url, apiKey: 'key\n' });
    expect(await failing.createTask(request)).toMatchObject({
      outcome: 'notSent',
      reason: expect.stringContaining('no such file') as string,
    });
    expect(await broken.createTask(request)).toMatchObject({ outcome: 'notSent' });
    // From JavaScript, where a variable is not set.
    const missing = new ServiceClient({ baseUrl: server.url, apiKey: () => undefined as never });
    expect(await missing.createTask(request)).toMatchObject({ outcome: 'notSent' });
    expect(server.requests).toHaveLength(before);
    await Promise.all([failing.close(), broken.close(), missing.close()]);
  });

  it('holds the connection and returns the body in synchronous mode, whatever it is', async () => {
    answer = (_received, response) => response.writeHead(200, { 'content-type': 'text/plain' }).end('{"outputs": 1}');
    expect(await client.createTaskSync(request)).toEqual({ httpStatus: 200, body: '{"outputs": 1}', task: null });
    const { headers } = server.requests.at(-1)!;
    expect(Object.keys(headers).filter((name) => name.startsWith('x-svc-task-'))).toEqual([]);
  });

  it.each([
    ['the body itself', (task: object) => task],
    ['the data of an envelope', (data: object) => ({ code: 20000, message: 'Ok', status: true, data })],
    ['an envelope that says that it failed', (data: object) => ({ code: 50001, message: 'x', status: false, data })],
  ])('reads the task of a synchronous create in %s', async (_name, wrap) => {
    const task = {
      request_id: 'r-1',
      status: 'Failed',
      ended_at: '2026-01-02 03:04:05',
      outputs: [{ error_type: 'EXECUTION_ERROR', error_msg: 'no ink' }],
      cost_times: { total_cost_time: '7' },
    };
    answer = (_received, response) => {
      replyJson(response, 200, wrap(task));
    };
    expect((await client.createTaskSync(request)).task).toEqual({
      requestId: 'r-1',
      status: 'Failed',
      endedAt: { iso: '2026-01-01T19:04:05.000Z', raw: '2026-01-02 03:04:05' },
      outputs: [{ ext: '', auditStatus: null, errorType: 'EXECUTION_ERROR', errorMessage: 'no ink' }],
      costTimes: { total_cost_time: 7 },
    });
  });

  it.each([
    ['with a code', { code: 20049, message: 'no balance', status: false }, 'INSUFFICIENT_BALANCE'],
    ['without a code', { message: 'no balance', status: false }, 'API_ERROR'],
  ])('throws when the envelope of a synchronous create says no, %s', async (_name, body, code) => {
    answer = (_received, response) => {
      replyJson(response, 200, body);
    };
    const message = 'create task: the service refused';
    await expect(client.createTaskSync(request)).rejects.toMatchObject({
      ...{ code, httpStatus: 200 },
      message: expect.stringMatching(new RegExp(`^${message}.*: no balance$`)) as string,
    });
  });

  it('says whether a synchronous create may have reached the service', async () => {
    answer = () => undefined;
    await expect(client.createTaskSync(request, { timeoutMs: 100 })).rejects.toMatchObject({
      code: 'TIMEOUT',
      requestSent: true,
      timeoutMs: 100,
      message: expect.stringContaining('may exist and be charged') as string,
    });
    const nobody = new ServiceClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' });
    await expect(nobody.createTaskSync(request)).rejects.toMatchObject({ code: 'UNREACHABLE', requestSent: false });
    await nobody.close();
  });

  it('closes the connection of a create that timed out', async () => {
    const stalled = await startRawServer({});
    const impatient = new ServiceClient({ baseUrl: stalled.url, apiKey: 'key', timeouts: { createMs: 100 } });
    await impatient.createTask(request);
    expect(stalled.connectionCount()).toBe(1);
    await eventually(() => stalled.openCount() === 0, { what: 'the connection to be closed' });
    await impatient.close();
    await stalled.close();
  });
});
