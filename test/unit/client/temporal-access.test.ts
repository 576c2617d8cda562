import { setTimeout as delay } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  Client,
  Connection,
  ServiceError,
  WorkflowNotFoundError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { NamespaceNotFoundError } from '@temporalio/common';
import {
  NamespaceMissingError,
  NoWorkerError,
  SearchAttributesMissingError,
  TaskOverError,
  TemporalBusyError,
  TemporalRefusedError,
  TemporalUnreachableError,
  UnknownTaskError,
} from '../../../src/client/errors';
import { Longhaul } from '../../../src/client/longhaul';
import { abortable, ClientClosedError, toClientError } from '../../../src/client/temporal-access';
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
    await expect(start).rejects.toThrow(/connection is closed.*Was close\(\) called\?/);
  });
});

describe('an error of Temporal', () => {
  it.each([
    [
      'unavailable',
      grpc(14, 'connect ECONNREFUSED'),
      TemporalUnreachableError,
      /temporal\.example:7233.*ECONNREFUSED.*TEMPORAL_ADDRESS/,
    ],
    [
      'too slow',
      grpc(4, 'Deadline exceeded'),
      TemporalUnreachableError,
      /temporal\.example:7233.*did not answer in time/,
    ],
    ['too much asked', grpc(8, 'namespace rate limit exceeded'), TemporalBusyError, /no more requests.*rate limit/],
    ['forbidden', grpc(7, 'Request unauthorized.'), TemporalRefusedError, /refuses access.*TEMPORAL_API_KEY/],
    ['unauthenticated', grpc(16, 'no token'), TemporalRefusedError, /refuses access/],
    [
      'a missing namespace',
      new NamespaceNotFoundError('studio'),
      NamespaceMissingError,
      /no namespace "studio".*TEMPORAL_NAMESPACE/,
    ],
    [
      'a missing namespace by another call',
      grpc(5, 'Namespace studio is not found.'),
      NamespaceMissingError,
      /no namespace "studio"/,
    ],
    [
      'a missing namespace by a worker’s connection',
      Object.assign(new Error('Namespace studio is not found.'), { code: 5, details: '', metadata: {} }),
      NamespaceMissingError,
      /no namespace "studio"/,
    ],
    [
      'a missing search attribute',
      grpc(3, 'no mapping defined for search attribute LonghaulApp'),
      SearchAttributesMissingError,
      /"studio".*LonghaulApp.*longhaul doctor --fix/,
    ],
    [
      'an unknown workflow',
      new WorkflowNotFoundError('workflow not found for ID: task:a', 'task:a', undefined),
      UnknownTaskError,
      /no task task:a in the namespace "studio".*longhaul list/,
    ],
    [
      'a closed workflow',
      new WorkflowNotFoundError('workflow execution already completed', 'task:a', undefined),
      TaskOverError,
      /task:a is over already/,
    ],
    [
      'an update that nobody answers',
      new WorkflowUpdateRPCTimeoutOrCancelledError('Deadline exceeded'),
      NoWorkerError,
      /longhaul worker/,
    ],
  ])('that means %s says where, what and what to do', (_, error, type, message) => {
    const known = toClientError(error, where);

    expect(known).toBeInstanceOf(type);
    expect(known).toMatchObject({ message: expect.stringMatching(message) as string, cause: error });
  });

  it('that means nothing here stays what it is', () => {
    const errors = [new TypeError('a bug'), grpc(13, 'internal'), grpc(3, 'WorkflowId is not set')];

    expect(errors.map((error) => toClientError(error, where))).toEqual(errors);
  });
});
