import { RateLimitedError, ServiceTimeoutError, ServiceUnavailableError } from '../../../src/service';
import {
  CallbackNews,
  PollHeldBackError,
  PollLimiter,
  UploadHeldBackError,
  UploadSlots,
} from '../../../src/service/account-gate';

let nowMs: number;
beforeEach(() => {
  nowMs = 1_700_000_000_000;
});

function limiterOf(perSecond: number): PollLimiter {
  return new PollLimiter({ perSecond, now: () => nowMs });
}

function answered(): Promise<string> {
  return Promise.resolve('detail');
}

/** Why and for how long a query was held back; what it came to otherwise. */
async function fate(query: Promise<unknown>): Promise<unknown> {
  return query.catch((error: unknown) => {
    return error instanceof PollHeldBackError ? [error.message, error.retryInMs] : error;
  });
}

describe('the limiter of an account’s queries', () => {
  it('sends a query at once while there are places', async () => {
    const limiter = limiterOf(2);
    const waits: number[] = [];
    await limiter.run((waitedMs) => Promise.resolve(waits.push(waitedMs)), 0);
    await limiter.run((waitedMs) => Promise.resolve(waits.push(waitedMs)), 0);
    expect(waits).toEqual([0, 0]);
    expect(limiter.view()).toEqual({ perSecond: 2, heldBackUntil: null, stalledSince: null, unanswered: 0 });
  });

  it('sends a query a little later when that is how far its place is off, and tells it how long it waited', async () => {
    const limiter = limiterOf(50);
    for (let sent = 0; sent < 50; sent += 1) await limiter.run(answered, 0);
    expect(await limiter.run((waitedMs) => Promise.resolve(waitedMs), 1_000)).toBe(20);
  });

  it('does not send a query whose place is further off, and keeps no place for it', async () => {
    const limiter = limiterOf(0.5);
    await limiter.run(answered, 0);
    const words = 'the query was not sent: queries are limited to 0.5 a second in this worker';
    expect(await fate(limiter.run(answered, 1_000))).toEqual([words, 2_000]);
    expect(await fate(limiter.run(answered, 1_000))).toEqual([words, 2_000]);
    nowMs += 2_000;
    expect(await fate(limiter.run(answered, 1_000))).toBe('detail');
  });

  it('keeps the place of a task whose turn is further off, so that all are asked in turn, however often they come', async () => {
    const limiter = limiterOf(2);
    const tasks = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    const dueMs = new Map(tasks.map((task) => [task, nowMs]));
    const asked: string[] = [];
    for (const endMs = nowMs + 20_000; nowMs < endMs; nowMs += 100) {
      // The last ones come first, and the impatient one comes at any time.
      for (const task of [...tasks].reverse()) {
        if (task !== 'h' && (dueMs.get(task) ?? 0) > nowMs) continue;
        const held = await fate(limiter.run(() => Promise.resolve(asked.push(task)), 0, { task }));
        const turnMs = Array.isArray(held) ? (held[1] as number) : 1_000;
        dueMs.set(task, nowMs + turnMs);
      }
    }
    expect(asked.length).toBeGreaterThanOrEqual(40);
    const counts = tasks.map((task) => asked.filter((one) => one === task).length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  });

  it('forgets the place of a task that does not come again', async () => {
    const limiter = limiterOf(1);
    await limiter.run(answered, 0);
    expect(await fate(limiter.run(answered, 0, { task: 'gone' }))).toContain(1_000);
    nowMs += 1_000 + 60_000;
    await limiter.run(answered, 0, { task: 'other' });
    expect(await fate(limiter.run(answered, 0, { task: 'gone' }))).toContain(1_000);
  });

  it.each<[string, Error, number]>([
    ['429 with Retry-After', new RateLimitedError('too many', { httpStatus: 429, retryAfterMs: 9_000 }), 9_000],
    ['429 without one', new RateLimitedError('too many', { httpStatus: 429 }), 1_000],
    ['503 with Retry-After', new ServiceUnavailableError('later', { httpStatus: 503, retryAfterMs: 3_000 }), 3_000],
  ])('sends none for as long as the service asks by %s', async (_what, refusal, restMs) => {
    const limiter = limiterOf(100);
    expect(await fate(limiter.run(() => Promise.reject(refusal), 0))).toBe(refusal);
    expect(await fate(limiter.run(answered, 500))).toEqual([
      `the query was not sent: the service asked for none until ${new Date(nowMs + restMs).toISOString()}`,
      restMs,
    ]);
    expect(limiter.view().heldBackUntil).toBe(new Date(nowMs + restMs).toISOString());
    nowMs += restMs;
    expect(await fate(limiter.run(answered, 0))).toBe('detail');
    expect(limiter.view().heldBackUntil).toBeNull();
  });

  it.each<[string, Error]>([
    ['503 without Retry-After', new ServiceUnavailableError('broken', { httpStatus: 503 })],
    ['an error of another kind', new Error('socket hang up')],
  ])('goes on after %s', async (_what, error) => {
    const limiter = limiterOf(100);
    expect(await fate(limiter.run(() => Promise.reject(error), 0))).toBe(error);
    expect(await fate(limiter.run(answered, 0))).toBe('detail');
  });

  it('sends one query at a time while they time out, after growing pauses, and all of them once one is answered', async () => {
    const limiter = limiterOf(1_000);
    const timeout = new ServiceTimeoutError('no reply within 3500 ms', { timeoutMs: 3_500 });
    const timedOut = (): Promise<never> => Promise.reject(timeout);
    for (let query = 0; query < 3; query += 1) expect(await fate(limiter.run(timedOut, 0))).toBe(timeout);
    const since = new Date(nowMs).toISOString();
    expect(limiter.view()).toMatchObject({ stalledSince: since, unanswered: 0 });
    const words = `the query was not sent: the service has answered no query in time since ${since}`;
    expect(await fate(limiter.run(answered, 1_000))).toEqual([words, 500]);

    let probes = 0;
    for (const startMs = nowMs; nowMs < startMs + 60_000; nowMs += 100) {
      const asked = await Promise.all([1, 2, 3].map(() => fate(limiter.run(timedOut, 0))));
      probes += asked.filter((one) => one === timeout).length;
      expect(asked.filter((one) => one === timeout).length).toBeLessThanOrEqual(1);
    }
    expect(probes).toBeGreaterThan(5);
    expect(probes).toBeLessThan(15);

    nowMs += 10_000;
    expect(await fate(limiter.run(answered, 0))).toBe('detail');
    expect(limiter.view().stalledSince).toBeNull();
    expect(await Promise.all([1, 2, 3].map(() => fate(limiter.run(answered, 0))))).toEqual(Array(3).fill('detail'));
  });

  it('holds back what is more than 48 queries without an answer', async () => {
    const limiter = limiterOf(1_000);
    let answer: (detail: string) => void = () => undefined;
    const slow = new Promise<string>((resolve) => (answer = resolve));
    const sent = Array.from({ length: 48 }, () => limiter.run(() => slow, 0));
    expect(await fate(limiter.run(answered, 0))).toEqual([
      'the query was not sent: 48 others wait for the service’s answer',
      500,
    ]);
    answer('detail');
    await Promise.all(sent);
    expect(await fate(limiter.run(answered, 0))).toBe('detail');
    expect(limiter.view().unanswered).toBe(0);
  });

  it('lets callers that wait in line through in the order in which they came', async () => {
    const limiter = limiterOf(1_000);
    const { signal } = new AbortController();
    const sent: number[] = [];
    const answers: (() => void)[] = [];
    const queries = Array.from({ length: 60 }, (_, index) =>
      limiter.runInLine(
        () => {
          sent.push(index);
          return new Promise<void>((resolve) => answers.push(resolve));
        },
        0,
        { signal },
      ),
    );
    expect(sent).toEqual(Array.from({ length: 48 }, (_, index) => index));
    for (let answered = 0; answered < 60; answered += 1) {
      answers[answered]?.();
      await queries[answered];
      expect(limiter.view().unanswered).toBe(Math.min(48, 59 - answered));
    }
    expect(sent).toEqual(Array.from({ length: 60 }, (_, index) => index));
  });

  it('gives the turn of a caller that has gone to the next, sending nothing for it', async () => {
    const limiter = limiterOf(1_000);
    const gone = new AbortController();
    const stays = new AbortController();
    let answer: (detail: string) => void = () => undefined;
    const slow = new Promise<string>((resolve) => (answer = resolve));
    const before = Array.from({ length: 48 }, () => limiter.runInLine(() => slow, 0, stays));
    const sent: string[] = [];
    const inLine = (name: string, { signal }: AbortController): Promise<unknown> =>
      fate(limiter.runInLine(() => Promise.resolve(sent.push(name)), 0, { signal }));
    const others = [inLine('gone', gone), inLine('next', stays)];
    gone.abort(new Error('cancelled'));
    answer('detail');
    await Promise.all(before);
    expect(await Promise.all(others)).toEqual([new Error('cancelled'), 1]);
    expect(sent).toEqual(['next']);
  });

  it('ends the wait for a place with the signal, and takes that for no answer of the service', async () => {
    const limiter = limiterOf(1);
    const timeout = new ServiceTimeoutError('no reply within 3500 ms', { timeoutMs: 3_500 });
    await fate(limiter.runInLine(() => Promise.reject(timeout), 0, new AbortController()));
    const caller = new AbortController();
    const waits = limiter.runInLine(answered, 10_000, caller);
    caller.abort();
    await expect(waits).rejects.toThrow('aborted');
    nowMs += 10_000;
    for (let query = 0; query < 2; query += 1) await fate(limiter.run(() => Promise.reject(timeout), 10_000));
    expect(limiter.view().stalledSince).not.toBeNull();
  });
});

it('callbacks come from an end that one told first until an end that none did, or for ten minutes', () => {
  const news = new CallbackNews(() => nowMs);
  expect(news.come).toBe(false);
  news.ended(true);
  nowMs += 599_999;
  expect(news.come).toBe(true);
  news.ended(false);
  expect(news.come).toBe(false);
  news.ended(true);
  nowMs += 600_000;
  expect(news.come).toBe(false);
});

/** An upload that runs until it is let go. */
function held(): { readonly upload: () => Promise<void>; readonly end: (error?: Error) => void } {
  let end: (error?: Error) => void = () => undefined;
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => {
      if (error === undefined) resolve();
      else reject(error);
    };
  });
  return { upload: () => ended, end };
}

