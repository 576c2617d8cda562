import { log } from '@temporalio/workflow';
import { afterReading, openStopRequest, type StopRequest, type StopVerb } from '../../domain/stop-request';
import { getServiceStatus } from '../../domain/task-state';
import type { ContinueAsNewState } from './continue-as-new-state';
import type { TaskDisplay } from './display';

/** The requests to end a task, one for each verb, and what became of each. */
export class StopRequests {
  readonly #state: ContinueAsNewState;
  readonly #display: TaskDisplay;

  constructor(state: ContinueAsNewState, display: TaskDisplay) {
    this.#state = state;
    this.#display = display;
  }

  get list(): readonly StopRequest[] {
    return this.#state.stopRequests;
  }

  /** Whether the task should not be created any more. `interrupt` is kept for when it runs. */
  get isAskedBeforeCreate(): boolean {
    return this.list.some(({ verb }) => verb === 'stop' || verb === 'cancel');
  }

  /** Whether the service has confirmed that a stop ended the task. */
  get isStopConfirmed(): boolean {
    return this.list.some(({ verb, outcome }) => verb === 'stop' && outcome === 'confirmed');
  }

  /** Records a request to end the task, once for each verb; `false` when it was there. */
  ask(verb: StopVerb): boolean {
    const { requestId, stopRequests } = this.#state;
    if (stopRequests.some((request) => request.verb === verb)) return false;
    log.info('stop requested', { verb, requestId });
    const opened = openStopRequest(verb, Date.now());
    // After the watch nothing reads the task's state again: a later request is marked as too late here.
    const request = requestId === null ? opened : afterReading(opened, getServiceStatus(this.#state));
    this.#set([...stopRequests, request]);
    return true;
  }

  replace(previous: StopRequest, next: StopRequest): void {
    this.#set(this.list.map((request) => (request === previous ? next : request)));
  }

  /** The service was just asked for the task's state. */
  read(): void {
    const serviceStatus = getServiceStatus(this.#state);
    this.#state.stopRequests = this.list.map((request) => afterReading(request, serviceStatus));
  }

  /** Nothing was created, so every open request has what it asked for. */
  confirmUncreated(): void {
    this.#state.stopRequests = this.list.map((request) => {
      if (request.outcome !== 'waiting') return request;
      return { ...request, outcome: 'confirmed', words: 'Nothing was created at the service.' };
    });
  }

  #set(requests: readonly StopRequest[]): void {
    this.#state.stopRequests = requests;
    this.#display.refresh();
  }
}
