import sharp from 'sharp';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { eventually } from '../../support/eventually';
import { startService } from '../../support/start-reference-service';
import { aNumber, aText, aTimestamp, objectWith, textWith } from './matchers';
import { PlainClient, type Resource } from './plain-client';

const [PHOTO_FINISH, SLOW, BROKEN, TRIPTYCH, INSTANT] = [1, 2, 3, 4, 5];

let service: ReferenceService;
let client: PlainClient;
let photo: Resource;

/** A picture in which every pixel differs from its neighbors, so that no transformation goes unnoticed. */
async function testPicture(): Promise<Buffer> {
  const [width, height] = [97, 61];
  const data = Buffer.from(Array.from({ length: width * height * 3 }, (_, index) => (index * 7919) % 251));
  return sharp(data, { raw: { width, height, channels: 3 } })
    .png()
    .toBuffer();
}

beforeAll(async () => {
  service = await startService({ slots: 1 });
  client = new PlainClient(service);
  photo = await client.upload('photo.png', await testPicture());
});

afterAll(() => service.stop());

describe('a task', () => {
  it('passes through Queuing, Preparing and Running to Success', async () => {
    // Each state lasts so long that none passes between two polls of a busy machine.
    const unhurried = await startService({
      timings: { queueDelayMs: 1_500, preparingMs: 1_500, minimumRunningMs: 1_500 },
    });
    const seen: string[] = [];
    try {
      const itsClient = new PlainClient(unhurried);
      const requestId = await itsClient.createTask(INSTANT, {});
      await eventually(
        async () => {
          const { status } = await itsClient.detail(requestId);
          if (seen.at(-1) !== status) seen.push(status);
          return status === 'Success';
        },
        { everyMs: 10 },
      );
    } finally {
      await unhurried.stop();
    }

    expect(seen).toEqual(['Queuing', 'Preparing', 'Running', 'Success']);
  });

  it('shows in each state the fields that the specification gives it', async () => {
    const requestId = await client.createTask(INSTANT, { '2:Wait.seconds': 0.3 });
    const queued = await client.detail(requestId);
    const running = await client.waitFor(requestId, 'Running');
    const ended = await client.waitFor(requestId, 'Success');

    expect(queued).toMatchObject({
      type: 'API',
      status: 'Queuing',
      created_at: aTimestamp,
      updated_at: aTimestamp,
      ended_at: null,
      expired_at: aTimestamp,
      queue_info: { queue_count: 0 },
      cost_times: {},
      group_id: aNumber,
    });
    expect(queued).not.toHaveProperty('executed_at');
    expect(running).toMatchObject({ executed_at: aTimestamp, ended_at: null, cost_times: {} });
    expect(running).not.toHaveProperty('queue_info');
    expect(ended).toMatchObject({
      ended_at: aTimestamp,
      cost_times: {
        inference_cost_time: aNumber,
        running_cost_time: aNumber,
        total_cost_time: aNumber,
        real_cpu_cost_time: aNumber,
        real_gpu_cost_time: aNumber,
        real_total_cost_time: aNumber,
      },
    });
  });

  it('tells its time in UTC+8', async () => {
    const beforeMs = Math.floor(Date.now() / 1000) * 1000;
    const requestId = await client.createTask(INSTANT, {});
    const createdAt = String((await client.detail(requestId))['created_at']);
    const createdAtMs = Date.parse(`${createdAt.replace(' ', 'T')}+08:00`);

    expect(createdAtMs).toBeGreaterThanOrEqual(beforeMs);
    expect(createdAtMs).toBeLessThanOrEqual(Date.now());
  });

  it('has no outputs while it runs and all of them, whole, when it has succeeded', async () => {
    const requestId = await client.createTask(TRIPTYCH, { '1:LoadImage.image': photo.url });
    const early = await client.outputs(requestId);
    await client.waitFor(requestId, 'Success');
    const { outputs, ...rest } = await client.outputs(requestId);
    const files = await Promise.all(
      outputs.map(async ({ object_url }) => sharp(await (await fetch(object_url)).arrayBuffer()).metadata()),
    );

    expect(early).toEqual({ request_id: requestId, status: aText, outputs: [] });
    expect(rest).toEqual({ request_id: requestId, status: 'Success' });
    expect(outputs.map((output) => output['output_ext'])).toEqual(['.png', '.jpg', '.webp', '.webp']);
    expect(outputs[0]).toMatchObject({ audit_status: 2, error_type: 'NOT_ERROR', cost_time: aNumber });
    expect(files.map(({ format, width, height }) => [format, width, height])).toEqual([
      ['png', 640, 402],
      ['jpeg', 128, 128],
      ['webp', 640, 402],
      ['webp', 128, 128],
    ]);
  });

  it('leaves previews out when it was asked to', async () => {
    const answer = await client.create({
      web_app_id: TRIPTYCH,
      suppress_preview_output: true,
      input_values: { '1:LoadImage.image': photo.id },
    });
    const { requestId } = answer.body as { requestId: string };
    await client.waitFor(requestId, 'Success');

    expect((await client.outputs(requestId)).outputs.map((output) => output['output_ext'])).toEqual([
      '.png',
      '.jpg',
      '.webp',
    ]);
  });

  it('that fails says why in its detail and in its one output item', async () => {
    const requestId = await client.createTask(BROKEN, {
      '1:LoadImage.image': 'photo.png',
      '2:RaiseError.message': 'no film',
    });
    const detail = await client.waitFor(requestId, 'Failed');
    const { outputs } = await client.outputs(requestId);

    expect(detail).toMatchObject({
      ended_at: aTimestamp,
      error_message: 'node 2 (RaiseError): no film',
    });
    expect(outputs).toEqual([
      objectWith({
        object_url: '',
        error_type: 'EXECUTION_ERROR',
        error_msg: 'node 2 (RaiseError): no film',
      }),
    ]);
  });

  it('fails when its input is no picture', async () => {
    const text = await client.upload('not-really.png', Buffer.from('hello'));
    const requestId = await client.createTask(PHOTO_FINISH, { '1:LoadImage.image': text.url });

    expect(await client.waitFor(requestId, 'Failed')).toMatchObject({
      error_message: textWith('node 1 (LoadImage)'),
    });
  });
});

