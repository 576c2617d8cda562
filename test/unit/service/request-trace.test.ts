import { type RequestEnd, type RequestStart, ServiceClient, type TraceRequest } from '../../../src/service';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';

let server: TestHttpServer;
beforeAll(async () => {
  server = await startHttpServer((_request, response) => {
    replyJson(response, 200, { code: 20000, status: true, data: { request_id: 'r-1' } });
  });
});
afterAll(() => server.close());

async function call(traceRequest: TraceRequest, send: (client: ServiceClient) => Promise<unknown>): Promise<unknown> {
  const client = new ServiceClient({ baseUrl: server.url, apiKey: 'sk-of-this-test', traceRequest });
  try {
    return await send(client).catch(() => undefined);
  } finally {
    await client.close();
  }
}

describe('a request in a trace', () => {
  it('is told before it is sent without its query, carries the headers that it gets, and is told when it is over', async () => {
    const starts: RequestStart[] = [];
    const ends: RequestEnd[] = [];
    await call(
      (start) => {
        starts.push(start);
        return { headers: { traceparent: 'a-place', authorization: 'another' }, end: (end) => ends.push(end) };
      },
      (client) => client.getTask('r-1'),
    );

    const path = 'w/v1/webapp/task/openapi/detail';
    expect(starts).toEqual([{ name: 'detail', method: 'GET', path, host: new URL(server.url).host }]);
    expect(ends).toMatchObject([{ status: 200, requestId: 'r-1' }]);
    expect(server.requests.at(-1)?.headers).toMatchObject({
      traceparent: 'a-place',
      authorization: 'Bearer sk-of-this-test',
    });
  });

  it.each<[string, TraceRequest]>([
    [
      'begins',
      () => {
        throw new Error('no trace');
      },
    ],
    [
      'ends',
      () => ({
        headers: {},
        end: () => {
          throw new Error('no trace');
        },
      }),
    ],
  ])('is a request all the same when its trace fails as it %s', async (_when, traceRequest) => {
    const created = await call(traceRequest, (client) => client.createTask({ webAppId: 1, inputValues: {} }));
    expect(created).toMatchObject({ outcome: 'accepted' });
  });
});
