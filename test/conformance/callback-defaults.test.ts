import type { ReferenceService } from '../../reference-service/start-reference-service';
import { readSettings } from '../../reference-service/config';
import { startReferenceStack } from '../../tools/reference-stack';
import { CallbackSink, type Inbox } from './callback-sink';
import { PlainHttp } from './plain-http';
import { specifiedPace } from './target';

/** The clauses of section 6 run with shortened times; these tests look at the times themselves. */
describe('§6 and §8, the times of callbacks unless they are set', () => {
  let service: ReferenceService;
  let http: PlainHttp;
  let sink: CallbackSink;

  beforeAll(async () => {
    service = await startReferenceStack({ timings: { queueDelayMs: 0, preparingMs: 0, minimumRunningMs: 0 } });
    http = new PlainHttp({ baseUrl: service.url, apiKey: service.apiKey, longestMs: 10_000 });
    sink = new CallbackSink();
    await sink.start(0);
  });

  afterAll(async () => {
    await http.close();
    await service.stop();
    await sink.stop();
  });

  it('are repeated every 6 s, 10 attempts in all, and given up after 10 s', () => {
    const { retryEveryMs, maxAttempts, timeoutMs } = readSettings({}).callbacks;

    expect({ retryEveryMs, maxAttempts, timeoutMs }).toEqual({
      retryEveryMs: specifiedPace.callbackRetryMs,
      maxAttempts: specifiedPace.callbackAttempts,
      timeoutMs: specifiedPace.callbackTimeoutMs,
    });
  });

  it('are so on the clock as well', async () => {
    const [refused, unanswered] = [sink.open(500, 200), sink.open('nothing', 200)];
    await Promise.all([createWithCallback(refused), createWithCallback(unanswered)]);
    await refused.waitFor(2, 10_000);
    await unanswered.waitFor(2, 20_000);
    const [first, second] = refused.received;
    const [abandoned] = unanswered.received;

    expect(Number(second?.atMs) - Number(first?.atMs)).toBeGreaterThan(5_500);
    expect(Number(second?.atMs) - Number(first?.atMs)).toBeLessThan(8_000);
    expect(Number(abandoned?.gaveUpAtMs) - Number(abandoned?.atMs)).toBeGreaterThan(9_500);
    expect(Number(abandoned?.gaveUpAtMs) - Number(abandoned?.atMs)).toBeLessThan(12_000);
    expect(unanswered.received).toHaveLength(2);
  });

  async function createWithCallback(inbox: Inbox): Promise<void> {
    const headers = { 'X-Svc-Task-WebHook-Url': inbox.url };
    const created = await http.ask('create', { body: { web_app_id: 5, input_values: {} }, headers });
    expect(created.status).toBe(202);
  }
});
