import fc from 'fast-check';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { startService } from '../../support/start-reference-service';
import { aText, textWith } from './matchers';
import { PlainClient, storageClient } from './plain-client';

const INSTANT = { web_app_id: 5, input_values: {} };

let service: ReferenceService;
let client: PlainClient;

beforeAll(async () => {
  service = await startService();
  client = new PlainClient(service);
});

afterEach(() => {
  service.scenarios.clear();
});

afterAll(() => service.stop());

/** A create with a scenario: the answer's status, or "no answer". */
function createOutcome(scenario: string): Promise<unknown> {
  return client.create(INSTANT, { 'X-Reference-Scenario': scenario }).then(
    (answer) => answer.status,
    () => 'no answer',
  );
}

describe('a create on command', () => {
  it.each([
    ['drop-reply', 'no answer', 1],
    ['cut-body', 'no answer', 1],
    ['drop-request', 'no answer', 0],
    ['answer-error', 500, 1],
    ['answer-error;status=502', 502, 1],
    ['refuse', 429, 0],
    ['refuse;reason=queueFull', 503, 0],
    ['stall;ms=30', 202, 1],
  ])('%s ends in %s and leaves %i task', async (scenario, outcome, tasksMade) => {
    const tasksBefore = service.tasks.size;
    const seen = await createOutcome(scenario);
    const entry = service.ledger.entries({ endpoint: 'create' }).at(-1);

    expect(seen).toBe(outcome);
    expect(service.tasks.size - tasksBefore).toBe(tasksMade);
    expect(entry?.requestId === undefined).toBe(tasksMade === 0);
    expect(entry?.status).toBe(outcome === 'no answer' ? null : outcome);
  });

  it('is refused with a time to come back', async () => {
    const answer = await client.create(INSTANT, { 'X-Reference-Scenario': 'refuse;retryAfterSeconds=7' });

    expect(answer).toMatchObject({ status: 429, body: { code: 50600, status: false } });
    expect(answer.headers.get('retry-after')).toBe('7');
  });

  it.each([
    ['html', 'text/html'],
    ['empty', 'application/json'],
  ])('is answered with rubbish: %s', async (kind, contentType) => {
    const response = await fetch(`${service.url}/w/v1/webapp/task/openapi/create`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${service.apiKey}`,
        'Content-Type': 'application/json',
        'X-Svc-Task-Async': 'enable',
        'X-Reference-Scenario': `rubbish;as=${kind}`,
      },
      body: JSON.stringify(INSTANT),
    });

    expect(response.status).toBe(202);
    expect(response.headers.get('content-type')).toContain(contentType);
    expect(await response.text()).not.toContain('requestId');
  });

  it('stalls until its caller hangs up', async () => {
    const waiting = fetch(`${service.url}/w/v1/webapp/task/openapi/create`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${service.apiKey}`,
        'Content-Type': 'application/json',
        'X-Svc-Task-Async': 'enable',
        'X-Reference-Scenario': 'stall',
      },
      body: JSON.stringify(INSTANT),
      signal: AbortSignal.timeout(200),
    });

    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(service.ledger.entries({ endpoint: 'create' }).at(-1)).toMatchObject({ requestId: aText, status: null });
  });

  it.each(['nonsense', 'refuse;reason=none', 'stall;ms', 'fail;color=red', 'nowhere:stall'])(
    'refuses the unknown scenario %s',
    async (scenario) => {
      const answer = await client.create(INSTANT, { 'X-Reference-Scenario': scenario });

      expect(answer).toMatchObject({ status: 400, body: { message: textWith('X-Reference-Scenario') } });
    },
  );
});

