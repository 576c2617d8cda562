/** States of a task at the service (specification, section 3), in the order a task passes through them. */
export const serviceStatuses = ['Queuing', 'Preparing', 'Running', 'Success', 'Failed', 'Canceled'] as const;

export type ServiceStatus = (typeof serviceStatuses)[number];

export type TerminalStatus = Extract<ServiceStatus, 'Success' | 'Failed' | 'Canceled'>;

/** What `LonghaulStatus` shows: the service's states, and those around them. Operators filter by these words. */
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

export type LonghaulStatus = (typeof longhaulStatuses)[number];

/** The states in which a task waits for a person's decision. */
export const statesThatWait = ['CreateUncertain', 'ArchiveIncomplete'] as const;

/** Words of services of this kind for each state, beside the specification's own. */
const synonyms: Readonly<Record<ServiceStatus, string>> = {
  Queuing: 'queue queued queueing inqueue pending waiting submitted scheduled 排队 排队中 等待 等待中',
  Preparing: 'starting initializing initialising loading 准备 准备中',
  Running: 'started processing inprogress executing working generating 运行 运行中 执行中 处理中 进行中 生成中',
  Success: 'succeed succeeded successful complete completed done finished 成功 完成 已完成',
  Failed: 'fail failure error errored timeout timedout 失败 已失败',
  Canceled: 'cancel cancelled interrupted stopped terminated aborted 取消 已取消 已停止 已终止',
};

export type StateWords = Readonly<Record<string, ServiceStatus>>;

const builtInWords: ReadonlyMap<string, ServiceStatus> = new Map(
  serviceStatuses.flatMap((status) =>
    [status.toLowerCase(), ...synonyms[status].split(' ')].map((word) => [word, status] as const),
  ),
);

/** A word in the form in which words are compared: `In_Progress`, `IN PROGRESS` and `in-progress` are one. */
export function comparableWord(word: string): string {
  return word
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_-]/g, '');
}

/** Reads the service's word for a state; an unknown word is `undefined`, and not terminal, so the watch goes on. */
export function parseServiceStatus(
  word: string,
  configured?: ReadonlyMap<string, ServiceStatus>,
): ServiceStatus | undefined {
  const key = comparableWord(word);
  return configured?.get(key) ?? builtInWords.get(key);
}

export function isTerminal(status: string | undefined): status is TerminalStatus {
  return status === 'Success' || status === 'Failed' || status === 'Canceled';
}

export type Observation =
  | {
      readonly seen: 'task';
      readonly status: string;
      readonly queuePosition?: number;
      readonly callbacksCome?: boolean;
    }
  | { readonly seen: 'notFound' }
  | { readonly seen: 'gone'; readonly problem: string }
  /** `turnInMs`: the query was not sent, for others come first; in so many milliseconds it is its turn. */
  | { readonly seen: 'nothing'; readonly problem: string; readonly turnInMs?: number };

/** What is known of a task while it is watched. Plain JSON: it goes from run to run, and from worker to worker. */
export interface WatchedTask {
  /** The service's own word, and since when it says it; null before the first answer. */
  readonly serviceStatus: string | null;
  readonly serviceStatusSinceMs: number;
  /** When it said so last; undefined before the first answer. */
  readonly serviceStatusAtMs?: number;
  readonly queuePosition: number | null;
  readonly runningSinceMs: number | null;
  /** Since when the service has answered nothing but "no such task". */
  readonly notFoundSinceMs: number | null;
  readonly polls: number;
  readonly failedPolls: number;
  /** How many of the last ones brought no answer at all. */
  readonly failedInARow: number;
  /** A callback is to tell its end, and those of other tasks come. */
  readonly callbacksCome?: boolean;
  /** The last one was not sent: its turn is so many milliseconds later. */
  readonly turnInMs?: number;
  /** How many of the last ones brought the same word, which is no known state. */
  readonly unknownInARow: number;
  /** What was wrong with the last poll; null when it brought a known state. */
  readonly problem: string | null;
}

export function unseenTask(nowMs: number): WatchedTask {
  return {
    serviceStatus: null,
    serviceStatusSinceMs: nowMs,
    queuePosition: null,
    runningSinceMs: null,
    notFoundSinceMs: null,
    polls: 0,
    failedPolls: 0,
    failedInARow: 0,
    unknownInARow: 0,
    problem: null,
  };
}

