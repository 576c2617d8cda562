import { Client } from '@temporalio/client';
import type { TemporalConnection } from '../config/temporal-connection';
import { connectTemporal } from './connect-temporal';
import { areWorkflowsServed } from './queue-pollers';

/** Those of the task queues whose workflows no worker runs, each once. Throws where Temporal does not answer. */
export async function findUnservedQueues(
  temporal: TemporalConnection,
  taskQueues: readonly string[],
): Promise<readonly string[]> {
  const connection = await connectTemporal(temporal);
  try {
    const client = new Client({ connection, namespace: temporal.namespace });
    const names = [...new Set(taskQueues)];
    const served = await Promise.all(names.map((name) => areWorkflowsServed(client, name)));
    return names.filter((_, index) => served[index] === false);
  } finally {
    await connection.close();
  }
}
