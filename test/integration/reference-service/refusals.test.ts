import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { startService } from '../../support/start-reference-service';
import { objectWith, textWith } from './matchers';
import { PlainClient } from './plain-client';

let service: ReferenceService;
let client: PlainClient;

beforeAll(async () => {
  service = await startService({
    accounts: [
      { id: 'one', apiKey: 'key-of-account-one' },
      { id: 'two', apiKey: 'key-of-account-two' },
    ],
    refusals: { taskNotFound: { code: 12345 } },
  });
  client = new PlainClient(service);
});

afterAll(() => service.stop());

const ENDPOINTS = [
  ['POST', '/w/v1/webapp/task/openapi/create'],
  ['GET', '/w/v1/webapp/task/openapi/detail?requestId=x'],
  ['GET', '/w/v1/webapp/task/openapi/outputs?requestId=x'],
  ['PUT', '/w/v1/webapp/task/openapi/cancel?requestId=x'],
  ['PUT', '/w/v1/webapp/task/openapi/interrupt?requestId=x'],
  ['GET', '/x/v1/upload/token?file_name=a.png&file_type=inputs'],
  ['POST', '/x/v1/input_resource/commit'],
  ['GET', '/x/v1/input_resource'],
  ['GET', '/x/v1/user/metadata'],
] as const;

describe('every endpoint', () => {
  it.each(ENDPOINTS)('refuses %s %s without a key and with a wrong one', async (method, path) => {
    const withoutKey = await fetch(`${service.url}${path}`, { method });
    const wrongKey = await client.ask(method, path, undefined, { Authorization: 'Bearer key-of-account-three' });

    expect([withoutKey.status, await withoutKey.json()]).toEqual([401, objectWith({ code: 20052, status: false })]);
    expect(wrongKey).toMatchObject({ status: 401, body: { code: 20093, status: false, data: null } });
  });
});

describe('a task', () => {
  it('of another account is not found, nor is one that never was; the code is a setting', async () => {
    const requestId = await client.createTask(5, {});
    const stranger = new PlainClient({ url: service.url, apiKey: 'key-of-account-two' });

    expect(await stranger.askDetail(requestId)).toMatchObject({ status: 404, body: { code: 12345 } });
    expect(await client.askDetail('no-such-task')).toMatchObject({ status: 404, body: { code: 12345 } });
    expect(await client.ask('GET', '/w/v1/webapp/task/openapi/detail')).toMatchObject({
      status: 400,
      body: { code: 20015, message: 'requestId: is required' },
    });
  });
});

describe('a create', () => {
  it.each([
    ['an unknown app', { web_app_id: 999, input_values: {} }, 404, 20224, 'web_app_id 999'],
    ['an app id that is no integer', { web_app_id: '1', input_values: {} }, 400, 20015, 'web_app_id'],
    ['missing input values', { web_app_id: 1 }, 400, 20015, 'input_values'],
    ['an array for input values', { web_app_id: 1, input_values: [] }, 400, 20015, 'input_values'],
    [
      'a value that is neither text nor number',
      { web_app_id: 5, input_values: { '2:Wait.seconds': [1] } },
      400,
      20015,
      '2:Wait.seconds',
    ],
    [
      'a malformed key',
      { web_app_id: 5, input_values: { seconds: 1 } },
      400,
      20015,
      '<node_id>:<NodeClass>.<parameter>',
    ],
    ['an unknown node', { web_app_id: 5, input_values: { '9:Wait.seconds': 1 } }, 400, 20015, 'no node 9'],
    ['another class', { web_app_id: 5, input_values: { '2:LoadImage.image': 1 } }, 400, 20015, 'of the class Wait'],
    ['an unknown parameter', { web_app_id: 5, input_values: { '2:Wait.minutes': 1 } }, 400, 20015, 'it has: seconds'],
    ['a wrong value', { web_app_id: 5, input_values: { '2:Wait.seconds': 'long' } }, 400, 20015, 'must be a number'],
    ['an input that is linked', { web_app_id: 5, input_values: { '2:Wait.image': 'a.png' } }, 400, 20015, 'linked'],
    ['a missing picture', { web_app_id: 1, input_values: {} }, 400, 20015, '1:LoadImage.image'],
    [
      'an unknown picture',
      { web_app_id: 1, input_values: { '1:LoadImage.image': 'x.png' } },
      400,
      20015,
      '1:LoadImage.image',
    ],
  ])('is refused for %s, and no task exists of it', async (_case, body, status, code, words) => {
    const tasksBefore = service.tasks.size;
    const answer = await client.create(body);

    expect(answer).toMatchObject({ status, body: { code, message: textWith(words), status: false } });
    expect(service.tasks.size).toBe(tasksBefore);
  });

  it('is refused for a body that is no JSON', async () => {
    const response = await fetch(`${service.url}/w/v1/webapp/task/openapi/create`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.apiKey}`, 'Content-Type': 'application/json' },
      body: '{"web_app_id":',
    });

    expect([response.status, await response.json()]).toEqual([400, objectWith({ code: 20015 })]);
  });

  it('is refused for an input link that has expired, without repeating the link', async () => {
    const picture = await client.upload('a.png', Buffer.from('bytes'));
    const expired = picture.url.replace(/X-Amz-Date=\d{8}T/, 'X-Amz-Date=20200101T');
    const answer = await client.create({ web_app_id: 1, input_values: { '1:LoadImage.image': expired } });

    expect(answer).toMatchObject({ status: 400, body: { message: textWith('expired') } });
    expect(JSON.stringify(answer.body)).not.toContain('Signature');
  });
});

describe('a path that is no URL', () => {
  it('is refused in an envelope like everything else', async () => {
    expect(await client.ask('GET', '/x/v1/%zz')).toMatchObject({ status: 400, body: { code: 20015, status: false } });
  });
});
