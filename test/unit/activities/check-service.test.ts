import type { ServerResponse } from 'node:http';
import { checkService } from '../../../src/activities/create-request';
import { ServiceClient } from '../../../src/service';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';

type Answer = (response: ServerResponse) => void;

const json =
  (status: number, body: unknown): Answer =>
  (response) => {
    replyJson(response, status, body);
  };
const text =
  (status: number, body: string): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'text/plain' }).end(body);
  };
const fine = json(200, { code: 20000, message: 'Ok', status: true, data: {} });
const unknownTask = json(404, { code: 30009, message: 'no such task', status: false });
const refused = json(403, { code: 7, message: 'not yours', status: false });
const noBalance = json(402, { code: 20050, message: 'no balance', status: false });
const failing = json(500, { code: 1, message: 'failed', status: false });

let server: TestHttpServer;
let service: ServiceClient;
let answers: { metadata: Answer; detail: Answer };
let asked: string[];
beforeEach(async () => {
  asked = [];
  server = await startHttpServer(({ url }, response) => {
    const name = url.includes('metadata') ? 'metadata' : 'detail';
    asked.push(name);
    answers[name](response);
  });
  service = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
});
afterEach(async () => {
  await service.close();
  await server.close();
});

const check = () => checkService(service, { account: 'default' });

describe('a request that creates nothing, before a create', () => {
  it('is one, where the service takes it', async () => {
    answers = { metadata: fine, detail: failing };
    expect(await check()).toBeUndefined();
    expect(asked).toEqual(['metadata']);
  });

  it.each<[string, Answer]>([
    ['is refused to this key', refused],
    ['is answered with nothing', text(200, '')],
    ['is answered with words', text(200, 'OK')],
    ['fails', failing],
    ['is not there', text(404, 'not found')],
  ])(
    'does not hold back creates for ever where the metadata of the user %s and tasks are asked about',
    async (_what, metadata) => {
      answers = { metadata, detail: unknownTask };
      expect(await check()).toBeUndefined();
    },
  );

  it.each<[string, Answer, Answer, string]>([
    ['the key', refused, refused, 'account'],
    ['the account', noBalance, noBalance, 'account'],
    ['everything', failing, failing, 'service'],
    ['everything, with a page', text(200, '<html>'), text(200, '<html>'), 'service'],
  ])('speaks against a create where the service refuses %s', async (_what, metadata, detail, cause) => {
    answers = { metadata, detail };
    expect(await check()).toMatchObject({ cause });
  });
});
