import { InterceptingCall, status as grpcStatus } from '@grpc/grpc-js';
import {
  Connection,
  defaultGrpcRetryOptions,
  type GrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import type { TemporalConnection } from '../config/temporal-connection';
import { errorMessage } from '../domain/text';
import { type ConnectionProblem, connectionProblem } from './connection-diagnosis';
import { type ConnectionSources, TemporalUnreachableError } from './connection-errors';
import { isClosing, isTooLarge, toClientError } from './temporal-access';

const connectTimeout = '5 seconds';

type Interceptor = ReturnType<typeof makeGrpcRetryInterceptor>;
type Call = ReturnType<Parameters<Interceptor>[1]>;
type Status = Parameters<GrpcRetryOptions['retryableDecider']>[1];

/** How long a run usually takes from its last workflow task to its end, at most. */
const closingRetryMs = 200;
const sdkRetries = defaultGrpcRetryOptions();

function delayFunction(attempt: number, status: Status): number {
  const isSoon = isClosing(status.details) && attempt <= 5;
  return isSoon ? closingRetryMs : sdkRetries.delayFunction(attempt, status);
}

/** So often a request is sent that Temporal cancels each time. */
const maxCanceled = 4;

/** A part of Temporal that shuts down, or is too slow, cancels what it was asked. */
function isCanceledThere({ code }: Status): boolean {
  return code === grpcStatus.CANCELLED;
}

/**
 * The SDK's own retries, but not for a request that is too large: retried, it would end as "did not answer in time". A
 * request that came at the end of a run is sent again soon, for the next run: the SDK's growing pauses would use up its
 * time. A request that Temporal canceled, and nobody here, is sent again. The SDK retries in a timer, where gRPC throws
 * once the connection is closed, which would end the process and leave the call open for ever; such a call ends as its
 * last attempt did. So does one that is canceled between two attempts: the SDK cancels the first attempt only, and
 * would go on with the others.
 *
 * @internal exported for tests
 */
export const retries: Interceptor = (options, nextCall) => {
  let last: Status | undefined;
  let current: Call | undefined;
  let isOver = false;
  const retryableDecider = (attempt: number, status: Status): boolean => {
    last = status;
    if (isOver || isTooLarge(status.details)) return false;
    return sdkRetries.retryableDecider(attempt, status) || (attempt < maxCanceled && isCanceledThere(status));
  };
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
    ...{ sendMessage: ignore, sendMessageWithContext: ignore, startRead: ignore, halfClose: ignore },
    ...{ cancelWithStatus: ignore, getPeer: () => '', getAuthContext: () => null },
  };
}

/** Longer than Temporal holds back the answer to a wait for a result (20 seconds, unless it is set up otherwise). */
const maxCallMs = 70_000;

/**
 * Gives each request without a deadline this one, its retries included: gRPC waits without end where connections are
 * accepted and nothing answers.
 *
 * @internal exported for tests
 */
export function endingWithin(ms: number): Interceptor {
  return (options, nextCall) => {
    return new InterceptingCall(nextCall({ ...options, deadline: options.deadline ?? Date.now() + ms }));
  };
}

/**
 * Connects to Temporal. Throws {@link TemporalUnreachableError} or `TemporalRefusedError`, with the address.
 *
 * @param sources - what gave the address and the namespace, by default Temporal's own variables.
 */
export async function connectTemporal(temporal: TemporalConnection, sources?: ConnectionSources): Promise<Connection> {
  const { address, namespace, connectionOptions } = temporal;
  try {
    const interceptors = [endingWithin(maxCallMs), retries];
    return await Connection.connect({ ...connectionOptions, connectTimeout, interceptors });
  } catch (error) {
    const known = toClientError(error, { address, sources, namespace, workflowId: '' });
    if (known !== error && !(known instanceof TemporalUnreachableError)) throw known;
    // The SDK has no class for this: every failure to connect means the same here.
    throw await unreachable(temporal, errorMessage(error), error, sources);
  }
}

/** What a failure to connect is thrown as: with its cause where it can be found out, else in the SDK's words. */
export async function unreachable(
  temporal: TemporalConnection,
  words: string,
  cause: unknown,
  sources?: ConnectionSources,
): Promise<TemporalUnreachableError> {
  const found = (await connectionProblem(temporal).catch(() => null)) ?? {};
  const { reason = words, remedy }: Partial<ConnectionProblem> = found;
  return new TemporalUnreachableError(temporal.address, reason, { cause, remedy, sources });
}
