import { InterceptingCall, status as grpcStatus } from '@grpc/grpc-js';
import {
  Connection,
  defaultGrpcRetryOptions,
  type GrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import type { TemporalConnection } from '../config/temporal-connection';
import { errorMessage } from '../core/text';
import { type ConnectionSources, TemporalUnreachableError } from './connection-errors';
import { LonghaulError } from './errors';
import { isClosing, isTooLarge, toClientError } from './temporal-access';

const connectTimeoutMs = 5_000;

type Interceptor = ReturnType<typeof makeGrpcRetryInterceptor>;
type Call = ReturnType<Parameters<Interceptor>[1]>;
type Status = Parameters<GrpcRetryOptions['retryableDecider']>[1];

/** A run usually takes less from its last workflow task to its end. */
const closingRetryMs = 200;
/** Attempts of a request that Temporal cancels each time, as a part of it does that shuts down. */
const maxCanceled = 4;
/** Attempts to connect, in about a second. */
const connectAttempts = 4;
const sdkRetries = defaultGrpcRetryOptions();

/**
 * The SDK's retries, but none of a request that is too large (it would end as "did not answer in time"), and soon ones
 * at the end of a run and after a cancellation by Temporal. A call that is canceled between two attempts ends as its
 * last one did; so it does on a closed connection, where the SDK's retry would throw in a timer and end the process.
 * @internal exported for tests
 */
export const retries: Interceptor = (options, nextCall) => {
  let last: Status | undefined;
  let current: Call | undefined;
  let isOver = false;
  const isConnecting = options.method_definition.path.endsWith('/GetSystemInfo');
  const retryableDecider = (attempt: number, status: Status): boolean => {
    last = status;
    if (isOver || isTooLarge(status.details)) return false;
    if (isConnecting && status.code === grpcStatus.UNAVAILABLE && attempt >= connectAttempts) return false;
    return (
      sdkRetries.retryableDecider(attempt, status) || (attempt < maxCanceled && status.code === grpcStatus.CANCELLED)
    );
  };
  const delayFunction = (attempt: number, status: Status): number =>
    isClosing(status.details) && attempt <= 5 ? closingRetryMs : sdkRetries.delayFunction(attempt, status);
  const call = makeGrpcRetryInterceptor({ delayFunction, retryableDecider })(options, (again) => {
    if (last !== undefined && isOver) return endedCall(last);
    try {
      current = nextCall(again);
      return current;
    } catch (error) {
      // The first attempt is made by the caller, who gets the error.
      if (last === undefined) throw error;
      isOver = true;
      return endedCall(last);
    }
  });
  const cancel = (): void => {
    isOver = true;
    current?.cancelWithStatus(grpcStatus.CANCELLED, 'Cancelled on client');
  };
  return new InterceptingCall(call, { cancel });
};

function endedCall(status: Status): Call {
  const ignore = (): void => undefined;
  return {
    start: (_metadata, listener) => {
      queueMicrotask(() => {
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.(status);
      });
    },
    sendMessage: ignore,
    sendMessageWithContext: ignore,
    startRead: ignore,
    halfClose: ignore,
    cancelWithStatus: ignore,
    getPeer: () => '',
    getAuthContext: () => null,
  };
}

/** Longer than Temporal holds back the answer to a wait for a result (20 seconds by default). */
const maxCallMs = 70_000;

/** @internal exported for tests: a deadline, retries included, where there is none: gRPC waits without end */
export function endingWithin(ms: number): Interceptor {
  return (options, nextCall) => {
    return new InterceptingCall(nextCall({ ...options, deadline: options.deadline ?? Date.now() + ms }));
  };
}

/**
 * Throws {@link TemporalUnreachableError} or `TemporalRefusedError`, with the address.
 * @param sources - what gave the address and the namespace, by default Temporal's own variables.
 */
export async function connectTemporal(temporal: TemporalConnection, sources?: ConnectionSources): Promise<Connection> {
  const { address, namespace, connectionOptions } = temporal;
  let opened: Connection | undefined;
  try {
    const connection = Connection.lazy({ ...connectionOptions, interceptors: [endingWithin(maxCallMs), retries] });
    opened = connection;
    // A request fails with the reason of its last attempt; the SDK's own wait for a connection ends without one.
    await connection.withDeadline(Date.now() + connectTimeoutMs, () => connection.workflowService.getSystemInfo({}));
    return connection;
  } catch (error) {
    await opened?.close();
    const known = toClientError(error, { address, sources, namespace, workflowId: '' });
    if (known instanceof LonghaulError) throw known;
    throw new TemporalUnreachableError(address, errorMessage(error), { cause: error, sources });
  }
}
