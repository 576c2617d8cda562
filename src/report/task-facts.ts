import { failureTypes, mayExistUnfollowed } from '../contract/failure-types';
import { adoptionKey, batchOfRow, taskKeyOf, taskWorkflowId } from '../contract/workflow-ids';
import type { Timestamps } from '../contract/task-result';
import type { Money } from '../domain/money';
import { shellWord } from '../domain/shell-word';
import { toReportFacts } from './batch-facts';
import type {
  ReportCommand,
  ReportFile,
  ReportInput,
  ReportMissing,
  ReportPair,
  ReportRow,
  TaskFacts,
} from './report-data';

/** What is known of a task when its page is written. */
export interface ReportedTask {
  readonly workflowId: string;
  readonly state: ReportRow['state'];
  /** In words; null when Temporal has forgotten the task. */
  readonly status: string | null;
  /** Its status when it waits for a person. */
  readonly waits: 'CreateUncertain' | 'ArchiveIncomplete' | null;
  readonly failure: ReportRow['failure'];
  readonly remarks: readonly ReportPair[];
  readonly app: string | null;
  readonly account: string | null;
  readonly requestId: string | null;
  /** ISO-8601. */
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** The service's. */
  readonly timestamps: Timestamps;
  readonly costTimes: Readonly<Record<string, number>>;
  readonly cost: Money | null;
  readonly inputs: readonly ReportInput[];
  readonly outputCount: number;
  readonly missing: readonly ReportMissing[];
  readonly manifest: string | null;
}

/** Where a page of a task is made. */
export interface TaskPagePlace {
  readonly archive: string;
  /** The page of a namespace in Temporal's Web UI; null when it is not known. */
  readonly webUi: string | null;
  readonly now: Date;
}

/** The one row of the page of a task. */
export function toTaskRow(task: ReportedTask, files: readonly ReportFile[]): ReportRow {
  const { workflowId, state, requestId, failure, manifest, outputCount, missing, timestamps, cost } = task;
  const toMs = (iso: string | null | undefined): number | null => (iso == null ? null : Date.parse(iso));
  const [createdMs, runningMs] = [toMs(timestamps['createdAt']?.iso), toMs(timestamps['runningAt']?.iso)];
  return {
    ...{ key: taskName(workflowId), line: 1, state, workflowId, requestId, failure, files, manifest },
    ...{ fileCount: outputCount, failedOutputs: missing.length },
    startedMs: toMs(task.startedAt),
    endedMs: toMs(task.endedAt),
    queuedMs: createdMs === null || runningMs === null ? null : Math.max(0, runningMs - createdMs),
    cost: cost && [cost.currency, cost.micros],
  };
}

/** What the page of a task says about it beside its row, with the commands that apply to it. */
export function toTaskFacts(task: ReportedTask, { archive, webUi, now }: TaskPagePlace): TaskFacts {
  const { workflowId, status, remarks, app, account, inputs, missing, costTimes } = task;
  const about: readonly (readonly [string, string | null])[] = [
    ['App', app],
    ['Account', account],
  ];
  return {
    ...{ task: taskName(workflowId), status, remarks, inputs, missing, costTimes, archive },
    about: about.filter((pair): pair is ReportPair => pair[1] !== null),
    times: toTimes(task),
    madeAt: now.toISOString(),
    remedies: toRemedies(task),
    commands: toCommands(task),
    workflowPages: webUi === null ? null : `${webUi}/workflows/`,
  };
}

function taskName(workflowId: string): string {
  return taskKeyOf(workflowId) ?? workflowId;
}

const timeNames: Readonly<Record<string, string>> = {
  createdAt: 'Created at the service',
  executedAt: 'Taken from the queue',
  runningAt: 'Running',
  endedAt: 'Ended at the service',
  expiredAt: 'The service keeps the results until',
};

function toTimes({ startedAt, endedAt, timestamps }: ReportedTask): readonly ReportPair[] {
  const service = Object.entries(timeNames).map(([name, words]) => [words, timestamps[name]?.iso ?? null] as const);
  const all = [['Started', startedAt] as const, ...service, ['Over', endedAt] as const];
  return all
    .filter((pair): pair is ReportPair => pair[1] !== null)
    .sort(([, one], [, other]) => Date.parse(one) - Date.parse(other));
}

function toRemedies(task: ReportedTask): readonly ReportCommand[] {
  const { workflowId, failure, waits, app, requestId } = task;
  const id = shellWord(taskName(workflowId));
  if (waits === 'CreateUncertain') {
    return [
      { does: 'The service has the task: follow it', command: `longhaul resolve ${id} --adopt REQUEST_ID` },
      { does: 'Create it once more; it may be paid twice', command: `longhaul resolve ${id} --recreate` },
      { does: 'Give it up', command: `longhaul resolve ${id} --abandon` },
    ];
  }
  if (waits === 'ArchiveIncomplete') {
    return [
      { does: 'Fetch again what is missing, while the service has it', command: `longhaul rearchive ${id}` },
      { does: 'Give the missing outputs up', command: `longhaul resolve ${id} --abandon` },
    ];
  }
  if (failure === null) return [];
  if (requestId === null && mayExistUnfollowed.some((type) => type === failure.type)) {
    return [{ does: 'Find out whether the service created it', command: 'longhaul reconcile' }];
  }
  const batch = batchOfRow(workflowId);
  if (batch !== undefined) {
    const { repairs } = toReportFacts({ id: batch, ending: '', source: null, archive: '' }, new Date(0));
    return repairs[failure.type] ?? [];
  }
  if (failure.type === failureTypes.InputChanged) return [];
  if (requestId !== null && workflowId === taskWorkflowId(adoptionKey(requestId))) {
    return [
      { does: 'Follow and archive it again; nothing is created', command: `longhaul adopt ${shellWord(requestId)}` },
    ];
  }
  const does = takesOver.includes(failure.type)
    ? 'Take it over: it may still run at the service'
    : 'Start it again; it may be paid anew';
  // A command line refuses OPTIONS: copied without those of the first run, it could start a task that lacks an input.
  const command = `longhaul run ${app === null ? 'APP' : shellWord(app)} --key ${id} --retry OPTIONS`;
  return [{ does: `${does}. OPTIONS stands for the inputs (-i) and options of the first run`, command }];
}

/** Nothing follows the task, and it may still run. */
const takesOver: readonly string[] = ['WorkflowTerminated', 'WorkflowTimedOut', failureTypes.StopUnconfirmed];

function toCommands({ workflowId, state, outputCount }: ReportedTask): readonly ReportCommand[] {
  const id = shellWord(taskName(workflowId));
  if (state === 'Running') {
    return [
      { does: 'Follow it to its end', command: `longhaul status ${id} --follow` },
      { does: 'End it, confirmed by the service', command: `longhaul stop ${id}` },
    ];
  }
  return [
    ...(outputCount > 0
      ? [{ does: 'Fetch its files into a folder', command: `longhaul download ${id} -o FOLDER` }]
      : []),
    { does: 'Find what was paid for and is not safe', command: 'longhaul reconcile' },
  ];
}
