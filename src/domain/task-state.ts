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
export const longhaulStatuses = [
  'PreparingInputs',
  'Creating',
  'CreateUncertain',
  'Queuing',
  'Preparing',
  'Running',
  'Watching',
  'Stopping',
  'Archiving',
  'ArchiveIncomplete',
  'Success',
  'Failed',
  'Canceled',
] as const;

/** One of {@link longhaulStatuses}. */
export type LonghaulStatus = (typeof longhaulStatuses)[number];

/** The states in which a task waits for a person's decision. */
export const statesThatWait = ['CreateUncertain', 'ArchiveIncomplete'] as const;

/**
 * Reads the service's status word. An unknown word is `undefined`: it is not terminal, so the watch goes on.
 * `Cancelled` is accepted as `Canceled`.
 */
export function parseServiceStatus(word: string): ServiceStatus | undefined {
  if (word === 'Cancelled') return 'Canceled';
  return serviceStatuses.find((status) => status === word);
}

/** Whether a task in this state is over; a word that the specification does not know is not terminal. */
export function isTerminal(status: string | undefined): status is TerminalStatus {
  return status === 'Success' || status === 'Failed' || status === 'Canceled';
}

/** What one poll of a task brought: its state, "no such task", that it was deleted, or nothing at all. */
export type Observation =
  | { readonly seen: 'task'; readonly status: string; readonly queuePosition?: number }
  | { readonly seen: 'notFound' }
  | { readonly seen: 'gone'; readonly problem: string }
  | { readonly seen: 'nothing'; readonly problem: string };

/** What is known of a task while it is watched. Plain JSON: it goes from run to run, and from worker to worker. */
export interface WatchedTask {
  /** The service's own word, and since when it says it; null before the first answer. */
  readonly serviceStatus: string | null;
  readonly serviceStatusSinceMs: number;
  /** When it said so last; absent before the first answer, and in what older workers handed over. */
  readonly serviceStatusAtMs?: number;
  readonly queuePosition: number | null;
  readonly runningSinceMs: number | null;
  /** Since when the service has answered nothing but "no such task". */
  readonly notFoundSinceMs: number | null;
  /** Polls so far, and how many of them brought no state. */
  readonly polls: number;
  readonly failedPolls: number;
  /** How many of the last ones brought no answer at all; absent in what older workers handed over. */
  readonly failedInARow?: number;
  /** What was wrong with the last poll; null when it brought a state. */
  readonly problem: string | null;
}

/** What is known of a task before its first poll. */
export function unseenTask(nowMs: number): WatchedTask {
  return {
    ...{ serviceStatus: null, serviceStatusSinceMs: nowMs, queuePosition: null, runningSinceMs: null },
    ...{ notFoundSinceMs: null, polls: 0, failedPolls: 0, failedInARow: 0, problem: null },
  };
}

/** What is known after another poll. Pure: the clock is the caller's. */
export function afterPoll(known: WatchedTask, observation: Observation, nowMs: number): WatchedTask {
  const polls = known.polls + 1;
  if (observation.seen !== 'task') {
    const isNotFound = observation.seen === 'notFound';
    return {
      ...known,
      polls,
      failedPolls: known.failedPolls + 1,
      failedInARow: observation.seen === 'nothing' ? (known.failedInARow ?? 0) + 1 : 0,
      notFoundSinceMs: known.notFoundSinceMs ?? (isNotFound ? nowMs : null),
      problem: isNotFound ? 'The service does not know the task (yet).' : observation.problem,
    };
  }
  const isRunning = parseServiceStatus(observation.status) === 'Running';
  return {
    serviceStatus: observation.status,
    serviceStatusSinceMs: observation.status === known.serviceStatus ? known.serviceStatusSinceMs : nowMs,
    serviceStatusAtMs: nowMs,
    queuePosition: observation.queuePosition ?? null,
    runningSinceMs: known.runningSinceMs ?? (isRunning ? nowMs : null),
    notFoundSinceMs: null,
    polls,
    failedPolls: known.failedPolls,
    failedInARow: 0,
    problem: null,
  };
}

/** The service's word as a state that Longhaul knows; `undefined` for another word and before the first answer. */
export function getServiceStatus({ serviceStatus }: Pick<WatchedTask, 'serviceStatus'>): ServiceStatus | undefined {
  return serviceStatus === null ? undefined : parseServiceStatus(serviceStatus);
}

/** Whether it was deleted, or "no such task", which is "not visible yet" for a while, has lasted too long to mean that. */
export function isLost(
  { notFoundSinceMs }: WatchedTask,
  observation: Observation,
  graceMs: number,
  nowMs: number,
): boolean {
  if (observation.seen === 'gone') return true;
  return observation.seen === 'notFound' && notFoundSinceMs !== null && nowMs - notFoundSinceMs >= graceMs;
}

/** A deadline of a task: from accepted to running, from running to the end, from the start to the end. */
export type DeadlineName = 'queue' | 'run' | 'total';

/** How long each may take. */
export type DeadlinesMs = Readonly<Record<DeadlineName, number>>;

/** From when a task's deadlines count. */
export interface DeadlineStarts {
  /** The start of the workflow, later by the time that the task waited for a decision. */
  readonly startedAtMs: number;
  /** Null before the service accepted the task. */
  readonly acceptedAtMs: number | null;
  /** Null before the task ran. */
  readonly runningSinceMs: number | null;
}

/** The first deadline that has passed; `undefined` while all of them hold. */
export function passedDeadline(starts: DeadlineStarts, limits: DeadlinesMs, nowMs: number): DeadlineName | undefined {
  const { startedAtMs, acceptedAtMs, runningSinceMs } = starts;
  if (nowMs - startedAtMs > limits.total) return 'total';
  if (runningSinceMs !== null) return nowMs - runningSinceMs > limits.run ? 'run' : undefined;
  return acceptedAtMs !== null && nowMs - acceptedAtMs > limits.queue ? 'queue' : undefined;
}
