import type { SignalOutcome } from '../../../src/servers/callback-server';
import { eventually } from '../../support/eventually';
import {
  body,
  callbackPath,
  CallbackServerUnderTest,
  headers,
  type SentRequest,
  tokens,
} from './callback-server-under-test';

const maxBodyBytes = 4_096;

let server: CallbackServerUnderTest;
beforeEach(async () => {
  server = new CallbackServerUnderTest();
  await server.start({ maxBodyBytes, maxInFlight: 2, requestTimeoutMs: 400 });
});
afterEach(() => server.stop());

const withBody = (fields: object): SentRequest => ({ body: JSON.stringify({ ...body, ...fields }) });
const withHeaders = (changed: SentRequest['headers']): SentRequest => ({ headers: { ...changed } });

/** A body of so many bytes. */
function bodyOf(bytes: number): SentRequest {
  const padding = bytes - JSON.stringify({ ...body, padding: '' }).length;
  return withBody({ padding: 'x'.repeat(padding) });
}

describe('a callback that is taken', () => {
  it('is answered with 200 after its workflow was told which create it answers, the request id and the status, and nothing else of it', async () => {
    expect(await server.send()).toMatchObject({ status: 200, body: '' });
    expect(server.signals).toEqual([
      { workflowId: 'task:order-17', notice: { requestId: 'request-1', status: 'Success', createNumber: 2 } },
    ]);
  });

  it.each<[string, SentRequest]>([
    ['the second token', withHeaders({ authorization: `Bearer ${tokens[1]}` })],
    ['the workflow of a batch', withHeaders({ 'x-svc-task-correlation': 'batch:spring/1' })],
    ['the row of a batch', withHeaders({ 'x-svc-task-correlation': 'batch:spring:row-1/1' })],
    ['a query in its URL', { path: `${callbackPath}?a=b` }],
    ['a body of exactly the largest size', bodyOf(maxBodyBytes)],
    ['no content type', withHeaders({ 'content-type': undefined })],
    ['a byte order mark before its body', { body: `\uFEFF${JSON.stringify(body)}` }],
  ])('may have %s', async (_what, sent) => {
    expect(await server.send(sent)).toMatchObject({ status: 200 });
    expect(server.signals).toHaveLength(1);
  });

  it.each([
    ['a very long status', 'S'.repeat(1_000), 'S'.repeat(64)],
    ['a status with a link', 'see https://storage.example/a?sig=1', 'see storage.example'],
    ['a status of several lines', 'Suc\ncess\u0007', 'Suc cess'],
  ])('passes %s on bounded and harmless', async (_what, status, passedOn) => {
    expect(await server.send(withBody({ status }))).toMatchObject({ status: 200 });
    expect(server.signals[0]?.notice).toMatchObject({ requestId: 'request-1', status: passedOn });
  });
});

describe('a request that is refused', () => {
  it.each<[string, number, SentRequest]>([
    ['to another path', 404, { path: '/' }],
    ['to the path in capitals', 404, { path: callbackPath.toUpperCase() }],
    ['by GET', 405, { method: 'GET' }],
    ['by PUT', 405, { method: 'PUT' }],
    ['without a token', 401, withHeaders({ authorization: undefined })],
    [
      'with another token of the same length',
      401,
      withHeaders({ authorization: `Bearer ${'x'.repeat(tokens[0].length)}` }),
    ],
    ['with the beginning of a token', 401, withHeaders({ authorization: headers.authorization.slice(0, -1) })],
    ['with a token and more', 401, withHeaders({ authorization: `${headers.authorization}x` })],
    ['with both tokens', 401, withHeaders({ authorization: `Bearer ${tokens.join(',')}` })],
    ['with a token and no scheme', 401, withHeaders({ authorization: tokens[0] })],
    ['without a workflow id', 400, withHeaders({ 'x-svc-task-correlation': undefined })],
    ['with another workflow’s id', 400, withHeaders({ 'x-svc-task-correlation': 'payroll:2026/1' })],
    ['with a workflow id without a key', 400, withHeaders({ 'x-svc-task-correlation': 'task:/1' })],
    ['with two creates', 400, withHeaders({ 'x-svc-task-correlation': 'task:a/1, task:b/1' })],
    ['with a workflow id without the number of its create', 400, withHeaders({ 'x-svc-task-correlation': 'task:a' })],
    ['with a number that no create has', 400, withHeaders({ 'x-svc-task-correlation': 'task:a/0' })],
    ['with half a body', 400, { body: JSON.stringify(body).slice(0, -1) }],
    ['with a body that is no object', 400, { body: '"request-1"' }],
    ['without a request id', 400, withBody({ request_id: undefined })],
    ['with a request id that is none', 400, withBody({ request_id: 'two words' })],
    ['with a request id that is a number', 400, withBody({ request_id: 7 })],
    ['without a status', 400, withBody({ status: undefined })],
    ['with a body that is too large', 413, bodyOf(maxBodyBytes + 1)],
  ])('%s is answered with %i, and no workflow is told', async (_what, status, sent) => {
    expect(await server.send(sent)).toMatchObject({ status, body: '' });
    expect(server.signals).toEqual([]);
  });

  it('is told which method and which scheme would do', async () => {
    expect((await server.send({ method: 'GET' })).headers).toMatchObject({ allow: 'POST' });
    expect((await server.send(withHeaders({ authorization: undefined }))).headers).toMatchObject({
      'www-authenticate': 'Bearer',
    });
  });

  it('because it comes too slowly is cut off, and others are taken meanwhile', async () => {
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const slow = server.sendRaw(
      `POST ${callbackPath} HTTP/1.1\r\nhost: a\r\n${head.join('')}content-length: 100\r\n\r\n{"re`,
    );
    expect(await server.send()).toMatchObject({ status: 200 });
    expect(await slow).toMatch(/^HTTP\/1\.1 408 |^$/);
    expect(server.signals).toHaveLength(1);
    await eventually(() => server.log.some((line) => line.includes('the sender gave up')));
  });
});

