import { log, metricMeter, setCurrentDetails, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import { type FailureType, mayExistUnfollowed } from '../../contract/failure-types';
import { metrics, record } from '../../contract/metrics';
import type { TaskPlan } from '../../contract/parse-task-input';
import { taskSearchAttributes } from '../../contract/search-attributes';
import type { TaskStatus } from '../../contract/task-messages';
import { afterEnd } from '../../domain/stop-request';
import type { LonghaulStatus } from '../../domain/task-state';
import type { ContinueAsNewState } from './continue-as-new-state';
import { type ArchivedPart, taskDetails } from './details';

/** What operators see of a task: its search attributes, its live details and the answer of the `status` query. */
export class TaskDisplay {
  readonly #workflowId = workflowInfo().workflowId;
  readonly #plan: TaskPlan;
  readonly #state: ContinueAsNewState;
  #archived: ArchivedPart | null = null;
  #isOver = false;
  /** Whether it ended without being over at the service, as far as is known. */
  #mayRun = false;

  constructor(plan: TaskPlan, state: ContinueAsNewState) {
    this.#plan = plan;
    this.#state = state;
  }

  /**
   * Shows a status: one merged upsert and one log line when it changed, live details always.
   *
   * @param failure - the type of the failure that the task ends with.
   */
  show(status: LonghaulStatus, waitingFor: string, nextStep: string, failure?: FailureType): void {
    const isFirst = this.#state.waitingFor === '';
    const isNew = isFirst || status !== this.#state.status;
    Object.assign(this.#state, { waitingFor, nextStep });
    if (isNew) {
      const nowMs = Date.now();
      const { status: before, sinceMs } = this.#state;
      if (!isFirst) record(metricMeter, metrics.taskState, { state: before }, (nowMs - sinceMs) / 1_000);
      // It has wanted the first step since its start, whenever a worker took it up.
      Object.assign(this.#state, { status, ...(!isFirst && { sinceMs: nowMs }) });
      this.#upsert(failure);
      log.info('state', { status, requestId: this.#state.requestId, waitingFor });
    }
    this.refresh();
  }

  /**
   * Shows how the task ended.
   *
   * @param nextStep - what is left to do for a person.
   */
  end(status: LonghaulStatus, nextStep: string, failure?: FailureType): void {
    this.#isOver = true;
    this.#mayRun = mayExistUnfollowed.some((type) => type === failure);
    this.show(status, 'nothing', nextStep, failure);
  }

  /** Shows what else changed in the live details. */
  refresh(): void {
    const { inputs, cost = null } = this.#state;
    const { watch, batch } = this.#plan;
    const page = { watch, inputs, cost, archived: this.#archived, batchId: batch?.id ?? null, isOver: this.#isOver };
    setCurrentDetails(taskDetails(this.view(), page));
  }

  /** Its outputs are archived; shown with the next status. */
  setArchived(archived: ArchivedPart): void {
    this.#archived = archived;
  }

  /** Answer of the `status` query. */
  view(): TaskStatus {
    const { status, sinceMs, startedAtMs, requestedAtMs = startedAtMs, requestId } = this.#state;
    const { serviceStatus, serviceStatusAtMs, queuePosition, polls, failedPolls } = this.#state;
    const { createRequests, waitingFor, nextStep, problem, stopRequests } = this.#state;
    return {
      workflowId: this.#workflowId,
      status,
      since: new Date(sinceMs).toISOString(),
      startedAt: new Date(requestedAtMs).toISOString(),
      ...(serviceStatusAtMs !== undefined && { serviceStatusAt: new Date(serviceStatusAtMs).toISOString() }),
      ...{ requestId, serviceStatus, queuePosition, polls, failedPolls, createRequests, waitingFor, nextStep, problem },
      stopRequests: stopRequests.map((request) => {
        const { verb, askedAtMs, outcome, words } = this.#isOver ? afterEnd(request, this.#mayRun) : request;
        return { verb, askedAt: new Date(askedAtMs).toISOString(), outcome, words };
      }),
    };
  }

  #upsert(failure: FailureType | undefined): void {
    const { status, requestId } = this.#state;
    const { typedSearchAttributes: upserted } = workflowInfo();
    const changed = taskSearchAttributes({ ...this.#plan, status, requestId, failure }).filter(
      ({ key, value }) => upserted.get(key) !== value,
    );
    // An upsert is an event and a billable action; the start may have set them.
    if (changed.length > 0) upsertSearchAttributes(changed);
  }
}
