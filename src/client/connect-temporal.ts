import { Connection } from '@temporalio/client';
import type { TemporalConnection } from '../config/temporal-connection';
import { TemporalUnreachableError } from './errors';
import { toClientError } from './temporal-access';

const connectTimeout = '5 seconds';

/** Connects to Temporal. Throws {@link TemporalUnreachableError} or `TemporalRefusedError`, with the address. */
export async function connectTemporal(temporal: TemporalConnection): Promise<Connection> {
  const { address, namespace, connectionOptions } = temporal;
  try {
    return await Connection.connect({ ...connectionOptions, connectTimeout });
  } catch (error) {
    const known = toClientError(error, { address, namespace, workflowId: '' });
    if (known !== error) throw known;
    // The SDK has no class for this: whatever keeps a connection from being made means the same here.
    const reason = error instanceof Error ? error.message : String(error);
    throw new TemporalUnreachableError(address, reason, { cause: error });
  }
}
