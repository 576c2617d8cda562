import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { putObject } from '../../conformance/storage-put';
import { eventually } from '../../support/eventually';
import { startService } from '../../support/start-reference-service';
import { PlainClient } from './plain-client';

const instant = { web_app_id: 5, input_values: {} };

let service: ReferenceService;
let client: PlainClient;
let stranger: PlainClient;

beforeAll(async () => {
  service = await startService({
    slots: 1,
    accounts: [
      { id: 'one', apiKey: 'key-of-account-one' },
      { id: 'two', apiKey: 'key-of-account-two' },
    ],
    refusals: { taskNotFound: { code: 12345 } },
  });
  client = new PlainClient(service);
  stranger = new PlainClient({ url: service.url, apiKey: 'key-of-account-two' });
});
afterAll(() => service.stop());

/** Runs with a service of other settings, and stops it. */
async function withService(
  settings: Parameters<typeof startService>[0],
  use: (own: PlainClient, other: ReferenceService) => Promise<void>,
): Promise<void> {
  const other = await startService(settings);
  try {
    await use(new PlainClient(other), other);
  } finally {
    await other.stop();
  }
}

describe('a request', () => {
  it('for an input link that has expired is refused, without repeating the link', async () => {
    const picture = await client.upload('a.png', Buffer.from('bytes'));
    const expired = picture.url.replace(/X-Amz-Date=\d{8}T/, 'X-Amz-Date=20200101T');
    const answer = await client.create({ web_app_id: 1, input_values: { '1:LoadImage.image': expired } });

    expect(answer).toMatchObject({ status: 400, body: { code: 20015 } });
    expect(JSON.stringify(answer.body)).not.toContain('Signature');
  });
});

describe('an account', () => {
  it('finds neither the tasks nor the uploads of another; the code is a setting', async () => {
    const requestId = await client.createTask(5, {});
    const token = await client.token('a.png');
    await putObject(token, Buffer.from('bytes'));

    expect(await stranger.askDetail(requestId)).toMatchObject({ status: 404, body: { code: 12345 } });
    expect(await stranger.commit('a.png', token.objectKey)).toMatchObject({ status: 400, body: { code: 20015 } });
    expect((await client.commit('a.png', token.objectKey)).status).toBe(200);
    expect(await stranger.ask('GET', '/x/v1/input_resource')).toMatchObject({ body: { data: { total: 0 } } });
    // The credentials end with their commit, so that a committed file stays what it is.
    expect(await putObject(token, Buffer.from('other bytes'))).toBe('refused: InvalidToken');
  });
});

describe('the queue', () => {
  it('is served in order, counts the tasks ahead, and forgets a canceled one', async () => {
    const running = await client.createTask(5, { '2:Wait.seconds': 60 });
    await client.waitFor(running, 'Running');
    const [first, second, third] = [
      await client.createTask(5, {}),
      await client.createTask(5, {}),
      await client.createTask(5, {}),
    ];
    const positions = async (): Promise<unknown[]> =>
      Promise.all([first, second, third].map(async (id) => (await client.detail(id))['queue_info']));

    expect(await positions()).toEqual([{ queue_count: 0 }, { queue_count: 1 }, { queue_count: 2 }]);
    await client.stop('cancel', first);
    expect(await positions()).toEqual([undefined, { queue_count: 0 }, { queue_count: 1 }]);

    await client.stop('interrupt', running);
    await client.waitFor(third, 'Success');
    expect((await client.detail(second)).status).toBe('Success');
    expect((await client.detail(running)).status).toBe('Canceled');
  });
});

describe('settings', () => {
  it('limit the queue: creates are refused with a time to come back', () =>
    withService({ slots: 1, queueLimit: 0 }, async (own) => {
      const answer = await own.create(instant);
      expect(answer).toMatchObject({ status: 503, body: { code: 30039, status: false } });
      expect(answer.headers.get('retry-after')).toBe('1');
    }));

  it('let an interrupted task end as Failed', () =>
    withService({ interruptEndsAs: 'Failed' }, async (own) => {
      const requestId = await own.createTask(5, { '2:Wait.seconds': 60 });
      await own.waitFor(requestId, 'Running');
      await own.stop('interrupt', requestId);
      expect(await own.detail(requestId)).toMatchObject({ status: 'Failed' });
    }));

  it('let links and the storage be named by host, and such a link works as an input', () =>
    withService({ linkStyle: 'virtual-host', endpointForm: 'host' }, async (own, other) => {
      const uploaded = await own.upload('film.mp4', Buffer.from('a film'));
      const requestId = await own.createTask(11, { '1:LoadFile.file': uploaded.url });

      expect((await own.token('a.png')).endpoint).toBe(other.storage.virtualDomain);
      expect(new URL(uploaded.url).host).toBe(`${other.bucket}.${other.storage.virtualDomain}`);
      expect(await own.waitFor(requestId, 'Success')).toMatchObject({ status: 'Success' });
    }));

  it('end a link, while the next query of the outputs brings a fresh one', () =>
    withService({ linkLifetimeMs: 1000 }, async (own) => {
      const requestId = await own.createTask(5, {});
      await own.waitFor(requestId, 'Success');
      // A busy machine may take longer than a link lives to fetch it.
      const linkThatWorks = () =>
        eventually(async () => {
          const link = (await own.outputs(requestId)).outputs[0]?.object_url ?? '';
          return (await fetch(link)).ok && link;
        });
      const link = String(await linkThatWorks());
      await eventually(async () => !(await fetch(link)).ok, { what: 'the link to end' });

      expect((await fetch(link)).status).toBe(403);
      expect(await linkThatWorks()).not.toBe(link);
    }));

  it('end a task with its results', () =>
    withService({ resultLifetimeMs: 3000 }, async (own, other) => {
      const requestId = await own.createTask(5, {});
      await own.waitFor(requestId, 'Success');
      const [output] = (await own.outputs(requestId)).outputs;
      await eventually(async () => (await own.askOutputs(requestId)).status !== 200, { what: 'the results to end' });

      expect(await own.askOutputs(requestId)).toMatchObject({ status: 410, body: { code: 30046 } });
      expect(await own.askDetail(requestId)).toMatchObject({ status: 410, body: { code: 30046 } });
      await eventually(() => other.tasks.size === 0);
      await eventually(async () => (await fetch(output?.object_url ?? '')).status === 404);
    }));
});
