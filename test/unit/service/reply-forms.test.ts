import { gzipSync } from 'node:zlib';
import { ServiceClient } from '../../../src/service';
import { startHttpServer, type TestHttpServer } from '../../support/start-http-server';

let server: TestHttpServer;
let client: ServiceClient;
let answer: Parameters<typeof startHttpServer>[0];

beforeAll(async () => {
  server = await startHttpServer((received, response) => {
    answer(received, response);
  });
  client = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
});
afterAll(async () => {
  await client.close();
  await server.close();
});

const accepted = '{"requestId":"r-1"}';
const detail = '{"code":20000,"message":"Ok","status":true,"data":{"status":"Running"}}';

describe('a reply of the service', () => {
  it.each(['identity', 'gzip'])('is read from a server that may use %s where a request allows it', async (coding) => {
    answer = ({ url, headers }, response) => {
      const body = url.includes('create') ? accepted : detail;
      if (coding === 'identity' || headers['accept-encoding'] === 'identity') response.writeHead(202).end(body);
      else response.writeHead(202, { 'content-encoding': coding }).end(gzipSync(body));
    };
    expect(await client.createTask({ webAppId: 42, inputValues: {} })).toEqual({
      outcome: 'accepted',
      requestId: 'r-1',
    });
    expect(await client.getTask('r-1')).toMatchObject({ status: 'Running' });
  });

  it('is read when a byte order mark stands before its JSON', async () => {
    answer = ({ url }, response) => {
      response.writeHead(202).end(`\uFEFF${url.includes('create') ? accepted : detail}`);
    };
    expect(await client.createTask({ webAppId: 42, inputValues: {} })).toEqual({
      outcome: 'accepted',
      requestId: 'r-1',
    });
    expect(await client.getTask('r-1')).toMatchObject({ status: 'Running' });
  });
});

describe.each(['getTask', 'getOutputs', 'cancelTask', 'interruptTask'] as const)('a reply to %s', (call) => {
  const reply = (data: object): void => {
    const body = {
      code: 20000,
      message: 'Ok',
      status: true,
      request_id: 'trace-7',
      data: { status: 'Canceled', ...data },
    };
    answer = (_received, response) => void response.end(JSON.stringify(body));
  };

  it.each([
    ['request_id', { request_id: 'r-2' }],
    ['requestId', { requestId: 'r-2' }],
  ])('is refused when its data names another task, as its %s', async (_name, named) => {
    reply(named);
    await expect(client[call]('r-1')).rejects.toMatchObject({ code: 'RESPONSE_INVALID' });
  });

  it.each([
    ['names no task', {}],
    ['names it in other letters', { request_id: 'R-1' }],
    ['names it beside another id, such as of a trace', { request_id: 'trace-7', requestId: 'r-1' }],
    ['has an id that is no text', { request_id: null, requestId: '' }],
  ])('is taken when its data %s, whatever id the envelope has', async (_what, named) => {
    reply(named);
    await expect(client[call]('r-1')).resolves.not.toThrow();
  });
});
