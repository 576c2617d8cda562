import type { ServerResponse } from 'node:http';
import { type RequestEnd, ServiceClient } from '../../../src/service';
import { type ReceivedRequest, replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';
import { readingCalls } from './every-call';

type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

let server: TestHttpServer;
let client: ServiceClient;
let answer: Answer;
const ends: RequestEnd[] = [];
const fine = { code: 20000, message: 'Ok', status: true, data: {} };
const request = { webAppId: 1, inputValues: { '1:A.prompt': 'drop table' } };

const page: Answer = (response) => {
  response.writeHead(403, { 'content-type': 'text/html' }).end('<html>blocked</html>');
};
/** Creates get the page of a firewall, anything else what the service says. */
const firewall =
  (others: Answer): Answer =>
  (response, received) => {
    (received.method === 'POST' ? page : others)(response, received);
  };

beforeEach(async () => {
  server = await startHttpServer((received, response) => {
    answer(response, received);
  });
  ends.length = 0;
  client = new ServiceClient({ baseUrl: server.url, apiKey: 'key', onRequest: (end) => ends.push(end) });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

describe('a 403 without the service’s envelope', () => {
  it('refuses that create alone while the service takes the key', async () => {
    answer = firewall((response) => {
      replyJson(response, 200, fine);
    });
    expect(await client.createTask(request)).toMatchObject({ outcome: 'rejected', retryable: false, scope: 'request' });
  });

  it('refuses the key where the service takes it for nothing', async () => {
    answer = page;
    expect(await client.createTask(request)).toMatchObject({ outcome: 'rejected', scope: 'key' });
    expect(ends.map(({ keyRefused }) => keyRefused)).toEqual([true, true]);
  });

  it('is the service’s word where it has an envelope', async () => {
    answer = firewall((response) => {
      replyJson(response, 200, fine);
    });
    const others = answer;
    answer = (response, received) => {
      if (received.method === 'POST') replyJson(response, 403, { code: 7, message: 'no', status: false });
      else others(response, received);
    };
    expect(await client.createTask(request)).toMatchObject({ outcome: 'rejected', scope: 'key' });
    expect(ends).toHaveLength(1);
  });

  it('says nothing about the key of a query just after the key was taken', async () => {
    answer = (response) => {
      replyJson(response, 200, fine);
    };
    await client.getUserMetadata();
    answer = page;
    await expect(client.getTask('r-1')).rejects.toMatchObject({ code: 'API_ERROR', httpStatus: 403 });
    expect(ends.at(-1)?.keyRefused).toBeUndefined();
  });
});

describe('a reply with HTTP 200 that is no success', () => {
  const bodies: readonly (readonly [unknown, string])[] = [
    [{ code: 20050, message: 'no', status: false, data: null }, 'INSUFFICIENT_BALANCE'],
    [{ code: 20000, message: 'no', status: false, data: {} }, 'API_ERROR'],
    [{ message: 'no', status: false }, 'API_ERROR'],
    [{ code: 50600, message: 'slow' }, 'RATE_LIMITED'],
    ['<html>Sign in</html>', 'RESPONSE_INVALID'],
  ];

  const calls = Object.entries(readingCalls);
  it.each(calls.flatMap(([name, call]) => bodies.map(([body, code]) => [name, body, code, call] as const)))(
    'is refused: %s with %j as %s',
    async (_name, body, code, call) => {
      answer = (response) => {
        if (typeof body === 'string') response.writeHead(200, { 'content-type': 'text/html' }).end(body);
        else replyJson(response, 200, body);
      };
      await expect(call(client)).rejects.toMatchObject({ code });
    },
  );

  it.each(calls.filter(([name]) => !['cancelTask', 'interruptTask', 'getUserMetadata'].includes(name)))(
    'is invalid without data: %s',
    async (_name, call) => {
      answer = (response) => {
        replyJson(response, 200, { ...fine, data: null });
      };
      await expect(call(client)).rejects.toMatchObject({ code: 'RESPONSE_INVALID' });
    },
  );
});

describe('values in another form than the specification shows', () => {
  it('are read: a large id, an extension without its dot, moments in ISO form or as numbers, states in other words', async () => {
    const own = new ServiceClient({ baseUrl: server.url, apiKey: 'key', states: { Fertig: 'Success' } });
    answer = (response, { url }) => {
      if (url.includes('detail')) {
        const moments = { created_at: 1767225600, ended_at: 1767225600123, expired_at: '2026-01-01T08:00:00+08:00' };
        replyJson(response, 200, {
          ...fine,
          data: { status: 'FERTIG', ...moments, updated_at: '2026-01-01T08:00:00' },
        });
      } else if (url.includes('outputs')) {
        replyJson(response, 200, { ...fine, data: { status: 'COMPLETED', outputs: [{ output_ext: 'png' }] } });
      } else {
        const data = '{"list":[{"id":1877265245566922753,"name":"a \\"1877265245566922753\\"","url":"https://s/a"}]}';
        response.end(`{"code":20000,"message":"Ok","status":true,"data":${data}}`);
      }
    };
    const midnight = '2026-01-01T00:00:00.000Z';
    expect(await own.getTask('r-1')).toMatchObject({
      status: 'Success',
      createdAt: { iso: midnight },
      endedAt: { iso: '2026-01-01T00:00:00.123Z' },
      expiredAt: { iso: midnight },
      updatedAt: { iso: midnight },
    });
    expect(await own.getOutputs('r-1')).toMatchObject({ status: 'Success', outputs: [{ ext: '.png' }] });
    const { list } = await own.listInputs();
    expect(list).toMatchObject([{ id: '1877265245566922753', name: 'a "1877265245566922753"' }]);
    await own.close();
  });
});

describe('a task whose state has an unknown word', () => {
  it('is over once its outputs say so', async () => {
    const listed = { status: 'Success', outputs: [{ object_url: 'https://s/a.png' }] };
    answer = (response, { url }) => {
      replyJson(response, 200, { ...fine, data: url.includes('outputs') ? listed : { status: 'Ganz fertig' } });
    };
    const ended = await client.waitForTask('r-1', { poll: { minMs: 1, maxMs: 2 }, timeoutMs: 10_000 });
    expect(ended.status).toBe('Success');
  });
});
