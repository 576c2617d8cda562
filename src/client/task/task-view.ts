import type { WorkflowExecutionStatusName } from '@temporalio/client';
import type { TransferProgress } from '../../contract/activities';
import { searchAttributes } from '../../contract/search-attributes';
import { type Problem, problemCodes } from '../../contract/problem';
import { stateProblem } from '../../contract/state-problem';
import {
  afterAdoption,
  afterCutOff,
  cutOffMeaning,
  type CutOffTask,
  isCutOff,
  isOpenRequest,
} from '../../contract/task-advice';
import type { StopRequestView, TaskStatus } from '../../contract/task-messages';
import { keyOf } from '../../contract/workflow-ids';
import type { UncertainCreate } from '../../core/adoption';
import type { LonghaulStatus, ServiceStatus } from '../../core/task-state';
import { formatMoment } from '../../core/time';
import { silenceProblem } from '../errors';
import { type DescribedWorkflow, isClosed } from '../workflow-info';
import type { PendingWork } from './pending-work';

/** A task as it stands; null: not known. `longhaul status --json` prints it, with the result of one that is over. */
export interface TaskView {
  readonly workflowId: string;
  /** Also of a row of a batch; null for a workflow id of another form. */
  readonly key: string | null;
  /** Its page; null when the Web UI's address is not configured. */
  readonly url: string | null;
  /** What `LonghaulStatus` shows; workers of a later version may say another word. */
  readonly status: LonghaulStatus | (string & {});
  /** ISO-8601: since when. */
  readonly since: string | null;
  readonly isOver: boolean;
  /** Temporal's: RUNNING, PAUSED (its workflow), COMPLETED, FAILED, CANCELLED, TERMINATED, TIMED_OUT. */
  readonly execution: WorkflowExecutionStatusName;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly app: string | null;
  readonly account: string | null;
  /** Where a worker is missing when none answers. */
  readonly taskQueue: string;
  readonly requestId: string | null;
  /** The workflow that took its task over after it failed or was cut off, as `adopt` does; null: none, or not known. */
  readonly adoptedBy: string | null;
  readonly tags: readonly string[];
  /** The service's own word, which may be another one. */
  readonly serviceStatus: ServiceStatus | (string & {}) | null;
  /** ISO-8601: when the service said it last. */
  readonly serviceStatusAt: string | null;
  /** Tasks ahead in the service's queue. */
  readonly queuePosition: number | null;
  readonly polls: number | null;
  readonly failedPolls: number | null;
  readonly createRequests: number | null;
  readonly waitingFor: string | null;
  readonly nextStep: string | null;
  /** What keeps it from going on; also of one that was cut off. A task that failed has its failure in `result`. */
  readonly problem: Problem | null;
  readonly stopRequests: readonly StopRequestView[];
  readonly transfers: readonly TransferProgress[];
  /** In `CreateUncertain`: the app's other tasks that are, too, and when their creates were sent, the latest first. */
  readonly otherUncertain: readonly { readonly workflowId: string; readonly sentAt: string }[];
}

export interface TaskViewSources {
  readonly description: DescribedWorkflow;
  /** Undefined when no worker answered. */
  readonly reported: TaskStatus | undefined;
  readonly pending: PendingWork;
  /** @default none */
  readonly adoptedBy?: string | null;
  /** @default none */
  readonly otherUncertain?: readonly UncertainCreate[];
  readonly url: string | null;
}

/** By the workflow, or else by Temporal's list. */
export function knownRequestId({ attributes }: DescribedWorkflow, reported: TaskStatus | undefined): string | null {
  return reported?.requestId ?? attributes.get(searchAttributes.requestId.name) ?? null;
}