describe('the uploads of one account in a worker', () => {
  it('are as many as its share; one more is held back until one has ended', async () => {
    const uploads = new UploadSlots(2);
    const [first, second] = [held(), held()];
    const running = [uploads.run(first.upload), uploads.run(second.upload)];
    await expect(uploads.run(() => Promise.resolve())).rejects.toThrow(UploadHeldBackError);

    first.end(new Error('failed'));
    await expect(running[0]).rejects.toThrow('failed');
    expect(await uploads.run(() => Promise.resolve('done'))).toBe('done');
    second.end();
    await running[1];
  });

  it('ask again the later, the more of them there are', async () => {
    const uploads = new UploadSlots(1);
    const one = held();
    const running = uploads.run(one.upload);
    const delays: number[] = [];
    for (let count = 0; count < 200; count += 1) {
      const error: unknown = await uploads.run(() => Promise.resolve()).catch((thrown: unknown) => thrown);
      delays.push((error as UploadHeldBackError).retryInMs);
    }
    expect(Math.max(...delays.slice(0, 10))).toBeLessThanOrEqual(2_500);
    expect(Math.min(...delays.slice(-10))).toBeGreaterThanOrEqual(20_000);
    expect(Math.max(...delays)).toBeLessThanOrEqual(37_500);
    one.end();
    await running;
  });
});
