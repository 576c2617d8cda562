import { log, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type {
  ArchiveOutputsResult,
  CreateTaskInput,
  ManifestInput,
  PolledTask,
  PollResult,
  WatchTaskInput,
} from '../../contract/activities';
import { taskPlaceProblems } from '../../contract/archive-folder';
import type { RowUploads } from '../../contract/batch/batch-rows';
import { parseTaskInput, type TaskPlan } from '../../contract/parse-task-input';
import { searchAttributes } from '../../contract/search-attributes';
import { inputDigest, type TaskChoices, taskChoices, type TaskInput } from '../../contract/task-input';
import type { CostTimes, TaskResult, Timestamps } from '../../contract/task-result';
import { afterReading, type StopRequest } from '../../core/stop-request';
import {
  afterPoll,
  getServiceStatus,
  type LonghaulStatus,
  type TerminalStatus,
  unseenTask,
  type WatchedTask,
} from '../../core/task-state';
import type { Money } from '../../money/money';
import { messageRefused, taskFailure } from '../failures';
import { isRetriedRun, readStartArgument } from '../run-info';

export interface TaskEnd {
  readonly status: TerminalStatus;
  readonly timestamps: Timestamps;
  readonly costTimes: CostTimes;
  readonly cost: Money | null;
  readonly errorMessage: string | null;
  /** Absent: its outputs are still to be archived. */
  readonly archived?: ArchiveOutputsResult;
}

/** A decision by a person, or `adopt` by a callback that the service confirms. */
export type Decision =
  { readonly kind: 'adopt'; readonly requestId: string } | { readonly kind: 'recreate' | 'abandon' | 'rearchive' };

export const uncertainDecisions = ['adopt', 'recreate', 'abandon'] as const;
export const incompleteDecisions = ['rearchive', 'abandon'] as const;

export interface UncertainWait {
  readonly sinceMs: number;
  /** By the create record, else `notBeforeMs`. */
  readonly sentAtMs: number;
  /** The earliest time of the send, by Temporal's clock as well: the worker's may be wrong. */
  readonly notBeforeMs: number;
  readonly actAtMs: number;
  rounds: number;
}

export interface Candidate {
  readonly requestId: string;
  readonly sinceMs: number;
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** Plain JSON that each run hands to the next. */
export interface TaskState extends Mutable<WatchedTask> {
  /** When a worker took it up: deadlines count from then. */
  readonly startedAtMs: number;
  readonly requestedAtMs: number;
  status: LonghaulStatus;
  sinceMs: number;
  waitingFor: string;
  nextStep: string;
  requestId: string | null;
  createNumber: number;
  createRequests: number;
  inputs: readonly ManifestInput[];
  uploads?: RowUploads;
  /** Total wait for decisions about uncertain creates; deadlines exclude it. */
  parkedMs: number;
  acceptedAtMs: number | null;
  cost: Money | null;
  stopRequests: readonly StopRequest[];
  breachedDeadline: string | null;
  /** The resource of each file, by input key. Undefined until all are there. */
  resources?: CreateTaskInput['inputs'];
  uncertaintyReason?: string;
  uncertain?: UncertainWait;
  /** Request ids from callbacks of the current create; none is believed before the service confirms it. */
  candidates: readonly Candidate[];
  isCancellationRequested: boolean;
  /** A message came in: the watch polls before its timer ends. */
  isWokenUp: boolean;
  /** The one that tells the task's end. Absent: none was asked for. */
  callback?: PolledTask['callback'];
  toldMs?: number;
  /** Set while the archive waits for a decision; `pauseMs` before the next attempt. */
  incomplete?: { readonly end: TaskEnd; readonly pauseMs: number };
}

export type TaskRunInput = TaskInput & { readonly continueAsNewState?: TaskState };

/** `state` goes to the next run; the rest belongs to this run alone. */
export interface TaskRun {
  readonly workflowId: string;
  readonly input: TaskInput;
  readonly plan: TaskPlan;
  /** Compared with create records. Undefined for an adopted task. */
  readonly createDigest: string | undefined;
  readonly choices: TaskChoices | undefined;
  readonly state: TaskState;
  /** Temporal lets only the run that it asked end as canceled. */
  readonly canEndAsCanceled: boolean;
  awaited: readonly Decision['kind'][];
  decision: Decision | undefined;
  candidatesArrived: number;
  isWarned: boolean;
  archived: Pick<TaskResult, 'outputs' | 'outputCount' | 'outputBytes' | 'manifest'> | null;
  isOver: boolean;
  /** It ended, but may still run at the service. */
  mayRun: boolean;
}

/** A malformed input fails the workflow with every problem listed. */
export function openRun(argument: unknown): TaskRun {
  const start = readStartArgument(argument);
  const { plan, problems: inputProblems = [] } = parseTaskInput(start.input);
  const { workflowId, continuedFromExecutionRunId, startTime } = workflowInfo();
  const problems = [...start.problems, ...inputProblems];
  // A paid task that continued as new stays where it is.
  const isFirst = continuedFromExecutionRunId === undefined || isRetriedRun();
  if (plan !== undefined && isFirst) problems.push(...taskPlaceProblems(plan, workflowId));
  if (plan === undefined || problems.length > 0) {
    upsertSearchAttributes([
      { key: searchAttributes.status, value: 'Failed' },
      { key: searchAttributes.failure, value: 'InputInvalid' },
    ]);
    throw taskFailure('InputInvalid', problems.join('\n'), { problems });
  }
  const newTask = newState(plan, { startedAtMs: Date.now(), requestedAtMs: startTime.getTime() });
  return newRun(workflowId, start.input as TaskInput, plan, { ...newTask, ...start.continueAsNewState });
}

/** @internal exported for tests */
export function newRun(workflowId: string, input: TaskInput, plan: TaskPlan, state: TaskState): TaskRun {
  // A decision that came while the previous run handed over is for this one.
  const whileIncomplete = state.incomplete === undefined ? [] : incompleteDecisions;
  return {
    workflowId,
    input,
    plan,
    createDigest: 'adopt' in input ? undefined : inputDigest(input),
    choices: taskChoices(input),
    state,
    canEndAsCanceled: !state.isCancellationRequested,
    awaited: state.uncertain === undefined ? whileIncomplete : uncertainDecisions,
    decision: undefined,
    candidatesArrived: 0,
    isWarned: false,
    archived: null,
    isOver: false,
    mayRun: false,
  };
}

/** @internal exported for tests */
export function newState(plan: TaskPlan, times: Pick<TaskState, 'startedAtMs' | 'requestedAtMs'>): TaskState {
  const { startedAtMs, requestedAtMs } = times;
  return {
    ...unseenTask(startedAtMs),
    startedAtMs,
    requestedAtMs,
    status: 'PreparingInputs',
    sinceMs: requestedAtMs,
    waitingFor: '',
    nextStep: '',
    requestId: plan.adoptRequestId,
    createNumber: plan.createNumber,
    createRequests: 0,
    inputs: [],
    parkedMs: 0,
    acceptedAtMs: plan.adoptRequestId === null ? null : startedAtMs,
    cost: null,
    stopRequests: [],
    breachedDeadline: null,
    candidates: [],
    isCancellationRequested: false,
    isWokenUp: false,
  };
}

export function createdId({ state }: TaskRun): string {
  if (state.requestId === null) throw new Error('The task has no request id yet.');
  return state.requestId;
}

/** @param callbackAsked - whether a callback is known to be on its way at the end of the task. */
export function acceptTask({ state }: TaskRun, requestId: string, callbackAsked?: boolean): void {
  const hasCalledBack = state.candidates.some((candidate) => candidate.requestId === requestId);
  state.isWokenUp ||= hasCalledBack;
  state.callback = hasCalledBack ? 'came' : callbackAsked === true ? 'awaited' : undefined;
  state.requestId = requestId;
  state.acceptedAtMs = Date.now();
  state.problem = null;
  // No longer needed, and every further run would carry them.
  state.candidates = [];
  delete state.resources;
}

export function watchedTask({ state }: TaskRun): WatchedTask {
  return {
    serviceStatus: state.serviceStatus,
    serviceStatusSinceMs: state.serviceStatusSinceMs,
    serviceStatusAtMs: state.serviceStatusAtMs,
    queuePosition: state.queuePosition,
    runningSinceMs: state.runningSinceMs,
    notFoundSinceMs: state.notFoundSinceMs,
    polls: state.polls,
    failedPolls: state.failedPolls,
    failedInARow: state.failedInARow,
    turnInMs: state.turnInMs,
    callbacksCome: state.callbacksCome,
    unknownInARow: state.unknownInARow,
    problem: state.problem,
  };
}

/** @param known - what is known with that poll, where an activity made it. @default it is worked out here */
export function applyPoll(run: TaskRun, poll: PollResult, known = afterPoll(watchedTask(run), poll, Date.now())): void {
  const { state } = run;
  Object.assign(state, { turnInMs: undefined, callbacksCome: undefined }, known);
  if (poll.seen !== 'task') return;
  state.stopRequests = state.stopRequests.map((request) => afterReading(request, getServiceStatus(state)));
}

/** Keeps the newest: a create has one task, and its callbacks repeat one id. */
const maxCandidates = 50;

/** This task's request id wakes the watch; before the task has one, an answer to the current create is a candidate. */
export function receiveCallback(run: TaskRun, requestId: string, createNumber: unknown): void {
  const { state } = run;
  if (requestId === state.requestId) {
    state.isWokenUp = true;
    state.callback = 'came';
  } else if (state.requestId === null && createNumber === state.createNumber) {
    if (state.candidates.some((candidate) => candidate.requestId === requestId)) return;
    state.candidates = [...state.candidates, { requestId, sinceMs: Date.now() }].slice(-maxCandidates);
    run.candidatesArrived += 1;
  } else if (!run.isWarned) {
    // Once: thousands of callbacks must not fill the log.
    run.isWarned = true;
    const about = { requestId: state.requestId, createNumber: state.createNumber };
    log.warn('callback about another task', { ...about, calledBack: requestId, answers: createNumber });
  }
}

export function awaitDecision(run: TaskRun, kinds: readonly Decision['kind'][]): void {
  run.awaited = kinds;
  run.decision = undefined;
}

export function requireAwaited({ awaited, decision }: TaskRun, kind: Decision['kind']): void {
  if (awaited.includes(kind) && decision === undefined) return;
  const now = awaited.length === 0 ? 'The task waits for no decision now' : `It waits for ${awaited.join(', ')}`;
  const reason = decision === undefined ? now : 'A decision was taken already';
  throw messageRefused(`"${kind}" does not apply: ${reason}.`);
}

/** Throws as {@link requireAwaited} does. */
export function takeDecision(run: TaskRun, decision: Decision): void {
  requireAwaited(run, decision.kind);
  run.decision = decision;
}

/** What an archive needs beside how the task ended. */
export function archivePlan({ plan, state }: TaskRun): NonNullable<WatchTaskInput['archive']> {
  const { batch } = plan;
  return {
    folder: plan.archiveFolder,
    naming: batch?.names && { batch: batch.id, key: batch.key, ...batch.names },
    createNumber: plan.adoptRequestId === null ? state.createNumber : undefined,
    inputs: state.inputs,
    values: plan.values,
  };
}
