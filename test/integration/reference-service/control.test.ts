import sharp from 'sharp';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { putObject } from '../../conformance/storage-put';
import { startService } from '../../support/start-reference-service';
import { PlainClient } from './plain-client';

const controlToken = 'token-of-the-control';
const instant = { web_app_id: 5, input_values: {} };

let service: ReferenceService;
let client: PlainClient;
let control: PlainClient;

beforeAll(async () => {
  service = await startService({ controlToken });
  client = new PlainClient(service);
  control = new PlainClient({ url: service.url, apiKey: controlToken });
});
afterAll(() => service.stop());

describe('the control endpoint', () => {
  it('is closed to an API key, and shows the ledger, filtered and without a secret', async () => {
    const headers = { 'X-Svc-Task-Authorization': 'Bearer callback-token', 'X-Svc-Task-Correlation': 'task:one' };
    const requestId = await client.createTask(5, {}, headers);
    await client.detail(requestId);
    const { accessKeySecret, securityToken } = await client.token('a.png');

    expect(await client.ask('GET', '/__control/ledger')).toMatchObject({ status: 401, body: { code: 20093 } });
    const entries = [{ endpoint: 'create', requestId, webAppId: 5, correlation: 'task:one', status: 202 }];
    expect(await control.ask('GET', `/__control/ledger?endpoint=create&requestId=${requestId}`)).toMatchObject({
      status: 200,
      body: { data: { entries } },
    });
    expect((await control.ask('GET', '/__control/ledger?nonsense=1')).status).toBe(400);
    const whole = JSON.stringify((await control.ask('GET', '/__control/ledger')).body);
    expect(whole).toContain('upload-token');
    for (const secret of [service.apiKey, 'callback-token', accessKeySecret, securityToken]) {
      expect(whole).not.toContain(secret);
    }
  });

  it('makes the next requests misbehave, and forgets it again', async () => {
    const rule = { endpoint: 'create', scenario: 'refuse;reason=queueFull', times: null };
    expect((await control.ask('POST', '/__control/scenarios', rule)).status).toBe(200);
    const during = [(await client.create(instant)).status, (await client.create(instant)).status];
    expect((await control.ask('DELETE', '/__control/scenarios')).status).toBe(200);

    expect([...during, (await client.create(instant)).status]).toEqual([503, 503, 202]);
    expect((await control.ask('POST', '/__control/scenarios', { ...rule, scenario: 'x' })).status).toBe(400);
  });

  it('releases and fails tasks, ends credentials, and deletes an input', async () => {
    const held = await client.createTask(5, {}, { 'X-Reference-Scenario': 'hold' });
    const doomed = await client.createTask(5, {}, { 'X-Reference-Scenario': 'hold' });
    const { id } = await client.upload('swatch.png', Buffer.from('a swatch'));
    const token = await client.token('a.png');
    await control.ask('POST', `/__control/tasks/${held}/release`);
    await control.ask('POST', `/__control/tasks/${doomed}/fail`, { message: 'by hand' });
    await control.ask('POST', '/__control/credentials/expire');

    await client.waitFor(held, 'Success');
    expect(await client.detail(doomed)).toMatchObject({ status: 'Failed', error_message: 'by hand' });
    expect(await putObject(token, Buffer.from('x'))).toBe('refused: InvalidToken');
    expect((await control.ask('POST', '/__control/tasks/none/release')).status).toBe(404);

    const create = { web_app_id: 1, input_values: { '1:LoadImage.image': String(id) } };
    expect((await client.create(create)).status).toBe(202);
    const deletions = [
      await control.ask('DELETE', `/__control/resources/${id}`),
      await control.ask('DELETE', `/__control/resources/${id}`),
    ];
    expect(deletions.map(({ status }) => status)).toEqual([200, 404]);
    expect((await client.create(create)).status).toBe(400);
  });
});

describe('the page', () => {
  it('shows apps, tasks and pictures, and no secret', async () => {
    const requestId = await client.createTask(5, {}, { 'X-Svc-Task-Authorization': 'Bearer of-the-receiver' });
    await client.waitFor(requestId, 'Success');
    const page = await fetch(`${service.url}/`);
    const picture = await fetch(`${service.url}/page/pictures/${requestId}/1`);
    const state = await (await fetch(`${service.url}/page/state`)).text();

    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html']);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await sharp(await picture.arrayBuffer()).metadata()).format).toBe('png');
    expect(state).toContain(requestId);
    for (const secret of [service.apiKey, controlToken, 'of-the-receiver', 'Signature']) {
      expect(state).not.toContain(secret);
    }
  });

  it('makes no page of its own origin of a result, whatever is in it', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>fetch("/page/state")</script></svg>';
    const { url } = await client.upload('evil.svg', Buffer.from(svg));
    const requestId = await client.createTask(11, { '1:LoadFile.file': url });
    await client.waitFor(requestId, 'Success');
    const picture = await fetch(`${service.url}/page/pictures/${requestId}/1`);

    expect(await picture.text()).toBe(svg);
    expect(picture.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
    expect(picture.headers.get('x-content-type-options')).toBe('nosniff');
  });
});

describe('a service of other settings', () => {
  it('has neither control nor page, and a rate limit that counts each account by itself', async () => {
    const limited = await startService({
      page: false,
      rateLimit: { perSecond: 0.5, burst: 2 },
      accounts: [
        { id: 'a', apiKey: 'key-of-a' },
        { id: 'b', apiKey: 'key-of-b' },
      ],
    });
    try {
      expect((await fetch(`${limited.url}/`)).status).toBe(404);
      const [a, b] = [new PlainClient(limited), new PlainClient({ url: limited.url, apiKey: 'key-of-b' })];
      const ask = (asker: PlainClient) => asker.ask('GET', '/x/v1/user/metadata');
      const answers = [await ask(a), await ask(a), await ask(a)];

      expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
      expect(answers[2]).toMatchObject({ body: { code: 50600, status: false } });
      expect(answers[2]?.headers.get('retry-after')).toBe('2');
      expect(await ask(b)).toMatchObject({ status: 200, body: { data: { id: 'b', name: 'b' } } });
      expect((await b.ask('GET', '/__control/ledger')).status).toBe(404);
    } finally {
      await limited.stop();
    }
  });
});