describe('the photo finish app', () => {
  it('gives exactly the pixels of the same transformation made without it', async () => {
    const requestId = await client.createTask(PHOTO_FINISH, {
      '1:LoadImage.image': photo.url,
      '2:ImageScale.width': '64',
      '2:ImageScale.height': 40,
      '3:ImageBlur.sigma': '2.5',
    });
    await client.waitFor(requestId, 'Success');
    const [output] = (await client.outputs(requestId)).outputs;
    const result = await sharp(await (await fetch(output?.object_url ?? '')).arrayBuffer())
      .raw()
      .toBuffer();

    let expected = sharp(await testPicture()).resize(64, 40, { fit: 'cover', kernel: 'lanczos3' });
    expected = sharp(await expected.png().toBuffer()).blur(2.5);
    expected = sharp(await expected.png().toBuffer()).negate();
    expect(result.equals(await expected.raw().toBuffer())).toBe(true);
  });
});

describe('the queue', () => {
  it('is served in order, counts the tasks ahead, and forgets a canceled one', async () => {
    const running = await client.createTask(INSTANT, { '2:Wait.seconds': 60 });
    await client.waitFor(running, 'Running');
    const waiting = [
      await client.createTask(INSTANT, {}),
      await client.createTask(INSTANT, {}),
      await client.createTask(INSTANT, {}),
    ];
    const positions = async (): Promise<unknown[]> =>
      Promise.all(waiting.map(async (id) => (await client.detail(id))['queue_info']));

    expect(await positions()).toEqual([{ queue_count: 0 }, { queue_count: 1 }, { queue_count: 2 }]);

    expect(await client.cancel(waiting[0] ?? '')).toMatchObject({ status: 200, body: { code: 20000, status: true } });
    expect(await client.cancel(waiting[0] ?? '')).toMatchObject({ status: 200 });
    expect(await positions()).toEqual([undefined, { queue_count: 0 }, { queue_count: 1 }]);
    expect(await client.detail(waiting[0] ?? '')).toMatchObject({
      status: 'Canceled',
      ended_at: aTimestamp,
    });

    expect(await client.interrupt(running)).toMatchObject({ status: 200, body: { code: 20000 } });
    await client.waitFor(waiting[2] ?? '', 'Success');
    expect((await client.detail(waiting[1] ?? '')).status).toBe('Success');
    expect((await client.detail(running)).status).toBe('Canceled');
    expect((await client.outputs(running)).outputs).toEqual([]);
  });

  it('has a limit, after which creates are refused with a time to come back', async () => {
    const narrow = await startService({ slots: 1, queueLimit: 0 });
    try {
      const answer = await new PlainClient(narrow).create({ web_app_id: INSTANT, input_values: {} });

      expect(answer).toMatchObject({ status: 503, body: { code: 30039, status: false } });
      expect(answer.headers.get('retry-after')).toBe('1');
    } finally {
      await narrow.stop();
    }
  });
});

