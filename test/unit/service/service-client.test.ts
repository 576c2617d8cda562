import { inspect } from 'node:util';
import { ServiceClient, TaskStateConflictError } from '../../../src/service';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';

function envelope(data: unknown) {
  return { code: 20000, message: 'Ok', status: true, data };
}

let server: TestHttpServer;
let client: ServiceClient;
let status: number;
let body: unknown;

beforeAll(async () => {
  server = await startHttpServer((_request, response) => {
    replyJson(response, status, body);
  });
  client = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
});
beforeEach(() => {
  status = 200;
});
afterAll(async () => {
  await client.close();
  await server.close();
});

function lastRequest() {
  return server.requests.at(-1)!;
}

describe('getTask', () => {
  it('asks as section 4.2 says and reads every field of section 2.3', async () => {
    body = envelope({
      type: 'API',
      status: 'Queuing',
      created_at: '2026-01-02 03:04:05',
      updated_at: '2026-01-02 03:04:06',
      ended_at: null,
      expired_at: '2026-01-17 03:04:05',
      queue_info: { queue_count: 3 },
      cost_times: { total_cost_time: 1200, real_gpu_cost_time: '7', odd: 'x' },
      group_id: 9,
      inference_cost_time: 4,
      brand_new: [1],
    });
    const detail = await client.getTask('r 1&x');
    expect(lastRequest()).toMatchObject({
      method: 'GET',
      url: '/w/v1/webapp/task/openapi/detail?requestId=r+1%26x',
      headers: { authorization: 'Bearer key' },
    });
    expect(detail).toEqual({
      type: 'API',
      status: 'Queuing',
      createdAt: { iso: '2026-01-01T19:04:05.000Z', raw: '2026-01-02 03:04:05' },
      updatedAt: { iso: '2026-01-01T19:04:06.000Z', raw: '2026-01-02 03:04:06' },
      expiredAt: { iso: '2026-01-16T19:04:05.000Z', raw: '2026-01-17 03:04:05' },
      queuePosition: 3,
      costTimes: { total_cost_time: 1200, real_gpu_cost_time: 7 },
      groupId: 9,
      inferenceSeconds: 4,
    });
  });

  it.each([
    ['queueInfo', { status: 'Queuing', queueInfo: { queue_count: 2 } }, { queuePosition: 2 }],
    ['a queue count given as text', { status: 'Queuing', queue_info: { queue_count: '0' } }, { queuePosition: 0 }],
    ['error_msg', { status: 'Failed', error_msg: 'oom' }, { errorMessage: 'oom' }],
    ['error_message over error_msg', { status: 'Failed', error_message: 'a', error_msg: 'b' }, { errorMessage: 'a' }],
    ['an empty error_message', { status: 'Failed', error_message: '', error_msg: 'b' }, { errorMessage: 'b' }],
    ['Cancelled', { status: 'Cancelled' }, { status: 'Canceled' }],
    ['SUCCESS', { status: 'SUCCESS' }, { status: 'Success' }],
    ['canceled', { status: 'cancelled' }, { status: 'Canceled' }],
    ['a status nobody knows', { status: 'Dreaming' }, { status: 'Dreaming' }],
    ['a time that is none', { status: 'Running', created_at: '2026-02-30 00:00:00' }, { createdAt: { iso: null } }],
    ['malformed extras', { status: 'Running', cost_times: 7, queue_info: 'x', created_at: 5 }, { costTimes: {} }],
  ])('reads %s', async (_name, data, expected) => {
    body = envelope(data);
    expect(await client.getTask('r')).toMatchObject(expected);
  });

  it('shows no queue position when the service does not know it', async () => {
    body = envelope({ status: 'Queuing', queue_info: { queue_count: -1 } });
    expect((await client.getTask('r')).queuePosition).toBeUndefined();
  });

  it('accepts an envelope code given as text', async () => {
    body = { ...envelope({ status: 'Running' }), code: '20000' };
    expect(await client.getTask('r')).toMatchObject({ status: 'Running' });
  });

  it('takes the success codes and the meaning of codes from its options', async () => {
    const tuned = new ServiceClient({
      baseUrl: server.url,
      apiKey: 'key',
      successCodes: [20000, 20002],
      envelopeCodes: { 777: 'TASK_NOT_FOUND' },
    });
    body = { ...envelope({ status: 'Running' }), code: 20002 };
    expect(await tuned.getTask('r')).toMatchObject({ status: 'Running' });
    body = { code: 777, message: 'gone', status: false };
    await expect(tuned.getTask('r')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
    await tuned.close();
  });
});

describe('getOutputs', () => {
  it('asks as section 4.3 says and reads every field of section 2.4', async () => {
    body = envelope({
      request_id: 'r-1',
      status: 'Success',
      outputs: [
        {
          object_url: 'https://s/1.png?sig=1',
          output_ext: '.png',
          cost_time: '830',
          audit_status: 2,
          error_type: 'NOT_ERROR',
        },
        { error_type: 'EXECUTION_ERROR', error_msg: '', error_message: 'node 3 failed', audit_status: null },
        { object_url: 'https://s/2.png' },
      ],
    });
    expect(await client.getOutputs('r-1')).toMatchObject({
      requestId: 'r-1',
      status: 'Success',
      outputs: [
        { objectUrl: 'https://s/1.png?sig=1', ext: '.png', costTimeMs: 830, auditStatus: 2, errorType: 'NOT_ERROR' },
        { ext: '', auditStatus: null, errorType: 'EXECUTION_ERROR', errorMessage: 'node 3 failed' },
        { objectUrl: 'https://s/2.png', errorType: 'NOT_ERROR' },
      ],
    });
    expect(lastRequest().url).toBe('/w/v1/webapp/task/openapi/outputs?requestId=r-1');
  });

  it.each([[null], [undefined]])('reads %j outputs as none', async (outputs) => {
    body = envelope({ request_id: 'r-1', status: 'Running', outputs });
    expect(await client.getOutputs('r-1')).toMatchObject({ outputs: [] });
  });
});

describe('cancelTask and interruptTask', () => {
  it.each([
    ['cancel', () => client.cancelTask('r-1')],
    ['interrupt', () => client.interruptTask('r-1')],
  ])('%s as sections 4.4 and 4.5 say, whatever the body of a 200 is', async (verb, call) => {
    for (const anything of [envelope(null), {}, 'fine', null]) {
      body = anything;
      await expect(call()).resolves.toBeUndefined();
    }
    expect(lastRequest()).toMatchObject({
      method: 'PUT',
      url: `/w/v1/webapp/task/openapi/${verb}?requestId=r-1`,
      headers: { 'content-type': 'application/json', 'content-length': '0' },
      body: '',
    });
  });

  it.each(['cancelTask', 'interruptTask'] as const)(
    '%s that does not apply is a conflict with the task’s state',
    async (call) => {
      for (status of [400, 409]) {
        body = { code: 1, message: 'the task has ended', status: false };
        const refused = client[call]('r-1');
        await expect(refused).rejects.toBeInstanceOf(TaskStateConflictError);
        await expect(refused).rejects.toMatchObject({ code: 'TASK_STATE_CONFLICT', httpStatus: status });
      }
    },
  );

  it('refuses when a 200 carries an envelope that says no', async () => {
    body = { code: 1, message: 'the task runs already', status: false };
    await expect(client.cancelTask('r-1')).rejects.toMatchObject({
      code: 'API_ERROR',
      serviceCode: 1,
      message: expect.stringContaining('the task runs already') as string,
    });
  });
});

describe('getUploadToken', () => {
  const data = {
    file: { object_key: 'inputs/1/a.png', access_key_id: 'AK', access_key_secret: 'SK', security_token: 'ST' },
    storage: { endpoint: 'oss-cn-x.example', bucket: 'b', region: 'oss-cn-x' },
  };

  it('asks as section 4.6 says and reads every field of section 2.6', async () => {
    body = envelope(data);
    expect({ ...(await client.getUploadToken('ä b.png')) }).toEqual({
      objectKey: 'inputs/1/a.png',
      accessKeyId: 'AK',
      accessKeySecret: 'SK',
      securityToken: 'ST',
      endpoint: 'oss-cn-x.example',
      bucket: 'b',
      region: 'oss-cn-x',
    });
    expect(lastRequest().url).toBe('/x/v1/upload/token?file_name=%C3%A4+b.png&file_type=inputs');
  });

  it('gives a token that shows no credential when it is printed or serialized', async () => {
    body = envelope(data);
    const token = await client.getUploadToken('a.png');
    const shown = `${JSON.stringify({ token })}${inspect({ token }, { depth: 9 })}`;
    expect(shown).toContain('inputs/1/a.png');
    expect(shown).not.toMatch(/AK|SK|ST/);
  });

  it('names what is missing, not what is there', async () => {
    body = envelope({ ...data, file: { ...data.file, security_token: undefined } });
    const error: unknown = await client.getUploadToken('a.png').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'RESPONSE_INVALID',
      message: expect.stringContaining('file.security_token') as string,
    });
    expect(inspect(error)).not.toContain('SK');
  });
});

