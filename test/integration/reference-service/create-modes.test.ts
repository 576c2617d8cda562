import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { startService } from '../../support/start-reference-service';
import { aNumber, aText, aTimestamp, objectWith, textWith } from './matchers';
import { PlainClient } from './plain-client';

const CREATE = '/w/v1/webapp/task/openapi/create';
const INSTANT = { web_app_id: 5, input_values: {} };
// Nobody listens there; these tests are about the answer to the create.
const NOWHERE = 'http://127.0.0.1:9/callback';

let service: ReferenceService;
let client: PlainClient;

beforeAll(async () => {
  service = await startService();
  client = new PlainClient(service);
});

afterAll(() => service.stop());

describe('a create without a special header', () => {
  it('holds the connection until the task has ended and answers with its result', async () => {
    const answer = await client.ask('POST', CREATE, INSTANT);

    expect(answer).toMatchObject({
      status: 200,
      body: {
        code: 20000,
        message: 'Ok',
        status: true,
        data: {
          request_id: aText,
          status: 'Success',
          ended_at: aTimestamp,
          outputs: [{ object_url: aText, output_ext: '.png', error_type: 'NOT_ERROR' }],
          cost_times: { total_cost_time: aNumber },
        },
      },
    });
  });

  it('reports a failed task inside a success', async () => {
    const answer = await client.ask('POST', CREATE, INSTANT, { 'X-Reference-Scenario': 'fail;message=no ink' });

    expect(answer).toMatchObject({
      status: 200,
      body: {
        status: true,
        data: { status: 'Failed', outputs: [{ error_type: 'EXECUTION_ERROR', error_msg: 'no ink' }] },
      },
    });
  });
});

describe('the asynchronous header', () => {
  it('brings a 202 with nothing but the request id', async () => {
    const answer = await client.ask('POST', CREATE, INSTANT, { 'X-Svc-Task-Async': 'enable' });

    expect(answer).toMatchObject({ status: 202, body: { requestId: aText } });
    expect(Object.keys(answer.body ?? {})).toEqual(['requestId']);
  });

  it('with another value than enable is no asynchronous header', async () => {
    expect((await client.ask('POST', CREATE, INSTANT, { 'X-Svc-Task-Async': 'disable' })).status).toBe(200);
  });
});

describe('the callback header', () => {
  it.each([{}, { 'X-Svc-Task-Async': 'enable' }])(
    'brings a 202 beside %p, and the task is one with a callback',
    async (more) => {
      const requestId = await client.createTask(5, {}, { 'X-Svc-Task-WebHook-Url': NOWHERE, ...more });

      expect(service.tasks.find(requestId)?.request.callback?.url.href).toBe(NOWHERE);
    },
  );

  it.each(['not a url', 'ftp://example.org/x', 'http://user:password@example.org/'])('refuses %s', async (address) => {
    const answer = await client.ask('POST', CREATE, INSTANT, { 'X-Svc-Task-WebHook-Url': address });

    expect(answer).toEqual({
      status: 400,
      headers: answer.headers,
      body: objectWith({ code: 20015, message: textWith('X-Svc-Task-WebHook-Url') }),
    });
  });
});