describe('the verbs that stop a task', () => {
  it('are refused in the states they are not for', async () => {
    const requestId = await client.createTask(SLOW, { '1:LoadImage.image': photo.url });
    const interruptQueued = await client.interrupt(requestId);
    await client.waitFor(requestId, 'Preparing');
    const inPreparing = [await client.cancel(requestId), await client.interrupt(requestId)];
    await client.waitFor(requestId, 'Running');
    const cancelRunning = await client.cancel(requestId);
    await client.interrupt(requestId);
    const interruptEnded = await client.interrupt(requestId);

    expect(interruptQueued).toMatchObject({ status: 409, body: { code: 30011 } });
    expect(inPreparing).toMatchObject([{ body: { code: 30010 } }, { body: { code: 30011 } }]);
    expect(cancelRunning).toMatchObject({ status: 409, body: { code: 30010 } });
    expect(interruptEnded).toMatchObject({ status: 409, body: { code: 30011 } });
  });
});

describe('settings', () => {
  it('let an interrupted task end as Failed', async () => {
    const other = await startService({ interruptEndsAs: 'Failed' });
    try {
      const own = new PlainClient(other);
      const requestId = await own.createTask(INSTANT, { '2:Wait.seconds': 60 });
      await own.waitFor(requestId, 'Running');
      await own.interrupt(requestId);

      expect(await own.detail(requestId)).toMatchObject({
        status: 'Failed',
        error_message: 'the task was interrupted',
      });
    } finally {
      await other.stop();
    }
  });

  it('let links and the storage be named by host, and such a link works as an input', async () => {
    const other = await startService({ linkStyle: 'virtual-host', endpointForm: 'host' });
    try {
      const own = new PlainClient(other);
      const { storage } = await own.token('a.png');
      const uploaded = await own.upload('photo.png', await testPicture());
      const requestId = await own.createTask(PHOTO_FINISH, { '1:LoadImage.image': uploaded.url });

      expect(storage.endpoint).toBe(other.storage.virtualDomain);
      expect(new URL(uploaded.url).host).toBe(`${other.bucket}.${other.storage.virtualDomain}`);
      expect(await own.waitFor(requestId, 'Success')).toMatchObject({ status: 'Success' });
    } finally {
      await other.stop();
    }
  });
});

describe('time limits', () => {
  it('end a link, while the next query of the outputs brings a fresh one', async () => {
    const hasty = await startService({ linkLifetimeMs: 1000 });
    try {
      const own = new PlainClient(hasty);
      const requestId = await own.createTask(INSTANT, {});
      await own.waitFor(requestId, 'Success');
      // A busy machine may take longer than a link lives to fetch it.
      const linkThatWorks = () =>
        eventually(async () => {
          const link = (await own.outputs(requestId)).outputs[0]?.object_url ?? '';
          return (await fetch(link)).ok ? link : '';
        });
      const link = await linkThatWorks();
      const statusLater = await eventually(async () => {
        const { ok, status } = await fetch(link);
        return ok ? 0 : status;
      });

      expect(statusLater).toBe(403);
      expect(await linkThatWorks()).not.toBe(link);
    } finally {
      await hasty.stop();
    }
  });

  it('end a task with its results', async () => {
    const hasty = await startService({ resultLifetimeMs: 5000 });
    try {
      const own = new PlainClient(hasty);
      const requestId = await own.createTask(INSTANT, {});
      await own.waitFor(requestId, 'Success');
      const [output] = (await own.outputs(requestId)).outputs;
      const gone = await eventually(async () => {
        const answer = await own.askOutputs(requestId);
        return answer.status !== 200 && answer;
      });

      expect(gone).toMatchObject({ status: 410, body: { code: 30046 } });
      await eventually(() => hasty.tasks.size === 0);
      expect(await eventually(async () => (await fetch(output?.object_url ?? '')).status === 404)).toBe(true);
      expect(await own.askDetail(requestId)).toMatchObject({ status: 410, body: { code: 30046 } });
    } finally {
      await hasty.stop();
    }
  });
});
