import type { ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { type RequestEnd, ServiceClient } from '../../../src/service';
import { startHttpServer, type ReceivedRequest } from '../../support/start-http-server';
import { readingCalls } from './every-call';

const apiKey = 'sk-THE-API-KEY';
const callbackToken = 'THE-CALLBACK-TOKEN';
const credentials = ['THE-ACCESS-KEY', 'THE-ACCESS-SECRET', 'THE-SECURITY-TOKEN'];
const signature = 'THE-SIGNATURE';
const secrets = [apiKey, callbackToken, ...credentials, signature];

/** Everything that a service may know and could quote. */
const quote = [
  `Authorization: Bearer ${apiKey}`,
  `"token":"${callbackToken}"`,
  `see https://s.example/o.png?x-oss-signature=${signature}`,
].join(' ');
const tokenData = {
  file: {
    object_key: 'k',
    access_key_id: credentials[0],
    access_key_secret: credentials[1],
    security_token: credentials[2],
  },
  storage: { endpoint: `https://s.example/?${signature}`, bucket: 'b' },
};

const endpoints: readonly (readonly [string, (client: ServiceClient) => Promise<unknown>])[] = [
  [
    'createTask',
    (client) =>
      client.createTask(
        { webAppId: 1, inputValues: { '1:A.b': `https://s.example/i.png?sig=${signature}` } },
        { callback: { url: 'https://me.example/cb', token: callbackToken } },
      ),
  ],
  ['createTaskSync', (client) => client.createTaskSync({ webAppId: 1, inputValues: {} })],
  ...Object.entries(readingCalls),
];

function raw(head: string, body: string) {
  return (response: ServerResponse) => {
    const { socket } = response;
    socket?.end(`${head}\r\n${body}`);
  };
}

const envelope = { message: quote, status: true, data: { ...tokenData, list: [{ id: signature, url: 7 }] } };
const failures: [string, (response: ServerResponse) => void][] = [
  ['400 that quotes the request', (response) => response.writeHead(400).end(JSON.stringify({ ...envelope, code: 1 }))],
  ['401 that quotes the request', (response) => response.writeHead(401).end(JSON.stringify({ ...envelope, code: 1 }))],
  ['429 that quotes the request', (response) => response.writeHead(429).end(JSON.stringify({ ...envelope, code: 1 }))],
  ['500 page', (response) => response.writeHead(500).end(`<html>${quote}`)],
  ['redirect', (response) => response.writeHead(302, { location: `https://s.example/?sig=${signature}` }).end(quote)],
  ['refusing envelope', (response) => response.end(JSON.stringify({ ...envelope, code: 1, status: false }))],
  ['data of a wrong shape', (response) => response.end(JSON.stringify({ ...envelope, code: 20000 }))],
  ['rubbish with secrets', (response) => response.end(`${quote}${JSON.stringify(tokenData)}`)],
  ['JSON cut short', raw('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n', JSON.stringify({ ...envelope, code: 20000 }))],
  ['broken chunks', raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n', `${quote}${credentials.join(' ')}\r\n`)],
  ['no HTTP', raw(`${quote} ${credentials.join(' ')}`, '')],
  ['reset', (response) => response.socket?.resetAndDestroy()],
  ['no answer', () => undefined],
];

describe('no secret is in what a caller gets to see of a failure', () => {
  it.each(endpoints)('of %s, whatever fails', async (_name, call) => {
    let fail: (response: ServerResponse) => void = () => undefined;
    const server = await startHttpServer((_request: ReceivedRequest, response) => {
      fail(response);
    });
    for (const [failure, behave] of failures) {
      fail = behave;
      const timeouts = { readMs: 100, createMs: 100, syncMs: 100 };
      const ends: RequestEnd[] = [];
      const onRequest = (end: RequestEnd) => ends.push(end);
      const secretsOfClient = { apiKey, secrets: [callbackToken] };
      const client = new ServiceClient({ baseUrl: server.url, ...secretsOfClient, timeouts, onRequest });
      const seen = await call(client).then(
        // A body of which the specification shows nothing is handed out as it is; it is a result, not a failure.
        (value) => (typeof value === 'object' && value !== null && 'outcome' in value ? value : undefined),
        (error: unknown) => error,
      );
      const shown = [ends, seen, seen instanceof Error ? seen.stack : '', seen instanceof Error ? seen.cause : '']
        .map((part) => `${String(part)} ${JSON.stringify(part)} ${inspect(part, { depth: 20, showHidden: true })}`)
        .join('\n');
      const leaked = secrets.filter((secret) => shown.includes(secret));
      expect({ failure, leaked, requests: ends.length }).toEqual({ failure, leaked: [], requests: 1 });
      await client.close();
    }
    await server.close();
  });
});
