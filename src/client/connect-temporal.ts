import { Connection, defaultGrpcRetryOptions, makeGrpcRetryInterceptor } from '@temporalio/client';
import type { TemporalConnection } from '../config/temporal-connection';
import { TemporalUnreachableError } from './errors';
import { isTooLarge, toClientError } from './temporal-access';

const connectTimeout = '5 seconds';

const sdkRetries = defaultGrpcRetryOptions();
/** The SDK's own, but a request that is too large stays so: tried again it would end as "did not answer in time". */
const retries = makeGrpcRetryInterceptor({
  ...sdkRetries,
  retryableDecider: (attempt, status) => !isTooLarge(status.details) && sdkRetries.retryableDecider(attempt, status),
});

/** Connects to Temporal. Throws {@link TemporalUnreachableError} or `TemporalRefusedError`, with the address. */
export async function connectTemporal(temporal: TemporalConnection): Promise<Connection> {
  const { address, namespace, connectionOptions } = temporal;
  try {
    return await Connection.connect({ ...connectionOptions, connectTimeout, interceptors: [retries] });
  } catch (error) {
    const known = toClientError(error, { address, namespace, workflowId: '' });
    if (known !== error) throw known;
    // The SDK has no class for this: whatever keeps a connection from being made means the same here.
    const reason = error instanceof Error ? error.message : String(error);
    throw new TemporalUnreachableError(address, reason, { cause: error });
  }
}
