import type { ServerResponse } from 'node:http';
import * as service from '../../../src/service';
import { eventually } from '../../support/eventually';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';
import { startRawServer, type RawBehaviour } from '../../support/start-raw-server';

let server: TestHttpServer;
let client: service.ServiceClient;
let answer: (response: ServerResponse) => void;

beforeAll(async () => {
  server = await startHttpServer((_request, response) => {
    answer(response);
  });
  client = new service.ServiceClient({ baseUrl: server.url, apiKey: 'key' });
});
afterAll(async () => {
  await client.close();
  await server.close();
});

async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

const no = (code: number) => ({ code, message: 'words of the service', status: false });

describe('a refusal by the service', () => {
  it.each<[number, unknown, RegExp]>([
    [401, undefined, /^Give the API key of an account that may do this/],
    [402, no(20050), /^Raise the balance of the account/],
    [400, no(20015), /^Correct what the service names in the request/],
    [429, no(30039), /when tasks of the account have left its queue/],
    [503, undefined, /^Send it again later, a create only when it is known/],
    [200, no(1), /give envelopeCodes/],
  ])('of HTTP %i with %j says what to do, beside its message', async (httpStatus, body, remedy) => {
    answer = (response) => {
      replyJson(response, httpStatus, body ?? {});
    };
    const error = await thrownBy(client.getTask('r'));
    expect(error).toBeInstanceOf(service.ServiceApiError);
    expect(error).toMatchObject({ remedy: expect.stringMatching(remedy) as string });
    expect(String(error)).not.toMatch(remedy);
  });

  it.each<[number, unknown, string, abstract new (...args: never[]) => unknown]>([
    [401, undefined, 'UNAUTHORIZED', service.UnauthorizedError],
    [403, no(1), 'UNAUTHORIZED', service.UnauthorizedError],
    [401, no(50600), 'UNAUTHORIZED', service.UnauthorizedError],
    [403, no(50600), 'UNAUTHORIZED', service.UnauthorizedError],
    [403, no(20050), 'INSUFFICIENT_BALANCE', service.InsufficientBalanceError],
    [400, no(1), 'INVALID_REQUEST', service.InvalidRequestError],
    [400, no(30009), 'TASK_NOT_FOUND', service.NotFoundError],
    [404, no(1), 'TASK_NOT_FOUND', service.NotFoundError],
    [404, no(20224), 'APP_NOT_FOUND', service.NotFoundError],
    [404, undefined, 'NOT_FOUND', service.NotFoundError],
    [408, undefined, 'SERVICE_UNAVAILABLE', service.ServiceUnavailableError],
    [409, undefined, 'INVALID_REQUEST', service.InvalidRequestError],
    [410, undefined, 'OUTPUT_GONE', service.OutputGoneError],
    [429, no(1), 'RATE_LIMITED', service.RateLimitedError],
    [429, no(30039), 'QUEUE_FULL', service.RateLimitedError],
    [500, undefined, 'SERVICE_UNAVAILABLE', service.ServiceUnavailableError],
    [502, no(30046), 'OUTPUT_GONE', service.OutputGoneError],
    [503, undefined, 'SERVICE_UNAVAILABLE', service.ServiceUnavailableError],
    [302, undefined, 'API_ERROR', service.ServiceApiError],
    [200, no(1), 'API_ERROR', service.ServiceApiError],
    [200, no(20052), 'UNAUTHORIZED', service.UnauthorizedError],
    [200, no(30009), 'TASK_NOT_FOUND', service.NotFoundError],
    [200, { code: 50600, message: 'slow' }, 'RATE_LIMITED', service.RateLimitedError],
    [200, { code: 20000, message: 'no', status: false }, 'API_ERROR', service.ServiceApiError],
  ])('of HTTP %i with %j is %s', async (httpStatus, body, code, errorClass) => {
    answer = (response) => {
      if (body === undefined) response.writeHead(httpStatus, { location: '/x' }).end('<html>');
      else replyJson(response, httpStatus, body, { 'retry-after': '2' });
    };
    const error = await thrownBy(client.getTask('r'));
    expect(error).toBeInstanceOf(errorClass);
    expect(error).toBeInstanceOf(service.ServiceApiError);
    expect(error).toMatchObject({ code, httpStatus, name: errorClass.name });
    expect((error as service.ServiceApiError).retryAfterMs).toBe(body === undefined ? undefined : 2_000);
  });

  it('is told in the words of the service, with its code', async () => {
    answer = (response) => {
      replyJson(response, 400, no(20015));
    };
    expect(await thrownBy(client.getTask('r'))).toMatchObject({
      message: 'query task status: the service refused (HTTP 400, code 20015): words of the service',
      serviceCode: 20015,
    });
  });

  it('does not make an unknown address an unknown task when the question was about none', async () => {
    answer = (response) => {
      replyJson(response, 404, no(1));
    };
    expect(await thrownBy(client.getUserMetadata())).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a reply that is not as specified', () => {
  it.each([
    ['no JSON', 'rubbish'],
    ['an empty body', ''],
    ['a bare value', '7'],
    ['no envelope', '{"status":"Running"}'],
    ['a code that is no number', '{"code":"ok","status":true,"data":{"status":"Running"}}'],
    ['no data', '{"code":20000,"status":true}'],
    ['data without the state', '{"code":20000,"status":true,"data":{"type":"API"}}'],
    ['a state that is no text', '{"code":20000,"status":true,"data":{"status":3}}'],
  ])('is %s: ServiceResponseInvalidError', async (_name, body) => {
    answer = (response) => response.writeHead(200).end(body);
    const error = await thrownBy(client.getTask('r'));
    expect(error).toBeInstanceOf(service.ServiceResponseInvalidError);
    expect(error).toMatchObject({ code: 'RESPONSE_INVALID', httpStatus: 200 });
  });

  it('names every field that is wrong', async () => {
    answer = (response) => {
      replyJson(response, 200, { code: 20000, data: { list: [{ id: 'x' }] } });
    };
    const error = (await thrownBy(client.listInputs())) as Error;
    expect(error.message).toContain('list.0.id');
    expect(error.message).toContain('list.0.url');
  });

  it('is not read beyond 8 MiB', async () => {
    answer = (response) => response.writeHead(200).end(Buffer.alloc(9 * 1024 * 1024, 0x20));
    expect(await thrownBy(client.getTask('r'))).toMatchObject({
      code: 'RESPONSE_INVALID',
      message: expect.stringContaining('exceeds 8388608 bytes') as string,
    });
  });

  it('is user metadata that is no JSON', async () => {
    answer = (response) => response.writeHead(200).end('<html>');
    expect(await thrownBy(client.getUserMetadata())).toMatchObject({ code: 'RESPONSE_INVALID' });
  });
});

describe('a connection that fails', () => {
  async function failWith(behaviour: RawBehaviour, timeoutMs = 5_000) {
    const raw = await startRawServer(behaviour);
    const reader = new service.ServiceClient({ baseUrl: raw.url, apiKey: 'key' });
    const error = await thrownBy(reader.getTask('r', { timeoutMs }));
    await reader.close();
    await raw.close();
    return { error, requests: raw.received().split('GET /').length - 1 };
  }
  const head = 'HTTP/1.1 200 OK\r\n';

  it.each<[string, RawBehaviour, string]>([
    ['a reset', { onFirstBytes: (socket) => socket.resetAndDestroy() }, 'UNREACHABLE'],
    ['an end without a reply', { onFirstBytes: (socket) => socket.end() }, 'UNREACHABLE'],
    ['a body cut short', { onFirstBytes: (s) => s.end(`${head}content-length: 50\r\n\r\n{"code"`) }, 'UNREACHABLE'],
    ['rubbish', { onFirstBytes: (socket) => socket.end('rubbish\r\n\r\n') }, 'RESPONSE_INVALID'],
    [
      'a broken chunk',
      { onFirstBytes: (s) => s.end(`${head}transfer-encoding: chunked\r\n\r\nzz\r\n`) },
      'RESPONSE_INVALID',
    ],
    [
      'a head without end',
      { onFirstBytes: (s) => s.write(`${head}x: ${'a'.repeat(40_000)}\r\n\r\n`) },
      'RESPONSE_INVALID',
    ],
  ])('with %s is a typed error, after one request', async (_name, behaviour, code) => {
    const { error, requests } = await failWith(behaviour);
    expect(error).toMatchObject({ code });
    expect(requests).toBe(1);
  });

  it.each<[string, RawBehaviour['onFirstBytes']]>([
    ['no reply', () => undefined],
    ['half a body', (socket) => socket.write(`${head}content-length: 50\r\n\r\n{`)],
  ])('with %s in time is ServiceTimeoutError', async (_name, onFirstBytes) => {
    const { error } = await failWith({ onFirstBytes: onFirstBytes! }, 100);
    expect(error).toBeInstanceOf(service.ServiceTimeoutError);
    expect(error).toMatchObject({ code: 'TIMEOUT', timeoutMs: 100 });
  });

  it('because nobody listens is ServiceUnreachableError that names the host', async () => {
    const nobody = new service.ServiceClient({ baseUrl: 'http://127.0.0.1:1', apiKey: 'key' });
    const error = await thrownBy(nobody.getTask('r'));
    expect(error).toBeInstanceOf(service.ServiceUnreachableError);
    expect((error as Error).message).toContain('127.0.0.1:1 gave no complete reply: the connection was refused');
    await nobody.close();
  });

  it('keeps to the time limit while the connection is being made', async () => {
    const slow = await startRawServer({});
    const reader = new service.ServiceClient({ baseUrl: `https://127.0.0.1:${slow.port}`, apiKey: 'key' });
    const begin = performance.now();
    expect(await thrownBy(reader.getTask('r', { timeoutMs: 100 }))).toMatchObject({ code: 'TIMEOUT' });
    expect(performance.now() - begin).toBeLessThan(3_000);
    await slow.close();
    await reader.close();
  });
});

describe('an abort by the caller', () => {
  it('rejects with the reason of the signal, before and during the request', async () => {
    const silent = await startRawServer({});
    const reader = new service.ServiceClient({ baseUrl: silent.url, apiKey: 'key' });
    const reason = new Error('no longer wanted');
    expect(await thrownBy(reader.getTask('r', { signal: AbortSignal.abort(reason) }))).toBe(reason);
    const abort = new AbortController();
    const pending = thrownBy(reader.getTask('r', { signal: abort.signal }));
    await eventually(() => silent.received() !== '');
    abort.abort(reason);
    expect(await pending).toBe(reason);
    await reader.close();
    await silent.close();
  });
});