export function taskView(sources: TaskViewSources): TaskView {
  const { description, reported, pending, adoptedBy = null, otherUncertain = [], url } = sources;
  const { stopRequests = [] } = reported ?? {};
  const { workflowId, execution, startedAt, closedAt, attributes } = description;
  const isOver = isClosed(execution);
  const { transfers, watched, refusedCreates, earlierCreateUntil = null } = pending;
  const requestId = knownRequestId(description, reported);
  const status = reported?.status ?? attributes.get(searchAttributes.status.name) ?? 'PreparingInputs';
  const cutOff = isCutOff(execution) ? { workflowId, status, requestId, adoptedBy } : null;
  const reportedStep = !isOver || execution === 'FAILED' ? (reported?.nextStep ?? null) : null;
  // Of one that was adopted, the workflow did not know.
  const lateStep = adoptedBy === null || cutOff !== null ? null : afterAdoption(adoptedBy);
  // The attempt that waits for it knows it; the workflow does not.
  const earlierCreate =
    earlierCreateUntil &&
    `the answer to an earlier create of this task, which may still be on its way: until ${formatMoment(earlierCreateUntil)} at the latest; without an answer it is not known whether that made a task, and nothing more is created before that is decided (CreateUncertain)`;
  // A worker that watches the task knows more than the workflow, which waits for it.
  const { serviceStatus = null, queuePosition = null, polls = null, failedPolls = null } = watched ?? reported ?? {};
  const watchedAtMs = watched?.serviceStatusAtMs;
  const watchedAt = watchedAtMs === undefined ? null : new Date(watchedAtMs).toISOString();
  return {
    workflowId,
    key: keyOf(workflowId) ?? null,
    url,
    status,
    since: reported?.since ?? null,
    isOver,
    execution,
    startedAt: reported?.startedAt ?? startedAt.toISOString(),
    endedAt: closedAt?.toISOString() ?? null,
    app: attributes.get(searchAttributes.app.name) ?? null,
    account: attributes.get(searchAttributes.account.name) ?? null,
    taskQueue: description.taskQueue,
    requestId,
    adoptedBy,
    tags: description.tags,
    serviceStatus,
    serviceStatusAt: watched === null ? (reported?.serviceStatusAt ?? null) : watchedAt,
    queuePosition,
    polls,
    failedPolls,
    createRequests: reported === undefined ? null : reported.createRequests + refusedCreates,
    waitingFor: isOver ? null : (earlierCreate ?? reported?.waitingFor ?? null),
    nextStep: lateStep ?? reportedStep,
    problem: cutOff === null ? openProblem(sources, status) : cutOffProblem(description, cutOff),
    stopRequests: cutOff === null ? stopRequests : stopRequests.map(afterWorkflow),
    transfers,
    otherUncertain: otherUncertain.map((other) => ({
      workflowId: other.workflowId,
      sentAt: new Date(other.sentAtMs).toISOString(),
    })),
  };
}

/** A workflow that was cut off can tell no more what became of a request that was open. */
function afterWorkflow(request: StopRequestView): StopRequestView {
  if (!isOpenRequest(request)) return request;
  return { ...request, outcome: 'unconfirmed', words: 'Its workflow was cut off, so nothing follows it any more.' };
}

/** The first that is known, in the order of the codes. */
function openProblem({ description, reported, pending }: TaskViewSources, status: string): Problem | null {
  const { workflowId, execution, problem } = description;
  if (isClosed(execution)) return null;
  // A worker that watches the task knows more than the workflow, which waits for it.
  const { watched } = pending;
  const isHeldBack = watched?.turnInMs !== undefined;
  const seen = stateProblem({ workflowId, status, since: null, words: watched?.problem ?? null, isHeldBack });
  const told = watched === null && reported !== undefined ? reported.problem : seen;
  const silence = reported === undefined && problem === null ? silenceProblem(description) : null;
  const known = [problem, pending.problem, told, silence].flatMap((one) => one ?? []);
  return known.sort((one, other) => problemCodes.indexOf(one.code) - problemCodes.indexOf(other.code))[0] ?? null;
}

function cutOffProblem({ execution, closedAt }: DescribedWorkflow, cutOff: CutOffTask): Problem {
  return {
    code: 'CutOff',
    message: `${cutOffWords(execution)}, ${cutOffMeaning(cutOff)}`,
    since: closedAt?.toISOString() ?? null,
    remedy: cutOff.adoptedBy === null ? afterCutOff(cutOff) : afterAdoption(cutOff.adoptedBy),
  };
}

/** The begin of a sentence about a workflow that was cut off. */
export function cutOffWords(execution: WorkflowExecutionStatusName): string {
  return `The workflow was ${execution === 'TERMINATED' ? 'terminated' : 'timed out by Temporal'}`;
}
