import type { ServerResponse } from 'node:http';
import { ServiceClient, type TaskDetail, type WaitForTaskOptions } from '../../../src/service';
import { replyJson, startHttpServer, type TestHttpServer } from '../../support/start-http-server';

type Answer = (response: ServerResponse) => void;

const poll = { minMs: 5, maxMs: 10 };
/** Long enough for a first answer on a busy machine. */
const timeoutMs = 3_000;

let server: TestHttpServer;
let client: ServiceClient;
/** One for each query; the last one is repeated. */
let answers: readonly Answer[];
let firstQuery: number;

beforeAll(async () => {
  server = await startHttpServer((_request, response) => {
    const number = server.requests.length - 1 - firstQuery;
    (answers[number] ?? answers.at(-1))?.(response);
  });
  client = new ServiceClient({ baseUrl: server.url, apiKey: 'key' });
});
afterAll(async () => {
  await client.close();
  await server.close();
});

function state(status: string, further: object = {}): Answer {
  return (response) => {
    replyJson(response, 200, { code: 20000, message: 'Ok', status: true, data: { status, ...further } });
  };
}

function refusal(httpStatus: number, code = 1, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(httpStatus, headers).end(JSON.stringify({ code, message: 'no', status: false }));
  };
}

const broken: Answer = (response) => response.socket?.resetAndDestroy();

function wait(given: readonly Answer[], options: WaitForTaskOptions = {}): Promise<TaskDetail> {
  answers = given;
  firstQuery = server.requests.length;
  return client.waitForTask('r1', { poll, ...options });
}

const queries = (): number => server.requests.length - firstQuery;

describe('waitForTask', () => {
  it.each(['Success', 'Failed', 'Canceled'])('returns a task that ended as %s, and asks no more', async (status) => {
    const seen: string[] = [];
    const ended = await wait(
      [state('Queuing', { queue_info: { queue_count: 2 } }), state('Preparing'), state('Running'), state(status)],
      { onPoll: (task) => seen.push(task.status) },
    );
    expect(ended.status).toBe(status);
    expect(seen).toEqual(['Queuing', 'Preparing', 'Running', status]);
    expect(queries()).toBe(4);
  });

  it('asks again after a query that failed for now', async () => {
    const failing = [broken, refusal(503), refusal(429), refusal(500), refusal(404, 404)];
    const cut: Answer = (response) => response.end('{"code": 20000, "da');
    const unseen: Answer = refusal(404, 30009);
    expect((await wait([...failing, cut, unseen, state('Success')])).status).toBe('Success');
    expect(queries()).toBe(8);
  });

  it('does not take the end of another task for that of its own, as a cache that ignores the query gives it', async () => {
    const ended = await wait([state('Canceled', { request_id: 'r2' }), state('Success', { request_id: 'r1' })]);
    expect(ended).toMatchObject({ status: 'Success', requestId: 'r1' });
    expect(queries()).toBe(2);
  });

  it('pauses for as long as the service asks', async () => {
    const begunMs = performance.now();
    await wait([refusal(429, 50600, { 'retry-after': '1' }), state('Success')]);
    expect(performance.now() - begunMs).toBeGreaterThan(900);
  });

  it('throws the last error when queries have failed for as long as its patience', async () => {
    await expect(wait([state('Running'), broken], { patienceMs: 500 })).rejects.toMatchObject({ code: 'UNREACHABLE' });
    expect(queries()).toBeGreaterThan(1);
  });

  it.each([
    ['a refused key', refusal(401), 'UNAUTHORIZED'],
    ['a deleted task', refusal(410), 'OUTPUT_GONE'],
    ['a request that is wrong', refusal(400), 'INVALID_REQUEST'],
  ])('throws at once for %s', async (_name, answer, code) => {
    await expect(wait([answer])).rejects.toMatchObject({ code });
    expect(queries()).toBe(1);
  });

  it('throws NotFoundError once a task has been unknown for too long to be new', async () => {
    await expect(wait([refusal(404, 30009)], { notVisibleGraceMs: 500 })).rejects.toMatchObject({
      name: 'NotFoundError',
      code: 'TASK_NOT_FOUND',
    });
    expect(queries()).toBeGreaterThan(1);
  });

  it('throws a ServiceTimeoutError that names the task, its state and the time', async () => {
    const timedOut = wait([state('Running')], { timeoutMs });
    await expect(timedOut).rejects.toMatchObject({ code: 'TIMEOUT', timeoutMs });
    await expect(timedOut).rejects.toThrow(/it is Running/);
  });

  it('says so where the service has never shown the task', async () => {
    const timedOut = wait([refusal(404, 30009)], { timeoutMs, notVisibleGraceMs: 60_000 });
    await expect(timedOut).rejects.toThrow(/the service has not shown a task of this id/);
  });

  it('a timeout ends a query that is not answered', async () => {
    await expect(wait([() => undefined], { timeoutMs: 60 })).rejects.toMatchObject({ code: 'TIMEOUT', timeoutMs: 60 });
  });

  it('rejects with the reason of the signal, during a pause and during a query', async () => {
    const reason = new Error('no longer wanted');
    const pausing = new AbortController();
    const paused = wait([state('Running')], {
      ...{ signal: pausing.signal, poll: { minMs: 60_000, maxMs: 60_000 } },
      onPoll: () => {
        setImmediate(() => {
          pausing.abort(reason);
        });
      },
    });
    await expect(paused).rejects.toBe(reason);
    const asking = new AbortController();
    const asked = wait(
      [
        () => {
          asking.abort(reason);
        },
      ],
      { signal: asking.signal },
    );
    await expect(asked).rejects.toBe(reason);
    await expect(wait([state('Running')], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(queries()).toBe(0);
  });

  it('what onPoll throws ends the wait', async () => {
    const problem = Object.assign(new Error('the display is gone'), { code: 'EPIPE' });
    const onPoll = (): never => {
      throw problem;
    };
    await expect(wait([state('Running')], { onPoll })).rejects.toBe(problem);
  });
});
