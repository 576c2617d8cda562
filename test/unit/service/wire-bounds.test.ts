import fc from 'fast-check';
import { toPollResult } from '../../../src/activities/poll-task';
import { toFailedObservation } from '../../../src/service/task-wait';
import { toApplicationFailure } from '../../../src/activities/to-application-failure';
import { ServiceClient } from '../../../src/service';
import { type TestHttpServer, startHttpServer } from '../../support/start-http-server';

/** What may enter a history of one query, a failure or a list of 20 outputs, in bytes. */
const maxSightBytes = 32 * 1024;
const megabytes5 = 5_000_000;

let server: TestHttpServer;
let client: ServiceClient;
let reply: { readonly httpStatus: number; readonly headers?: Record<string, string>; readonly text: string };

beforeAll(async () => {
  server = await startHttpServer((_request, response) => {
    response.writeHead(reply.httpStatus, reply.headers).end(reply.text);
  });
  client = new ServiceClient({ baseUrl: server.url, apiKey: 'key-of-the-account' });
});
afterAll(async () => {
  await client.close();
  await server.close();
});

function data(fields: string): void {
  reply = { httpStatus: 200, text: `{"code":20000,"message":"Ok","status":true,"data":{${fields}}}` };
}

/** What a query brings, as it enters a history: a state or a problem, never an exception. */
async function query(): Promise<{ readonly result: ReturnType<typeof toPollResult>; readonly bytes: number }> {
  const result = await client
    .getTask('r-1')
    .then((detail) => toPollResult(detail, { account: 'default' }), toFailedObservation);
  const json = JSON.stringify(result);
  expect(JSON.parse(json)).toEqual(result);
  return { result, bytes: Buffer.byteLength(json) };
}

