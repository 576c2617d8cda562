import { NativeConnection } from '@temporalio/worker';
import { TemporalUnreachableError } from '../client/errors';
import { toClientError } from '../client/temporal-access';
import { ConfigError } from '../config/config-error';
import type { TemporalConnection } from '../config/temporal-connection';
import { errorMessage } from '../domain/text';
import { ArchiveError } from '../storage/errors';
import { type RunningWorker, startWorker as start, type StartWorkerOptions } from '../worker';

export { createLogger } from '../telemetry/logger';
export { installRuntime } from '../telemetry/install-runtime';

/** Connects a worker to Temporal. Throws `TemporalUnreachableError` with the address. */
export async function connectNative({ address, connectionOptions }: TemporalConnection): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(connectionOptions);
  } catch (error) {
    throw new TemporalUnreachableError(address, reasonIn(error), { cause: error });
  }
}

/** Starts a worker. What keeps it from starting is thrown as an error that says what to do, where there is one. */
export async function startWorker(options: StartWorkerOptions, temporal: TemporalConnection): Promise<RunningWorker> {
  try {
    return await start(options);
  } catch (error) {
    if (error instanceof ArchiveError) throw new ConfigError([`LONGHAUL_ARCHIVE: ${error.message}`]);
    throw toClientError(error, { ...temporal, workflowId: '' });
  }
}

/** The native SDK prints its error as Rust does; the operating system's own words are inside. */
function reasonIn(error: unknown): string {
  const text = errorMessage(error);
  return /message: "([^"]+)"/.exec(text)?.[1] ?? text;
}
