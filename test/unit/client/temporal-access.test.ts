import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { InterceptingCall, type Interceptor } from '@grpc/grpc-js';
import {
  Client,
  Connection,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import { retries } from '../../../src/client/connect-temporal';
import { NoWorkerError, TaskOverError, UnknownTaskError } from '../../../src/client/errors';
import {
  ClientClosedError,
  NamespaceMissingError,
  SearchAttributesMissingError,
  TemporalBusyError,
  TemporalRefusedError,
  TemporalUnreachableError,
} from '../../../src/client/connection-errors';
import { Longhaul } from '../../../src/client/longhaul';
import * as library from '../../../src/index';
import { abortable, toClientError, translating } from '../../../src/client/temporal-access';
import { eventually } from '../../support/eventually';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const nothing = (): Promise<void> => Promise.resolve();

describe('a call that its caller may abort', () => {
  it('rejects as soon as it is aborted, with the caller’s reason, or the client closed', async () => {
    const caller = new AbortController();
    const client = {
      async withAbortSignal<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
        await delay(60_000, undefined, { signal });
        return await ask();
      },
    };
    const access = { client, address: 'temporal.example:7233' };
    const call = abortable(access, caller.signal, nothing);
    caller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await expect(abortable(access, caller.signal, nothing)).rejects.toThrow('enough');

    const closing = new AbortController();
    const wait = abortable({ ...access, closing: closing.signal }, undefined, nothing);
    closing.abort();
    await expect(wait).rejects.toThrow(/connection is closed.*Was close\(\) called\?/);
    const late = abortable({ ...access, closing: closing.signal }, undefined, nothing);
    await expect(late).rejects.toThrow(ClientClosedError);
  });

  it('rejects at once though its request goes on, as it does between the attempts of an outage, or answers all the same', async () => {
    const client = {
      withAbortSignal: <Answer>(_signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> => ask(),
    };
    const neverEnding = (): Promise<never> => new Promise(() => undefined);
    const caller = new AbortController();
    const call = abortable({ client, address: '' }, caller.signal, neverEnding);
    caller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');

    const closing = new AbortController();
    const wait = abortable({ client, address: '', closing: closing.signal }, undefined, neverEnding);
    closing.abort();
    await expect(wait).rejects.toThrow(ClientClosedError);

    const late = new AbortController();
    const answersOfAbort = (): Promise<string> =>
      new Promise((resolve) => {
        late.signal.addEventListener('abort', () => {
          resolve('no worker answered');
        });
      });
    const answered = abortable({ client, address: '' }, late.signal, answersOfAbort);
    late.abort(new Error('late'));
    await expect(answered).rejects.toThrow('late');
  });

  it('leaves nothing on the caller’s signal, which may live for hours and thousands of calls', async () => {
    const caller = new AbortController();
    const left: WeakRef<object>[] = [];
    const client = {
      withAbortSignal<Answer>(signal: AbortSignal, ask: () => Promise<Answer>): Promise<Answer> {
        const call = { bytes: new Uint8Array(1_000) };
        left.push(new WeakRef(call));
        // As the SDK does, which never takes it back.
        signal.addEventListener('abort', () => call.bytes.fill(0));
        return ask();
      },
    };
    for (let count = 0; count < 100; count += 1) await abortable({ client, address: '' }, caller.signal, nothing);

    await eventually(() => {
      collectGarbage();
      // The last ones may still lie on the stack.
      return left.filter((call) => call.deref() !== undefined).length < 10;
    });
    expect(caller.signal.aborted).toBe(false);
  });
});

const where = { address: 'temporal.example:7233', namespace: 'studio', workflowId: 'task:a' };

function grpc(code: number, details: string): ServiceError {
  const cause = Object.assign(new Error(details), { code, details, metadata: {} });
  return new ServiceError('Failed', { cause });
}

describe('a request of a client that was closed', () => {
  it('says so', async () => {
    const connection = Connection.lazy({ address: '127.0.0.1:1' });
    const longhaul = new Longhaul({ client: new Client({ connection }) }, connection);
    await longhaul.close();
    const start = longhaul.start({ webAppId: 1, inputs: {} });
    await expect(start).rejects.toThrow(TemporalUnreachableError);
    await expect(start).rejects.toMatchObject({ name: 'ClientClosedError', address: expect.any(String) as string });
    await expect(start).rejects.toBeInstanceOf(library.ClientClosedError);
    await expect(start).rejects.toThrow(/connection is closed.*Was close\(\) called\?/);
  });
});

describe('a call while Temporal cannot be reached', () => {
  const rows = { location: '/srv/rows.jsonl', digest: 'ab', rows: 3, pages: 1 };

  it.each<[string, number, (longhaul: Longhaul, options: { signal: AbortSignal }) => Promise<unknown>]>([
    ['start', 0, (longhaul, options) => longhaul.start({ webAppId: 1, inputs: {} }, options)],
    ['adopt', 0, (longhaul, options) => longhaul.adopt('r-17', options)],
    ['startBatch', 0, (longhaul, options) => longhaul.startBatch({ id: 'march', rows }, options)],
    ['status', 200, (longhaul, options) => longhaul.task('order-17').status(options)],
    ['result', 200, (longhaul, options) => longhaul.task('order-17').result(options)],
    ['outputs', 200, (longhaul, options) => longhaul.task('order-17').outputs(options)],
    ['events', 200, (longhaul, options) => longhaul.task('order-17').events(options).next()],
  ])('(%s) ends with the signal’s reason after %d ms, long before its request does', async (_, afterMs, call) => {
    const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: [retries] });
    const archive = { outputs: () => Promise.resolve([]) };
    const longhaul = new Longhaul({ client: new Client({ connection }), archive }, connection);
    const caller = new AbortController();
    const startedMs = Date.now();
    const called = call(longhaul, { signal: caller.signal });
    const reason = new Error('the request was closed');
    if (afterMs > 0) await delay(afterMs);
    caller.abort(reason);
    await expect(called).rejects.toBe(reason);
    expect(Date.now() - startedMs).toBeLessThan(5_000);
    await longhaul.close();
  });

  it('makes no further attempt once it is canceled, in a pause between two, too', async () => {
    let attempts = 0;
    const counting: Interceptor = (options, nextCall) => {
      attempts += 1;
      return new InterceptingCall(nextCall(options));
    };
    const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: [retries, counting] });
    const caller = new AbortController();
    const call = connection.withAbortSignal(caller.signal, () =>
      connection.withDeadline(Date.now() + 60_000, () => connection.workflowService.getSystemInfo({})),
    );
    call.catch(() => undefined);
    await eventually(() => attempts >= 4);
    caller.abort();
    const attemptsThen = attempts;
    await expect(call).rejects.toThrow();
    expect(attempts).toBe(attemptsThen);
    await connection.close();
  });
});