export function afterPoll(known: WatchedTask, observation: Observation, nowMs: number): WatchedTask {
  if (observation.seen === 'nothing' && observation.turnInMs !== undefined) {
    return { ...known, turnInMs: observation.turnInMs, problem: observation.problem };
  }
  const polls = known.polls + 1;
  if (observation.seen !== 'task') {
    const isNotFound = observation.seen === 'notFound';
    return {
      ...known,
      turnInMs: undefined,
      callbacksCome: undefined,
      polls,
      failedPolls: known.failedPolls + 1,
      failedInARow: observation.seen === 'nothing' ? known.failedInARow + 1 : 0,
      notFoundSinceMs: known.notFoundSinceMs ?? (isNotFound ? nowMs : null),
      problem: isNotFound ? 'The service does not know the task (yet).' : observation.problem,
    };
  }
  const status = parseServiceStatus(observation.status);
  const isSame = observation.status === known.serviceStatus;
  const unknownInARow = status === undefined ? (isSame ? known.unknownInARow : 0) + 1 : 0;
  return {
    serviceStatus: observation.status,
    serviceStatusSinceMs: isSame ? known.serviceStatusSinceMs : nowMs,
    serviceStatusAtMs: nowMs,
    queuePosition: observation.queuePosition ?? null,
    callbacksCome: observation.callbacksCome,
    runningSinceMs: known.runningSinceMs ?? (status === 'Running' ? nowMs : null),
    notFoundSinceMs: null,
    polls,
    failedPolls: known.failedPolls,
    failedInARow: 0,
    unknownInARow,
    problem:
      unknownInARow < unknownPolls
        ? null
        : `The service says "${observation.status}", which is no known state: give its meaning in LONGHAUL_SERVICE_DIALECT of the workers.`,
  };
}

/** So many polls with the same unknown word are no passing state. */
const unknownPolls = 3;

/** Whether the next poll asks for the outputs, too: a state that is not known and lasts may be an end. */
export function asksOutputs({ unknownInARow }: WatchedTask): boolean {
  return unknownInARow > 0 && unknownInARow % unknownPolls === 0;
}

export function getServiceStatus({ serviceStatus }: Pick<WatchedTask, 'serviceStatus'>): ServiceStatus | undefined {
  return serviceStatus === null ? undefined : parseServiceStatus(serviceStatus);
}

/** Deleted, or "no such task" for longer than `graceMs`; until then that means "not visible yet". */
export function isLost(
  { notFoundSinceMs }: WatchedTask,
  observation: Observation,
  graceMs: number,
  nowMs: number,
): boolean {
  if (observation.seen === 'gone') return true;
  return observation.seen === 'notFound' && notFoundSinceMs !== null && nowMs - notFoundSinceMs >= graceMs;
}

/** Queries for one task that failed one after the other. Plain JSON: it goes from worker to worker. */
export interface FailingQueries {
  readonly sinceMs: number;
  readonly lastMs: number;
  readonly queries: number;
  readonly problem: string;
}

/** So many of them over so long are no bad luck any more. */
const longMs = 180_000;
const manyQueries = 3;

/** Undefined once a query was answered. One that waits for its turn tells nothing. */
export function afterQuery(
  failing: FailingQueries | undefined,
  observation: Observation,
  nowMs: number,
): FailingQueries | undefined {
  if (observation.seen !== 'nothing') return undefined;
  if (observation.turnInMs !== undefined) return failing;
  const { sinceMs = nowMs, queries = 0 } = failing ?? {};
  return { sinceMs, lastMs: nowMs, queries: queries + 1, problem: observation.problem };
}

export function areFailingLong({ sinceMs, lastMs, queries }: FailingQueries): boolean {
  return queries >= manyQueries && lastMs - sinceMs >= longMs;
}

/** A deadline of a task: from accepted to running, from running to the end, from the start to the end. */
export type DeadlineName = 'queue' | 'run' | 'total';

export type DeadlinesMs = Readonly<Record<DeadlineName, number>>;

export interface DeadlineStarts {
  /** The start of the workflow, later by the time that the task waited for a decision. */
  readonly startedAtMs: number;
  readonly acceptedAtMs: number | null;
  readonly runningSinceMs: number | null;
}

export function passedDeadline(starts: DeadlineStarts, limits: DeadlinesMs, nowMs: number): DeadlineName | undefined {
  const { startedAtMs, acceptedAtMs, runningSinceMs } = starts;
  if (nowMs - startedAtMs > limits.total) return 'total';
  if (runningSinceMs !== null) return nowMs - runningSinceMs > limits.run ? 'run' : undefined;
  return acceptedAtMs !== null && nowMs - acceptedAtMs > limits.queue ? 'queue' : undefined;
}

/** After this time another poll finds that the next deadline has passed; Infinity when it has passed already. */
export function untilDeadlineMs(starts: DeadlineStarts, limits: DeadlinesMs, nowMs: number): number {
  const { startedAtMs, acceptedAtMs, runningSinceMs } = starts;
  const queuedMs = acceptedAtMs === null ? Infinity : acceptedAtMs + limits.queue;
  const nextMs = runningSinceMs === null ? queuedMs : runningSinceMs + limits.run;
  const leftMs = Math.min(startedAtMs + limits.total, nextMs) - nowMs + 1;
  return leftMs > 0 ? leftMs : Infinity;
}
