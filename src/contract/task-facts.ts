import { isTerminal } from '../core/task-state';
import type { StopRequestView } from './task-messages';

/** What is known of a task, as its workflow answers or a client puts it together; null where it is not known. */
export interface ShownTask {
  readonly requestId: string | null;
  readonly serviceStatus: string | null;
  readonly serviceStatusAt?: string | null;
  readonly queuePosition: number | null;
  readonly polls: number | null;
  readonly failedPolls: number | null;
  readonly createRequests: number | null;
  readonly waitingFor: string | null;
  readonly nextStep: string | null;
}

/** A name and what is known under it; null: nothing. */
export type Fact = readonly [name: string, value: string | null];

/**
 * The facts that every view of a task shows, in their order.
 *
 * @param asOf - a moment as this view shows it, such as `as of 0:05 ago`.
 */
export function taskFacts(task: ShownTask, asOf: (iso: string) => string): readonly Fact[] {
  const { serviceStatus, serviceStatusAt = null, queuePosition, polls, failedPolls, createRequests } = task;
  const ahead = queuePosition === null ? '' : `, ${queuePosition} ahead in the queue`;
  // The end is final; of any other state it is not known what became of it since.
  const isOld = serviceStatusAt !== null && serviceStatus !== null && !isTerminal(serviceStatus);
  const when = isOld ? `, ${asOf(serviceStatusAt)}` : '';
  const failed = failedPolls === null || failedPolls === 0 ? '' : `, ${failedPolls} failed`;
  return [
    ['request id', task.requestId],
    ['service', serviceStatus && `${serviceStatus}${ahead}${when}`],
    ['waiting for', task.waitingFor],
    ['next', task.nextStep],
    ['queries', polls === null ? null : `${polls}${failed}`],
    ['creates sent', createRequests === null ? null : String(createRequests)],
  ];
}

/** Whether a request to end the task is under way. */
export function isOpenRequest({ outcome }: Pick<StopRequestView, 'outcome'>): boolean {
  return outcome === 'waiting' || outcome === 'sent';
}