describe('input resources', () => {
  const resource = { id: '7', name: 'a.png', ext: '.png', url: 'https://s/a.png' };

  it('commits as section 4.7 says', async () => {
    body = envelope(resource);
    expect(await client.commitInput({ name: 'a.png', objectKey: 'inputs/1/a.png' })).toEqual({ ...resource, id: 7 });
    expect(lastRequest()).toMatchObject({ method: 'POST', url: '/x/v1/input_resource/commit' });
    expect(JSON.parse(lastRequest().body)).toEqual({ name: 'a.png', object_key: 'inputs/1/a.png' });
  });

  it('lists as section 4.8 says', async () => {
    body = envelope({ list: [resource], total: '1', current: 2, page_size: 5 });
    const page = await client.listInputs({ current: 2, pageSize: 5, ext: '.png', objectKey: 'k' });
    expect(page).toEqual({ list: [{ ...resource, id: 7 }], total: 1, current: 2, pageSize: 5 });
    expect(lastRequest().url).toBe('/x/v1/input_resource?current=2&page_size=5&ext=.png&object_key=k');
    body = envelope({ list: null });
    expect(await client.listInputs()).toEqual({ list: [] });
    expect(lastRequest().url).toBe('/x/v1/input_resource');
  });
});

describe('eachInput', () => {
  async function idsFrom(pages: (current: number) => unknown) {
    const paged = await startHttpServer((request, response) => {
      const current = Number(new URL(request.url, 'http://x').searchParams.get('current'));
      replyJson(response, 200, envelope(pages(current)));
    });
    const walker = new ServiceClient({ baseUrl: paged.url, apiKey: 'key' });
    const ids: unknown[] = [];
    for await (const { id } of walker.eachInput({ pageSize: 2 })) ids.push(id);
    await walker.close();
    await paged.close();
    return { ids, asked: paged.requests.length };
  }
  const list = (...ids: number[]) => ids.map((id) => ({ id, url: `https://s/${id}` }));

  it('walks through the pages up to the total', async () => {
    const pages = [list(1, 2), list(3, 4), list(5)];
    expect(await idsFrom((current) => ({ list: pages[current - 1], total: 5 }))).toEqual({
      ids: [1, 2, 3, 4, 5],
      asked: 3,
    });
  });

  it('stops at an empty page when there is no total', async () => {
    const pages = [list(1, 2), list(3), list()];
    expect(await idsFrom((current) => ({ list: pages[current - 1] }))).toEqual({ ids: [1, 2, 3], asked: 3 });
  });

  it('stops when the service gives the same page again and again', async () => {
    expect(await idsFrom(() => ({ list: list(1, 2), total: 99 }))).toEqual({ ids: [1, 2], asked: 2 });
  });

  it('yields a resource once when the pages shift meanwhile', async () => {
    const pages = [list(1, 2), list(2, 3), list()];
    expect(await idsFrom((current) => ({ list: pages[current - 1], total: 4 }))).toMatchObject({ ids: [1, 2, 3] });
  });
});

