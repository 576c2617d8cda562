import { toClientError } from '../client/temporal-access';
import { ConfigError } from '../config/config-error';
import type { TemporalConnection } from '../config/temporal-connection';
import { errorCode } from '../domain/text';
import { type RunningReceiver, startReceiver as start, type StartReceiverOptions } from '../receiver';

export { createLogger } from '../telemetry/logger';

/** Starts a receiver. What keeps it from starting is thrown as an error that says what to do, where there is one. */
export async function startReceiver(
  options: StartReceiverOptions,
  temporal: TemporalConnection,
): Promise<RunningReceiver> {
  try {
    return await start(options);
  } catch (error) {
    if (error instanceof Error && 'syscall' in error && error.syscall === 'listen') {
      const reason = errorCode(error) || error.message;
      throw new ConfigError([
        `LONGHAUL_CALLBACK_PORT is ${options.config.port}, which cannot be listened on (${reason}); give another port.`,
      ]);
    }
    throw toClientError(error, { ...temporal, workflowId: '' });
  }
}