const long = 'x'.repeat(megabytes5);
const manyNumbers = Array.from({ length: 100_000 }, (_, index) => `"time_${index}":${index}`).join(',');
const deep = `${'['.repeat(500_000)}${']'.repeat(500_000)}`;
const deepObject = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`;

describe('a query whose reply is hostile brings the state all the same', () => {
  it.each<[string, string]>([
    ['5 MB in error_message', `"error_message":"${long}"`],
    ['5 MB in error_msg', `"error_msg":"${long}"`],
    ['5 MB in type', `"type":"${long}"`],
    ['5 MB in expired_at', `"expired_at":"${long}"`],
    ['5 MB in every time stamp', ['created', 'ended', 'running'].map((n) => `"${n}_at":"${'x'.repeat(2e6)}"`).join()],
    ['5 MB in the names of cost times', `"cost_times":{"${long}":1}`],
    ['5 MB in a cost time', `"cost_times":{"a":"${long}"}`],
    ['100,000 cost times', `"cost_times":{${manyNumbers}}`],
    ['cost times that are text', '"cost_times":"many"'],
    ['5 MB in a queue field', `"queue_info":{"queue_count":"${long}"}`],
    ['a queue of text', `"queue_info":"${long}"`],
    ['5 MB of digits', `"queue_info":{"queue_count":${'9'.repeat(megabytes5)}},"group_id":"${'9'.repeat(2e6)}"`],
    ['numbers beyond all bounds', '"group_id":1e308,"inference_cost_time":-1e999,"cost_times":{"a":1e308,"b":1e999}'],
    ['__proto__ and constructor', '"__proto__":{"status":"Queuing"},"cost_times":{"__proto__":1,"constructor":2}'],
    ['lists nested 500,000 deep', `"queue_info":${deep}`],
    ['objects nested 200,000 deep', `"cost_times":{"a":${deepObject}},"x":${deepObject}`],
    ['lone surrogates and NUL', '"error_message":"\\ud800 a \\u0000 b \\udfff","cost_times":{"\\ud800\\u0000":1}'],
    ['every field of another type', '"type":{},"created_at":[],"error_message":5,"group_id":{},"cost_times":[]'],
  ])('%s', async (_what, fields) => {
    data(`"status":"Success",${fields}`);
    const { result, bytes } = await query();
    expect(result).toMatchObject({ seen: 'task', status: 'Success' });
    expect(bytes).toBeLessThan(maxSightBytes);
    expect(JSON.stringify(result)).not.toMatch(/\\ud[89a-f]|\\u0000|null,null/i);
  });

  it.each<[string, string]>([
    ['5 MB of status', `"status":"Success${long}"`],
    ['a status of line breaks and NUL', '"status":"Run\\u0000\\nning"'],
    ['no status', '"status":null'],
    ['an empty status', '"status":""'],
  ])('or goes on when the state itself is unusable: %s', async (_what, fields) => {
    data(fields);
    const { result, bytes } = await query();
    expect(bytes).toBeLessThan(1_000);
    expect(result.seen === 'task' ? result.status : 'nothing').not.toBe('Success');
  });

  it('keeps at most 64 cost times, those of the specification as they are', async () => {
    data(`"status":"Success","cost_times":{"total_cost_time":12,${manyNumbers}}`);
    const detail = await client.getTask('r-1');
    expect(Object.keys(detail.costTimes)).toHaveLength(64);
    expect(detail.costTimes['total_cost_time']).toBe(12);
  });
});

describe('outputs', () => {
  it('have bounded texts and links', async () => {
    const item = `{"object_url":"https://h/${long.slice(0, 1e6)}","output_ext":"${long.slice(0, 1e6)}","error_type":"${long.slice(0, 1e6)}","error_msg":"${long.slice(0, 1e6)}","cost_time":1e308,"audit_status":1e308}`;
    data(`"status":"Success","outputs":[${item}]`);
    const { outputs } = await client.getOutputs('r-1');
    expect(Buffer.byteLength(JSON.stringify(outputs))).toBeLessThan(maxSightBytes);
    expect(outputs).toHaveLength(1);
    expect(outputs[0]?.objectUrl).toBeUndefined();
  });

  it.each(['null', '"https://h/b.png"', '7', '[]'])('are read beside one that is %s', async (odd) => {
    data(`"status":"Success","outputs":[${odd},{"object_url":"https://h/a.png","output_ext":".png"}]`);
    expect((await client.getOutputs('r-1')).outputs).toMatchObject([
      { errorType: 'UNKNOWN', ext: '' },
      { objectUrl: 'https://h/a.png', ext: '.png' },
    ]);
  });

  it('of 14,000 are read; a million are refused in words', async () => {
    const items = (count: number): string => `"status":"Success","outputs":[${Array(count).fill('{}').join(',')}]`;
    data(items(14_000));
    expect((await client.getOutputs('r-1')).outputs).toHaveLength(14_000);
    data(items(1_000_000));
    await expect(client.getOutputs('r-1')).rejects.toThrow(/not as specified: outputs: more than/);
  });
});

describe('a refusal', () => {
  it.each(['getTask', 'getOutputs', 'cancelTask', 'interruptTask'] as const)(
    'of %s has a bounded message and a bounded wait',
    async (call) => {
      for (const httpStatus of [400, 401, 403, 404, 409, 410, 429, 500, 503]) {
        const text = JSON.stringify({ code: 1e300, message: `\ud800\u0000${long}`, status: false });
        reply = { httpStatus, headers: { 'retry-after': '9'.repeat(10_000) }, text };
        const error: unknown = await client[call]('r-1').catch((thrown: unknown) => thrown);
        const failure = toApplicationFailure(error);
        expect(failure.message.length).toBeLessThan(1_000);
        expect(failure.message).not.toMatch(/[\p{Cs}\p{Cc}]/u);
      }
    },
  );

  it('names at most five problems of a reply, however many there are', async () => {
    data(`"list":[${Array(9_000).fill('{"id":"x"}').join(',')}],"total":1`);
    const error: unknown = await client.listInputs().catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'RESPONSE_INVALID' });
    expect((error as Error).message.length).toBeLessThan(700);
  });

  it('of a create is bounded, too', async () => {
    reply = { httpStatus: 400, text: JSON.stringify({ code: 1e300, message: long, status: false }) };
    const outcome = await client.createTask({ webAppId: 1, inputValues: {} });
    expect(outcome).toMatchObject({ outcome: 'rejected', httpStatus: 400 });
    expect(JSON.stringify(outcome).length).toBeLessThan(1_000);
  });

  it('that an activity made of anything is bounded: the second line of defence', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, times) => {
        const error = Object.assign(new Error(`${text}${'\ud800'.repeat(2 ** times)}`), { name: `${text}\ud800` });
        const failure = toApplicationFailure(error) as Error & { type: string };
        expect(failure.message.length).toBeLessThanOrEqual(4_000);
        expect(`${failure.type}${failure.message}`).not.toMatch(/\p{Cs}/u);
      }),
    );
  });
});

describe('an upload token', () => {
  const token = (key: string, storage: Record<string, string> = {}): void => {
    const file = {
      object_key: key,
      access_key_id: 'ak-4711',
      access_key_secret: 'sk-4711-secret',
      security_token: 'st-4711',
    };
    data(JSON.stringify({ file, storage: { endpoint: 'h', bucket: 'b', region: 'r', ...storage } }).slice(1, -1));
  };

  it('is refused when its key, which enters histories, holds a secret or a control character', async () => {
    for (const key of ['inputs/sk-4711-secret/a.png', 'inputs/key-of-the-account.png', 'inputs/a\u0000.png']) {
      token(key);
      const error: unknown = await client.getUploadToken('a.png').catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'RESPONSE_INVALID' });
      expect(String(error)).toMatch(/file\.object_key: holds a control character or a secret/);
    }
  });

  it.each(['endpoint', 'bucket', 'region'])(
    'is refused when its %s, which messages name, holds a secret or a control character',
    async (field) => {
      for (const value of ['Bearer key-of-the-account', 'sk-4711-secret', 'a\u0007']) {
        token('inputs/a.png', { [field]: value });
        const error: unknown = await client.getUploadToken('a.png').catch((thrown: unknown) => thrown);
        expect(String(error)).toContain(`storage.${field}: holds a control character or a secret`);
      }
    },
  );

  it('takes any other key', async () => {
    token('inputs/2026/who is it?sig=1 & ünï.png');
    await expect(client.getUploadToken('a.png')).resolves.toMatchObject({ bucket: 'b' });
  });
});