describe('getUserMetadata', () => {
  it('returns JSON without an envelope as it is, because section 4.9 shows no shape', async () => {
    body = { level: 'gold', data: [1] };
    expect(await client.getUserMetadata()).toEqual(body);
    expect(lastRequest()).toMatchObject({ method: 'GET', url: '/x/v1/user/metadata' });
  });

  it('returns the data of an envelope', async () => {
    body = envelope({ level: 'gold' });
    expect(await client.getUserMetadata()).toEqual({ level: 'gold' });
  });
});

describe('ServiceClient', () => {
  it('reuses its connections for everything but creates', async () => {
    const fresh = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
    body = envelope({ status: 'Running' });
    const before = server.connectionCount();
    for (let poll = 0; poll < 10; poll += 1) await fresh.getTask('r');
    // Two, because a reply may be in hand before its connection counts as free again.
    expect(server.connectionCount() - before).toBeLessThanOrEqual(2);
    await fresh.close();
  });

  it('keeps a base path, and takes paths and whole URLs from its options', async () => {
    body = envelope({ status: 'Running' });
    const moved = new ServiceClient({
      baseUrl: `${server.url}/gateway`,
      apiKey: 'key',
      paths: { outputs: 'v2/outputs', userMetadata: `${server.url}/me` },
    });
    await moved.getTask('r');
    await moved.getOutputs('r');
    await moved.getUserMetadata();
    expect(server.requests.slice(-3).map(({ url }) => url)).toEqual([
      '/gateway/w/v1/webapp/task/openapi/detail?requestId=r',
      '/gateway/v2/outputs?requestId=r',
      '/me',
    ]);
    await moved.close();
  });

  it('uses another prefix for the mode headers when told so', async () => {
    const branded = new ServiceClient({ baseUrl: server.url, apiKey: 'key', headerPrefix: 'X-Brand-' });
    status = 202;
    body = { requestId: 'r' };
    await branded.createTask({ webAppId: 1, inputValues: {} }, { headers: { 'X-Brand-Correlation': 'c' } });
    expect(lastRequest().headers).toMatchObject({ 'x-brand-async': 'enable', 'x-brand-correlation': 'c' });
    await branded.close();
  });
});
