import { type RequestEnd, ServiceClient } from '../../../src/service';
import { createLogger } from '../../../src/worker/logger';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';

const apiKey = 'sk-THE-API-KEY-OF-THE-LOG';

let server: TestHttpServer;
let clients: ServiceClient[];
beforeAll(async () => {
  server = await startHttpServer(({ url }, response) => {
    if (url.includes('requestId=gone')) response.socket?.resetAndDestroy();
    else if (url.includes('requestId=cut')) response.writeHead(200, { 'content-length': 99 }).write('{', cut);
    else replyJson(response, url.includes('requestId=busy') ? 503 : 200, { code: 20000, status: true, data: {} });

    function cut(): void {
      response.socket?.destroy();
    }
  });
});
beforeEach(() => {
  clients = [];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
});
afterAll(() => server.close());

function open(onRequest: (end: RequestEnd) => void): ServiceClient {
  const client = new ServiceClient({ baseUrl: server.url, apiKey, onRequest });
  clients.push(client);
  return client;
}

/** The requests of one call, whatever becomes of it. */
async function endsOf(call: (client: ServiceClient) => Promise<unknown>): Promise<RequestEnd[]> {
  const ends: RequestEnd[] = [];
  await call(open((end) => ends.push(end))).catch(() => undefined);
  return ends;
}

const detail = { method: 'GET', path: '/w/v1/webapp/task/openapi/detail', durationMs: expect.any(Number) as number };

describe('the observer of requests', () => {
  it.each<[string, string, Partial<RequestEnd>]>([
    ['a refusal', 'busy', { status: 503 }],
    ['a connection that was reset', 'gone', { status: null, fault: 'unreachable' }],
    ['a body that was cut', 'cut', { status: 200, fault: 'unreachable' }],
  ])('is told of %s once, with the task that it is about', async (_what, requestId, end) => {
    expect(await endsOf((client) => client.getTask(requestId))).toEqual([{ ...detail, requestId, ...end }]);
  });

  it('is told of a create, and of nothing that was not sent', async () => {
    const create = await endsOf((client) => client.createTask({ webAppId: 1, inputValues: {} }));
    expect(create).toMatchObject([{ method: 'POST', path: '/w/v1/webapp/task/openapi/create', status: 200 }]);

    const keyless = new ServiceClient({
      baseUrl: server.url,
      apiKey: () => Promise.reject(new Error('no such file')),
      onRequest: () => {
        throw new Error('nothing was sent');
      },
    });
    clients.push(keyless);
    await expect(keyless.getTask('r')).rejects.toThrow('no such file');
  });

  it('that throws changes no outcome', async () => {
    const client = open(() => {
      throw new Error('a full disk');
    });
    const outcome = await client.createTask({ webAppId: 1, inputValues: {} });
    expect(outcome).toMatchObject({ outcome: 'uncertain' });
    await expect(client.cancelTask('r')).resolves.toBeUndefined();
  });

  it('sees no secret, not even one that was given as a request id', async () => {
    const lines: string[] = [];
    const logger = createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
    const client = open((end) => {
      logger.debug({ ...end }, 'request');
    });
    const ends = await endsOf((one) => one.getTask(apiKey));
    await client.getTask(apiKey).catch(() => undefined);
    await client.getUploadToken('private-name.png').catch(() => undefined);

    expect(ends).toEqual([{ ...detail, requestId: '[redacted]', status: 200 }]);
    expect(lines).toHaveLength(2);
    expect(lines.join('')).not.toMatch(/THE-API-KEY|private-name|file_name|Bearer/);
  });
});