describe('an error of Temporal', () => {
  const noNamespace = 'Namespace studio is not found.';

  it.each([
    [
      grpc(14, 'ECONNREFUSED 127.0.0.1:7233'),
      TemporalUnreachableError,
      /temporal\.example:7233.*REFUSED.*TEMPORAL_ADDRESS/,
    ],
    [grpc(4, 'Deadline exceeded'), TemporalUnreachableError, /did not answer in time/],
    [grpc(8, 'namespace rate limit exceeded'), TemporalBusyError, /no more requests.*rate limit/],
    [grpc(7, 'Request unauthorized.'), TemporalRefusedError, /refuses access.*TEMPORAL_API_KEY/],
    [grpc(16, 'no token'), TemporalRefusedError, /refuses access/],
    [new NamespaceNotFoundError('studio'), NamespaceMissingError, /no namespace "studio".*TEMPORAL_NAMESPACE/],
    [grpc(5, noNamespace), NamespaceMissingError, /no namespace "studio"/],
    // As a worker's connection has it.
    [Object.assign(new Error(noNamespace), { code: 5, details: '', metadata: {} }), NamespaceMissingError, /"studio"/],
    [grpc(3, 'no mapping defined for search attribute LonghaulApp'), SearchAttributesMissingError, /doctor --setup/],
    [new WorkflowNotFoundError('workflow not found for ID: task:a', 'task:a', undefined), UnknownTaskError, /task:a/],
    [new WorkflowNotFoundError('workflow execution already completed', 'task:a', undefined), TaskOverError, /is over/],
    [new WorkflowUpdateRPCTimeoutOrCancelledError('Deadline exceeded'), NoWorkerError, /longhaul worker/],
  ])('says where, what and what to do: %p', (error, type, message) => {
    const known = toClientError(error, where);

    expect(known).toBeInstanceOf(type);
    expect(known).toMatchObject({ message: expect.stringMatching(message) as string, cause: error });
  });

  it('names what gave the address, and leaves out a note of gRPC that is empty', () => {
    const known = toClientError(grpc(14, 'Last error: read ECONNRESET. Resolution note: '), {
      ...where,
      sources: { address: 'the address that connect was given' },
    });
    expect(String(known)).toMatch(
      /reached: Last error: read ECONNRESET\. Is it running, and is the address that connect was given right\?$/,
    );
  });

  it('blames the variables of Temporal, or what a client was given in their place', () => {
    const refused = grpc(7, 'no');
    const missing = new NamespaceNotFoundError('studio');
    expect(String(toClientError(refused, where))).toMatch(
      /Check TEMPORAL_API_KEY, TEMPORAL_TLS and TEMPORAL_NAMESPACE\.$/,
    );
    expect(String(toClientError(missing, where))).toMatch(/Set TEMPORAL_NAMESPACE, or make it: temporal/);

    const sources = { namespace: 'the namespace that connect was given', credentials: 'the credentials' };
    const given = { ...where, sources };
    expect(String(toClientError(refused, given))).toMatch(
      /Check the credentials and the namespace that connect was given\.$/,
    );
    expect(String(toClientError(missing, given))).toMatch(/Set the namespace that connect was given, or make it: temp/);
  });

  it.each([
    ['one’s own', undefined, 'the address of the given client'],
    ['a connection', { address: 'the address that connect was given' }, 'the address that connect was given'],
  ])('of a client of %s blames that, and no variable that it does not read', async (_, sources, blamed) => {
    const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: [] });
    const longhaul = new Longhaul({ client: new Client({ connection }) }, sources && connection, sources);
    const asked = connection.withDeadline(Date.now() + 300, () => longhaul.list()[Symbol.asyncIterator]().next());
    await expect(asked).rejects.toThrow(`Is it running, and is ${blamed} right?`);
    await connection.close();
  });

  it('that no update is answered in an outage is told as the outage, not as a lack of workers', async () => {
    const connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: [] });
    const client = new Client({ connection });
    const access = { client, address: '127.0.0.1:1', taskQueue: 'longhaul', webUiUrl: null };
    const unanswered = new WorkflowUpdateRPCTimeoutOrCancelledError('Deadline exceeded');

    await expect(translating(access, 'task:a', () => Promise.reject(unanswered))).rejects.toThrow(
      TemporalUnreachableError,
    );
    await connection.close();
  });

  it('that means nothing here stays what it is', () => {
    const errors = [new TypeError('a bug'), grpc(3, 'WorkflowId is not set')];

    expect(errors.map((error) => toClientError(error, where))).toEqual(errors);
  });
});
