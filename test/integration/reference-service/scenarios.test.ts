import type { ReferenceService } from '../../../reference-service/start-reference-service';
import { CallbackSink, type CallbackReply } from '../../conformance/callback-sink';
import { eventually } from '../../support/eventually';
import { startService } from '../../support/start-reference-service';
import { PlainClient } from './plain-client';

const instant = { web_app_id: 5, input_values: {} };
const retryEveryMs = 150;
const sink = new CallbackSink();

let service: ReferenceService;
let client: PlainClient;

beforeAll(async () => {
  service = await startService({ callbacks: { timeoutMs: 2_000, retryEveryMs, maxAttempts: 4 } });
  client = new PlainClient(service);
  await sink.start(0);
});
afterEach(() => {
  service.scenarios.clear();
});
afterAll(async () => {
  await service.stop();
  await sink.stop();
});

const by = (scenario: string): Record<string, string> => ({ 'X-Reference-Scenario': scenario });

describe('a create on command', () => {
  it.each([
    ['drop-reply', null, 1],
    ['cut-body', null, 1],
    ['drop-request', null, 0],
    ['answer-error', 500, 1],
    ['answer-error;status=502', 502, 1],
    ['refuse', 429, 0],
    ['refuse;reason=queueFull', 503, 0],
    ['stall;ms=30', 202, 1],
  ])('%s ends in %s and leaves %i task', async (scenario, outcome, tasksMade) => {
    const tasksBefore = service.tasks.size;
    const seen = await client.create(instant, by(scenario)).then(
      ({ status }) => status,
      () => null,
    );
    const entry = service.ledger.entries({ endpoint: 'create' }).at(-1);

    expect(seen).toBe(outcome);
    expect(service.tasks.size - tasksBefore).toBe(tasksMade);
    expect(entry?.requestId === undefined).toBe(tasksMade === 0);
    expect(entry?.status).toBe(outcome);
  });

  it('is refused with a time to come back', async () => {
    const answer = await client.create(instant, by('refuse;retryAfterSeconds=7'));
    expect(answer).toMatchObject({ status: 429, body: { code: 50600, status: false } });
    expect(answer.headers.get('retry-after')).toBe('7');
  });

  it.each(['nonsense', 'refuse;reason=none', 'stall;ms', 'fail;color=red', 'nowhere:stall'])(
    'is refused with the unknown scenario %s',
    async (scenario) => {
      expect((await client.create(instant, by(scenario))).status).toBe(400);
    },
  );
});

describe('a rule', () => {
  it('holds for the next requests of its endpoint, of one task or correlation alone, and no more', async () => {
    const statusOf = async (correlation: string): Promise<number> =>
      (await client.create(instant, { 'X-Svc-Task-Correlation': correlation })).status;
    service.scenarios.add({ endpoint: 'create', scenario: { name: 'refuse', reason: 'queueFull' }, times: 2 });
    expect([await statusOf('a'), await statusOf('b'), await statusOf('c')]).toEqual([503, 503, 202]);

    service.scenarios.add({ endpoint: 'create', scenario: { name: 'refuse' }, correlation: 'task:b' });
    expect([await statusOf('task:a'), await statusOf('task:b')]).toEqual([202, 429]);

    const [one, two] = [await client.createTask(5, {}), await client.createTask(5, {})];
    service.scenarios.add({ endpoint: 'detail', scenario: { name: 'answer-error' }, requestId: two });
    const polls = [await client.askDetail(one), await client.askDetail(two), await client.askDetail(two)];
    expect(polls.map(({ status }) => status)).toEqual([200, 500, 200]);
  });

  it('can be given with the create, for later requests about the task', async () => {
    const scenario = 'detail:refuse;reason=taskNotFound;times=2, outputs:no-outputs';
    const requestId = await client.createTask(5, {}, by(scenario));
    const polls = [
      await client.askDetail(requestId),
      await client.askDetail(requestId),
      await client.askDetail(requestId),
    ];
    await client.waitFor(requestId, 'Success');

    expect(polls.map(({ status }) => status)).toEqual([404, 404, 200]);
    expect((await client.outputs(requestId)).outputs).toEqual([]);
    expect((await client.outputs(requestId)).outputs).toHaveLength(1);

    const odd = await client.createTask(5, {}, by('detail:odd-status;value=Resting'));
    expect([(await client.detail(odd)).status, (await client.detail(odd)).status]).toEqual(['Resting', 'Queuing']);
  });
});

describe('a callback on command', () => {
  it.each<[string, string | undefined, CallbackReply[], unknown[], number]>([
    ['lost', 'lose-callbacks;count=2', [200], ['lost', 'lost', 200], 1],
    ['repeated although it was answered', 'repeat-callbacks;count=2', [200], [200, 200, 200], 3],
    ['given up without following a redirect', undefined, [302], [302, 302, 302, 302], 4],
  ])('is %s', async (_what, scenario, replies, outcomes, count) => {
    const inbox = sink.open(...replies);
    const headers = { 'X-Svc-Task-WebHook-Url': inbox.url, ...(scenario !== undefined && by(scenario)) };
    const requestId = await client.createTask(5, {}, headers);
    const attempts = () => service.tasks.find(requestId)?.callbackAttempts ?? [];
    await eventually(() => attempts().length >= outcomes.length);
    // A pause, in which a service that does not know when to stop would call again.
    await inbox.waitForSilence(2 * retryEveryMs, 10_000);

    expect(attempts().map(({ outcome }) => outcome)).toEqual(outcomes);
    expect(inbox.received.map(({ body }) => body['request_id'])).toEqual(Array(count).fill(requestId));
  });

  it('is not sent for a canceled task', async () => {
    const inbox = sink.open(200);
    const headers = { 'X-Svc-Task-WebHook-Url': inbox.url };
    const canceled = await client.createTask(5, {}, { ...headers, ...by('hold') });
    await client.stop('cancel', canceled);
    const later = await client.createTask(5, {}, headers);
    await inbox.waitFor(1, 60_000);

    expect(inbox.received.map(({ body }) => body['request_id'])).toEqual([later]);
  });
});
