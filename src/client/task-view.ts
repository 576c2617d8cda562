import type { WorkflowExecutionStatusName } from '@temporalio/client';
import { searchAttributes } from '../contract/search-attributes';
import type { StopRequestView, TaskStatus } from '../contract/task-messages';
import { isClosed } from './former-run';
import type { PendingWork, RetryingActivity } from './pending-work';
import type { TransferProgress } from '../contract/activities';
import type { StuckWorkflow } from './stuck-workflow';
import type { DescribedWorkflow } from './workflow-info';

/**
 * A task as it stands: its workflow's own answer, and what Temporal knows beside it. What nobody knows is null. This
 * is also what `longhaul status --json` prints.
 */
export interface TaskView {
  readonly workflowId: string;
  /** Its page in Temporal's Web UI; null when the address of the Web UI is not configured. */
  readonly url: string | null;
  /** A `LonghaulStatus`. */
  readonly status: string;
  /** ISO-8601: since when. */
  readonly since: string | null;
  /** Whether the workflow is over. */
  readonly isOver: boolean;
  /** How Temporal calls the workflow's own state: RUNNING, COMPLETED, FAILED, CANCELLED, TERMINATED, TIMED_OUT. */
  readonly execution: WorkflowExecutionStatusName;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly app: string | null;
  readonly account: string | null;
  readonly requestId: string | null;
  /** The service's own word. */
  readonly serviceStatus: string | null;
  /** Tasks ahead in the service's queue. */
  readonly queuePosition: number | null;
  readonly polls: number | null;
  readonly failedPolls: number | null;
  readonly createRequests: number | null;
  readonly waitingFor: string | null;
  readonly nextStep: string | null;
  readonly problem: string | null;
  readonly stopRequests: readonly StopRequestView[];
  readonly transfers: readonly TransferProgress[];
  readonly retrying: readonly RetryingActivity[];
  /** Why it makes no progress and what to do; null while its workflow tasks succeed. */
  readonly stuck: StuckWorkflow | null;
  /** What a reader should know about this view itself, such as that no worker answered. */
  readonly note: string | null;
}

/** What {@link taskView} puts together. */
export interface TaskViewParts {
  readonly description: DescribedWorkflow;
  /** The workflow's own answer; undefined when no worker gave one. */
  readonly reported: TaskStatus | undefined;
  readonly pending: PendingWork;
  readonly url: string | null;
}

/** Merges the parts. Pure. */
export function taskView({ description, reported, pending, url }: TaskViewParts): TaskView {
  const { workflowId, execution, startedAt, closedAt, attributes, stuck } = description;
  const isOver = isClosed(execution);
  const { transfers, retrying, watched, refusedCreates } = pending;
  // A worker that watches the task knows more than the workflow, which waits for it.
  const known = watched ?? reported;
  return {
    workflowId,
    url,
    status: reported?.status ?? attributes.get(searchAttributes.status.name) ?? 'PreparingInputs',
    since: reported?.since ?? null,
    isOver,
    execution,
    startedAt: reported?.startedAt ?? startedAt.toISOString(),
    endedAt: closedAt?.toISOString() ?? null,
    app: attributes.get(searchAttributes.app.name) ?? null,
    account: attributes.get(searchAttributes.account.name) ?? null,
    requestId: reported?.requestId ?? attributes.get(searchAttributes.requestId.name) ?? null,
    serviceStatus: known?.serviceStatus ?? null,
    queuePosition: known?.queuePosition ?? null,
    polls: known?.polls ?? null,
    failedPolls: known?.failedPolls ?? null,
    createRequests: reported === undefined ? null : reported.createRequests + refusedCreates,
    waitingFor: isOver ? null : (reported?.waitingFor ?? null),
    nextStep: isOver ? null : (reported?.nextStep ?? null),
    problem: known?.problem ?? null,
    stopRequests: reported?.stopRequests ?? [],
    transfers,
    retrying,
    stuck,
    note: note(description, isOver, reported),
  };
}

function note(
  { execution, stuck }: DescribedWorkflow,
  isOver: boolean,
  reported: TaskStatus | undefined,
): string | null {
  if (execution === 'TERMINATED' || execution === 'TIMED_OUT') {
    const how = execution === 'TERMINATED' ? 'terminated' : 'timed out by Temporal';
    return `The workflow was ${how}, so nobody follows the task: it may still run at the service, and be paid. Start it again with the same key and retry to take it over.`;
  }
  if (reported !== undefined || stuck !== null) return null;
  return isOver
    ? 'No worker answered; this is what Temporal itself knows.'
    : 'No worker answered, so the task makes no progress now; this is what Temporal itself knows. Start one with "longhaul worker".';
}