describe('a rule', () => {
  it('holds for the next k requests of its endpoint and no more', async () => {
    service.scenarios.add({ endpoint: 'create', scenario: { name: 'refuse', reason: 'queueFull' }, times: 2 });
    const outcomes = [];
    for (let request = 0; request < 3; request += 1) outcomes.push((await client.create(INSTANT)).status);

    expect(outcomes).toEqual([503, 503, 202]);
  });

  it('can be about one task alone', async () => {
    const [one, two] = [await client.createTask(5, {}), await client.createTask(5, {})];
    service.scenarios.add({ endpoint: 'detail', scenario: { name: 'answer-error' }, requestId: two });

    expect((await client.askDetail(one)).status).toBe(200);
    expect((await client.askDetail(two)).status).toBe(500);
    expect((await client.askDetail(two)).status).toBe(200);
  });

  it('can be about one correlation alone', async () => {
    service.scenarios.add({ endpoint: 'create', scenario: { name: 'refuse' }, correlation: 'task:b' });

    expect((await client.create(INSTANT, { 'X-Svc-Task-Correlation': 'task:a' })).status).toBe(202);
    expect((await client.create(INSTANT, { 'X-Svc-Task-Correlation': 'task:b' })).status).toBe(429);
  });

  it('can be given with the create, for later requests about the task', async () => {
    const scenario = 'detail:refuse;reason=taskNotFound;times=2, outputs:no-outputs, detail:odd-status;value=Resting';
    const requestId = await client.createTask(5, {}, { 'X-Reference-Scenario': scenario });
    const statuses = [];
    for (let poll = 0; poll < 3; poll += 1) statuses.push((await client.askDetail(requestId)).status);
    await client.waitFor(requestId, 'Success');

    expect(statuses).toEqual([404, 404, 200]);
    expect((await client.outputs(requestId)).outputs).toEqual([]);
    expect((await client.outputs(requestId)).outputs).toHaveLength(1);
  });

  it('shows a status that nobody knows', async () => {
    const requestId = await client.createTask(5, {}, { 'X-Reference-Scenario': 'detail:odd-status;value=Resting' });

    expect((await client.detail(requestId)).status).toBe('Resting');
    expect((await client.detail(requestId)).status).toBe('Queuing');
  });
});

describe('a task on command', () => {
  it('is held in the queue without a known place until it is released', async () => {
    const held = await client.createTask(5, {}, { 'X-Reference-Scenario': 'hold' });
    const other = await client.createTask(5, {});
    await client.waitFor(other, 'Success');

    expect(await client.detail(held)).toMatchObject({ status: 'Queuing', queue_info: { queue_count: -1 } });
    service.release(held);
    await client.waitFor(held, 'Success');
    expect((await client.outputs(held)).outputs).toHaveLength(1);
  });

  it('is held for a time', async () => {
    const held = await client.createTask(5, {}, { 'X-Reference-Scenario': 'hold;ms=50' });

    expect(await client.waitFor(held, 'Success')).toMatchObject({ status: 'Success' });
  });

  it('fails, from its create on or in the middle', async () => {
    const doomed = await client.createTask(5, {}, { 'X-Reference-Scenario': 'fail;message=no film' });
    const struck = await client.createTask(5, { '2:Wait.seconds': 60 });
    await client.waitFor(struck, 'Running');
    service.fail(struck, 'struck by lightning');

    expect(await client.waitFor(doomed, 'Failed')).toMatchObject({ error_message: 'no film' });
    expect(await client.detail(struck)).toMatchObject({ status: 'Failed', error_message: 'struck by lightning' });
  });
});

describe('time limits on command', () => {
  it('give a link that has expired, once', async () => {
    const requestId = await client.createTask(5, {}, { 'X-Reference-Scenario': 'outputs:expired-links' });
    await client.waitFor(requestId, 'Success');
    const linkStatus = async (): Promise<number> =>
      (await fetch((await client.outputs(requestId)).outputs[0]?.object_url ?? '')).status;

    expect([await linkStatus(), await linkStatus()]).toEqual([403, 200]);
  });

  it('give credentials that have expired, once', async () => {
    service.scenarios.add({ endpoint: 'upload-token', scenario: { name: 'expired-credentials' } });
    const outcomes = [];
    for (let request = 0; request < 2; request += 1) {
      const token = await client.token('a.png');
      const put = new PutObjectCommand({ Bucket: token.storage.bucket, Key: token.file.object_key, Body: 'x' });
      outcomes.push(
        await storageClient(token)
          .send(put)
          .then(
            () => 'accepted',
            (error: unknown) => (error instanceof Error ? error.name : 'unknown'),
          ),
      );
    }

    expect(outcomes).toEqual(['InvalidToken', 'accepted']);
  });
});

describe('any scenario', () => {
  it('has an answer that a scenario can give', async () => {
    const header = fc.array(fc.stringMatching(/^[a-z:;=,]{0,12}$/), { maxLength: 3 }).map((parts) => parts.join(','));
    await fc.assert(
      fc.asyncProperty(header, async (scenario) => {
        const { status } = await client.ask('GET', '/x/v1/user/metadata', undefined, {
          'X-Reference-Scenario': scenario,
        });

        expect([200, 400]).toContain(status);
      }),
      { numRuns: 150 },
    );
  });
});
