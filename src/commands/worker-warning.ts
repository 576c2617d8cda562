import { noPollerWords } from '../client/errors';
import { workflowTaskQueue } from '../contract/task-queues';
import type { CommandContext } from './command-context';

/**
 * Says on standard error which of the task queues no worker polls: what was started or asked there waits, and nothing else
 * would tell. Says nothing where Temporal does not tell.
 *
 * @param taskQueues - undefined: the one that commands have without an option.
 */
export async function warnOfMissingWorkers(
  { env, stderr }: CommandContext,
  taskQueues: Iterable<string | undefined>,
): Promise<void> {
  // Loaded on demand, as all that is slow to load.
  const [{ loadTemporalConnection }, { findUnservedQueues }] = await Promise.all([
    import('../config/temporal-connection.js'),
    import('../client/workers.js'),
  ]);
  const names = [...taskQueues].map((name) => name ?? workflowTaskQueue);
  const unserved = await findUnservedQueues(loadTemporalConnection(env), names).catch(() => []);
  for (const name of unserved) stderr.write(`warning: ${noPollerWords(name)}\n`);
}
