import { inspect } from 'node:util';
import fc from 'fast-check';
import { ServiceClient, ServiceError } from '../../../src/service';
import { readTaskDetail } from '../../../src/service/tasks';
import { startRawServer, type RawServer } from '../../support/start-raw-server';
import { readingCalls } from './every-call';

const API_KEY = 'sk-wire-fuzz-0123456789';
const TIMEOUT_MS = 3_000;

const wireNames = [
  ...['requestId', 'request_id', 'status', 'created_at', 'ended_at', 'queue_info', 'queueInfo', 'queue_count'],
  ...['cost_times', 'error_message', 'error_msg', 'outputs', 'object_url', 'output_ext', 'audit_status', 'list'],
  ...['total', 'id', 'url', 'file', 'storage', 'object_key', 'security_token', '__proto__', 'constructor', 'toString'],
];
/** JSON in the vocabulary of the service, so that the generated values get past the first check. */
const { value: wireValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, -1, 0, 2 ** 53, '', '5', '-1', 'Queuing', 'Cancelled', 'NOT_ERROR'),
    fc.string(),
    fc.double(),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...wireNames), tie('value'), { maxKeys: 8 }),
  ),
}));
const envelope = fc.record(
  {
    code: fc.oneof(fc.constantFrom(20000, '20000', 20015), wireValue),
    message: fc.oneof(fc.constant(`refused ${API_KEY}`), wireValue),
    status: fc.oneof(fc.boolean(), wireValue),
    data: wireValue,
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  fc.json(),
  fc.string({ unit: 'binary' }),
  wireValue.map((value) => JSON.stringify(value)),
  envelope.map((value) => JSON.stringify(value)),
  envelope.map((value) => JSON.stringify(value).slice(0, -2)),
  fc.constantFrom('', '{', '{"requestId":"r1"}', '{"requestId":5}', '[]', '\ufeff{}', '{"code":1e999}'),
);
const header = fc.oneof(
  fc.constantFrom(
    'Content-Length: 5',
    'Content-Length: 99999',
    'Content-Length: -1',
    'Transfer-Encoding: chunked',
    'Content-Encoding: gzip',
    'Location: http://127.0.0.1:1/',
    'Content-Type: text/html; charset=utf-16',
    'Connection: upgrade',
  ),
  fc
    .oneof(
      fc.string({ unit: 'grapheme-ascii' }),
      fc.constantFrom('5', '-5', '1e9', 'soon', 'Wed, 21 Oct 2015 07:28:00 GMT'),
    )
    .map((value) => `Retry-After: ${value}`),
);
const httpStatus = fc.oneof(
  fc.constantFrom(200, 202, 204, 302, 401, 404, 429, 500, 503),
  fc.integer({ min: 100, max: 999 }),
);

/** What comes back over the connection before it is closed: an answer, nearly one, or no HTTP at all. */
const wireAnswer = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(httpStatus, fc.array(header, { maxLength: 3 }), body).map(asHttp) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
);

/** All nine endpoints; create in both kinds of mode. */
const calls: typeof readingCalls = {
  createTaskSync: (client) => client.createTaskSync({ webAppId: 1, inputValues: {} }),
  ...readingCalls,
};

let answer: Buffer = Buffer.alloc(0);
let server: RawServer;
let client: ServiceClient;

beforeAll(async () => {
  server = await startRawServer({ onFirstBytes: (socket) => socket.end(answer) });
  const timeouts = { connectMs: TIMEOUT_MS, readMs: TIMEOUT_MS, createMs: TIMEOUT_MS, syncMs: TIMEOUT_MS };
  client = new ServiceClient({ baseUrl: server.url, apiKey: API_KEY, timeouts });
});

afterAll(async () => {
  await client.close();
  await server.close();
});

describe('whatever comes over the wire', () => {
  it.each(Object.entries(calls))('%s gives a result or a ServiceError that holds no key', async (_name, call) => {
    await fc.assert(
      fc.asyncProperty(wireAnswer, async (bytes) => {
        answer = bytes;
        const error = await call(client).then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error === undefined || error instanceof ServiceError ? 'as promised' : error).toBe('as promised');
        expect(inspect(error, { depth: 10 })).not.toContain(API_KEY);
      }),
      { numRuns: 200 },
    );
  });

  it('a create is never taken for one that was not sent, and its outcome holds no key', async () => {
    await fc.assert(
      fc.asyncProperty(wireAnswer, async (bytes) => {
        answer = bytes;
        const created = await client.createTask({ webAppId: 1, inputValues: {} });
        expect(['accepted', 'rejected', 'uncertain']).toContain(created.outcome);
        expect(JSON.stringify(created)).not.toContain(API_KEY);
      }),
      { numRuns: 200 },
    );
  });

  it('a detail that was read has a state, and whole numbers only where they are promised', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...wireNames), wireValue), fc.string(), (data, word) => {
        const { status, queuePosition = 0, costTimes } = readTaskDetail({ ...data, status: `S${word}` });
        expect(status).not.toBe('');
        expect(queuePosition).toBeGreaterThanOrEqual(0);
        expect(Object.values(costTimes).every((value) => typeof value === 'number')).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

function asHttp([status, headers, content]: readonly [number, readonly string[], string]): Buffer {
  return Buffer.from([`HTTP/1.1 ${status} Answer`, ...headers, '', content].join('\r\n'));
}
