import type { Connection } from '@temporalio/client';
import { connectTemporal } from '../../src/client/connect-temporal';
import { eventually } from './eventually';

export function temporalAddress(): string {
  const address = process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'];
  if (address === undefined) throw new Error('This layer needs the servers of its jest project (globalSetup).');
  return address;
}

/**
 * A client's connection as the product makes it: it throws nothing after it was closed, in the next suite, say. The
 * product gives up after seconds, which a busy machine may take.
 */
export async function connectClient(address = temporalAddress()): Promise<Connection> {
  const connect = (): Promise<Connection> => {
    return connectTemporal({ address, namespace: 'default', connectionOptions: { address } });
  };
  return await eventually(connect, { what: `a connection to ${address}` });
}
