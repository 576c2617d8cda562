import { workflowInfo } from '@temporalio/workflow';
import type { CreateTaskInput, ManifestInput } from '../../contract/activities';
import type { RowUploads } from '../../contract/batch/batch-rows';
import type { TaskPlan } from '../../contract/parse-task-input';
import type { CostTimes, Timestamps } from '../../contract/task-result';
import type { Money } from '../../domain/money';
import type { StopRequest } from '../../domain/stop-request';
import type { LonghaulStatus, TerminalStatus, WatchedTask } from '../../domain/task-state';
import type { Candidate } from './candidate-request-ids';

/** How the task ended at the service. */
export interface TaskEnd {
  readonly status: TerminalStatus;
  readonly timestamps: Timestamps;
  readonly costTimes: CostTimes;
  readonly cost: Money | null;
  readonly errorMessage: string | null;
}

/** An uncertain create that waits for a decision. */
export interface UncertainWait {
  readonly sinceMs: number;
  /** When the create was sent, by its create record; where that does not say, it is `notBeforeMs`. */
  readonly sentAtMs: number;
  /** No earlier than this it was sent, by Temporal's clock, too: that of its worker may be wrong. */
  readonly notBeforeMs: number;
  /** When the policy `onUncertain` decides, if it decides at all. */
  readonly actAtMs: number;
  /** How often the service was asked about what callbacks brought. */
  rounds: number;
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** What one run of a task hands to the next: plain JSON, and all there is to know. */
export interface ContinueAsNewState extends Mutable<WatchedTask> {
  /** When a worker took it up: its deadlines count from then. */
  readonly startedAtMs: number;
  /** When it was started, perhaps while no worker ran. Absent in what an earlier version handed over. */
  readonly requestedAtMs?: number;
  status: LonghaulStatus;
  sinceMs: number;
  waitingFor: string;
  nextStep: string;
  requestId: string | null;
  createNumber: number;
  createRequests: number;
  inputs: readonly ManifestInput[];
  /** Absent before the first upload. */
  uploads?: RowUploads;
  /** How long it waited for a decision about an uncertain create; deadlines do not count it. */
  parkedMs: number;
  acceptedAtMs: number | null;
  /** Once the task is over at the service; null or absent when it is not known. */
  cost?: Money | null;
  stopRequests: readonly StopRequest[];
  /** Why a stop was asked for by Longhaul itself. */
  breachedDeadline: string | null;
  /** The resource in the place of each file, by input key. Absent before all of them are there. */
  resources?: CreateTaskInput['inputs'];
  /** Why it is not known whether a create was accepted. */
  uncertaintyReason?: string;
  /** That create, while it waits for a decision. */
  uncertain?: UncertainWait;
  /** Only in what is handed over; a run keeps them itself. */
  candidates?: readonly Candidate[];
  /** Only in what is handed over: Temporal asked a previous run to end as canceled. */
  isCancellationRequested?: true;
  /** Only at continue-as-new: a message came in that the watch has not polled for yet. */
  isWokenUp?: true;
  /** When the watch by activity last reported a state. Absent: not yet. */
  toldMs?: number;
  /** How the task ended, what its archive misses, and the pause before the next attempt, while it waits for a decision. */
  incomplete?: { readonly end: TaskEnd; readonly missing: string; readonly pauseMs: number };
}

/** What the first run begins with. */
export function newState(plan: TaskPlan): ContinueAsNewState {
  const nowMs = Date.now();
  const requestedAtMs = workflowInfo().startTime.getTime();
  return {
    startedAtMs: nowMs,
    requestedAtMs,
    status: 'PreparingInputs',
    sinceMs: requestedAtMs,
    waitingFor: '',
    nextStep: '',
    problem: null,
    requestId: plan.adoptRequestId,
    createNumber: plan.createNumber,
    createRequests: 0,
    inputs: [],
    parkedMs: 0,
    acceptedAtMs: plan.adoptRequestId === null ? null : nowMs,
    runningSinceMs: null,
    notFoundSinceMs: null,
    serviceStatus: null,
    serviceStatusSinceMs: nowMs,
    queuePosition: null,
    polls: 0,
    failedPolls: 0,
    unknownInARow: 0,
    stopRequests: [],
    breachedDeadline: null,
  };
}