describe('what Temporal does', () => {
  it.each<[string, number, () => Promise<SignalOutcome>]>([
    ['takes it', 200, () => Promise.resolve('taken')],
    ['says that the workflow is over', 200, () => Promise.resolve('over')],
    ['knows no such workflow', 404, () => Promise.resolve('unknown')],
    ['does not answer', 503, () => Promise.reject(new Error('DEADLINE_EXCEEDED'))],
  ])('decides the answer: it %s, so it is %i', async (_what, status, onSignal) => {
    server.onSignal = onSignal;
    const reply = await server.send();
    expect(reply.status).toBe(status);
    expect(reply.headers['retry-after']).toBe(status === 503 ? '6' : undefined);
  });

  it('is waited for: there is no answer before it', async () => {
    let take: (outcome: SignalOutcome) => void = () => undefined;
    server.onSignal = () =>
      new Promise((resolve) => {
        take = resolve;
      });
    let isAnswered = false;
    const reply = server.send().finally(() => {
      isAnswered = true;
    });
    await eventually(() => server.signals.length === 1);
    // A whole other exchange: an answer that did not wait would have come before it.
    await server.send({ method: 'GET', path: '/health' });
    expect(isAnswered).toBe(false);
    take('taken');
    expect(await reply).toMatchObject({ status: 200 });
  });

  it('turns away more callbacks than it has hands for, and takes them again afterwards', async () => {
    const takes: (() => void)[] = [];
    server.onSignal = async () => {
      if (takes.length < 2) await new Promise<void>((resolve) => takes.push(resolve));
      return 'taken';
    };
    const held = [server.send(), server.send()];
    await eventually(() => takes.length === 2);

    const turnedAway = await server.send();

    expect(turnedAway).toMatchObject({ status: 503, headers: { 'retry-after': '6' } });
    for (const take of takes) take();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
    expect(await server.send()).toMatchObject({ status: 200 });
  });
});

describe.each(['/health', '/live', '/ready'])('the health endpoint %s', (path) => {
  it.each<[SentRequest['method'], number]>([
    ['GET', 200],
    ['HEAD', 200],
    ['POST', 405],
  ])('answers %s with %i, without a token and without a word', async (method = 'GET', status) => {
    const reply = await server.send({ method, path, headers: { authorization: undefined } });
    expect(reply).toMatchObject({ status, body: '' });
    expect(server.log).toEqual([]);
  });

  it('is 503 while Temporal does not answer if it tells the readiness, else 200', async () => {
    server.isReady = false;
    const reply = await server.send({ method: 'GET', path });
    expect(reply).toMatchObject({ status: path === '/ready' ? 503 : 200, body: '' });
  });
});

describe('a server that closes', () => {
  it('answers what is here, and takes nothing new', async () => {
    let take: (outcome: SignalOutcome) => void = () => undefined;
    server.onSignal = () =>
      new Promise((resolve) => {
        take = resolve;
      });
    const reply = server.send();
    await eventually(() => server.signals.length === 1);

    server.close();

    await expect(server.send()).rejects.toThrow('ECONNREFUSED');
    take('taken');
    expect(await reply).toMatchObject({ status: 200, headers: { connection: 'close' } });
    await server.stop();
    expect(server.signals).toHaveLength(1);
  });
});

describe('the log', () => {
  it('tells of each callback which workflow and request it was about and what became of it', async () => {
    await server.send();
    server.onSignal = () => Promise.reject(new Error('no', { cause: new Error('14 UNAVAILABLE: ECONNREFUSED') }));
    await server.send();

    expect(server.log.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { level: 'info', workflowId: 'task:order-17', requestId: 'request-1', outcome: 'signaled', httpStatus: 200 },
      {
        level: 'warn',
        requestId: 'request-1',
        outcome: 'not taken by Temporal',
        reason: '14 UNAVAILABLE: ECONNREFUSED',
      },
    ]);
  });

  it('holds no token and nothing of a body, whatever is sent', async () => {
    const stranger = 'token-of-a-stranger';
    await server.send();
    await server.send(withHeaders({ authorization: `Bearer ${stranger}` }));
    await server.send({ body: JSON.stringify(body).slice(0, -1) });
    await server.send(bodyOf(maxBodyBytes + 1));
    await server.send({ path: `/${stranger}` });

    expect(server.log).toHaveLength(5);
    expect(server.log.join('')).not.toMatch(/token-of|storage\.example|5ecret|X-Amz|xxx/);
  });
});
