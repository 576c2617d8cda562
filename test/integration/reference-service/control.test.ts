import sharp from 'sharp';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { startService } from '../../support/start-reference-service';
import { objectWith } from './matchers';
import { PlainClient } from './plain-client';

const CONTROL_TOKEN = 'token-of-the-control';
const INSTANT = { web_app_id: 5, input_values: {} };

let service: ReferenceService;
let client: PlainClient;
let control: PlainClient;

beforeAll(async () => {
  service = await startService({ controlToken: CONTROL_TOKEN });
  client = new PlainClient(service);
  control = new PlainClient({ url: service.url, apiKey: CONTROL_TOKEN });
});

afterAll(() => service.stop());

describe('the control endpoint', () => {
  it('is not there unless it was asked for', async () => {
    const plain = await startService();
    try {
      expect((await new PlainClient(plain).ask('GET', '/__control/ledger')).status).toBe(404);
    } finally {
      await plain.stop();
    }
  });

  it('is closed to an API key', async () => {
    expect(await client.ask('GET', '/__control/ledger')).toMatchObject({ status: 401, body: { code: 20093 } });
  });

  it('shows the ledger, filtered', async () => {
    const requestId = await client.createTask(5, {});
    await client.detail(requestId);

    expect(await control.ask('GET', `/__control/ledger?endpoint=create&requestId=${requestId}`)).toMatchObject({
      status: 200,
      body: { data: { entries: [objectWith({ endpoint: 'create', requestId, status: 202 })] } },
    });
    expect(await control.ask('GET', '/__control/ledger?nonsense=1')).toMatchObject({ status: 400 });
  });

  it('makes the next requests misbehave, and forgets it again', async () => {
    const rule = { endpoint: 'create', scenario: 'refuse;reason=queueFull', times: null };
    expect((await control.ask('POST', '/__control/scenarios', rule)).status).toBe(200);
    const during = [(await client.create(INSTANT)).status, (await client.create(INSTANT)).status];
    expect((await control.ask('DELETE', '/__control/scenarios')).status).toBe(200);

    expect([...during, (await client.create(INSTANT)).status]).toEqual([503, 503, 202]);
    expect(await control.ask('POST', '/__control/scenarios', { ...rule, scenario: 'x' })).toMatchObject({
      status: 400,
    });
  });

  it('releases and fails tasks, and ends credentials', async () => {
    const held = await client.createTask(5, {}, { 'X-Reference-Scenario': 'hold' });
    const doomed = await client.createTask(5, {}, { 'X-Reference-Scenario': 'hold' });
    const token = await client.token('a.png');
    await control.ask('POST', `/__control/tasks/${held}/release`);
    await control.ask('POST', `/__control/tasks/${doomed}/fail`, { message: 'by hand' });
    await control.ask('POST', '/__control/credentials/expire');

    await client.waitFor(held, 'Success');
    expect(await client.detail(doomed)).toMatchObject({ status: 'Failed', error_message: 'by hand' });
    const { access_key_id, security_token } = token.file;
    const scope = { date: '20260101', region: 'cn-shanghai', service: 's3' };
    expect(service.authority.signingKey(access_key_id, security_token, scope)).toBe('InvalidToken');
    expect(await control.ask('POST', '/__control/tasks/none/release')).toMatchObject({ status: 404 });
  });
});

async function swatch(): Promise<Buffer> {
  return await sharp({ create: { width: 8, height: 8, channels: 3, background: 'teal' } })
    .png()
    .toBuffer();
}

describe('an input resource that is deleted', () => {
  it('is listed no more, and is nothing that an app can load', async () => {
    const { id } = await client.upload('swatch.png', await swatch());
    const create = { web_app_id: 1, input_values: { '1:LoadImage.image': String(id) } };
    expect((await client.create(create)).status).toBe(202);
    expect(await control.ask('DELETE', `/__control/resources/${id}`)).toMatchObject({ status: 200 });
    expect(await control.ask('DELETE', `/__control/resources/${id}`)).toMatchObject({ status: 404 });
    expect((await client.create(create)).status).toBe(400);
  });
});

describe('the rate limit', () => {
  it('refuses what goes beyond it, says when to come back, and counts each account by itself', async () => {
    const limited = await startService({
      rateLimit: { perSecond: 0.5, burst: 2 },
      accounts: [
        { id: 'a', apiKey: 'key-of-a' },
        { id: 'b', apiKey: 'key-of-b' },
      ],
    });
    try {
      const [a, b] = [new PlainClient(limited), new PlainClient({ url: limited.url, apiKey: 'key-of-b' })];
      const ask = (asker: PlainClient): ReturnType<PlainClient['ask']> => asker.ask('GET', '/x/v1/user/metadata');
      const answers = [await ask(a), await ask(a), await ask(a)];

      expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
      expect(answers[2]).toMatchObject({ body: { code: 50600, status: false } });
      expect(answers[2]?.headers.get('retry-after')).toBe('2');
      expect(await ask(b)).toMatchObject({ status: 200, body: { data: { id: 'b', name: 'b' } } });
    } finally {
      await limited.stop();
    }
  });
});

describe('the page', () => {
  it('shows apps, tasks and pictures, and no secret', async () => {
    const requestId = await client.createTask(5, {}, { 'X-Svc-Task-Authorization': 'Bearer of-the-receiver' });
    await client.waitFor(requestId, 'Success');
    const [page, state, picture] = await Promise.all([
      fetch(`${service.url}/`),
      fetch(`${service.url}/page/state`).then((response) => response.text()),
      fetch(`${service.url}/page/pictures/${requestId}/1`),
    ]);

    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html']);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(state).toContain(requestId);
    for (const secret of [service.apiKey, CONTROL_TOKEN, 'of-the-receiver', 'Signature']) {
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

  it('can be left out', async () => {
    const bare = await startService({ page: false });
    try {
      expect((await fetch(`${bare.url}/`)).status).toBe(404);
    } finally {
      await bare.stop();
    }
  });
});
