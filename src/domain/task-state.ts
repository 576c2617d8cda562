/**
 * States of a task at the service (specification, section 3), in the order a task passes through them.
 * `Success`, `Failed` and `Canceled` are terminal.
 */
export const serviceStatuses = ['Queuing', 'Preparing', 'Running', 'Success', 'Failed', 'Canceled'] as const;

/** One state of a task at the service. */
export type ServiceStatus = (typeof serviceStatuses)[number];

/** A state that a task never leaves. */
export type TerminalStatus = Extract<ServiceStatus, 'Success' | 'Failed' | 'Canceled'>;

/**
 * What `LonghaulStatus` shows: the service's states, and the ones before, between and after them that only Longhaul
 * knows. A change is a breaking change: operators filter by these words.
 */
export type LonghaulStatus =
  | 'PreparingInputs'
  | 'Creating'
  | 'CreateUncertain'
  | 'Queuing'
  | 'Preparing'
  | 'Running'
  | 'Watching'
  | 'Stopping'
  | 'Archiving'
  | 'ArchiveIncomplete'
  | 'Success'
  | 'Failed'
  | 'Canceled';

/**
 * Reads the service's status word. An unknown word is `undefined`: it is not terminal, so the watch goes on.
 * `Cancelled` is accepted as `Canceled`.
 */
export function parseServiceStatus(word: string): ServiceStatus | undefined {
  if (word === 'Cancelled') return 'Canceled';
  return serviceStatuses.find((status) => status === word);
}

/** Whether a task in this state is over. */
export function isTerminal(status: ServiceStatus | undefined): status is TerminalStatus {
  return status === 'Success' || status === 'Failed' || status === 'Canceled';
}
