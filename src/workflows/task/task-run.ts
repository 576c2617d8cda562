import { log, upsertSearchAttributes, workflowInfo } from '@temporalio/workflow';
import type { PollResult } from '../../contract/activities';
import { createDigest, inputDigest, type TaskChoices, taskChoices, type TaskInput } from '../../contract/task-input';
import { parseTaskInput } from '../../contract/parse-task-input';
import type { TaskPlan } from '../../contract/parse-task-input';
import { searchAttributes } from '../../contract/search-attributes';
import { taskPlaceProblems } from '../../contract/archive-folder';
import type { StopVerb } from '../../domain/stop-request';
import { afterPoll, type ServiceStatus, getServiceStatus, type WatchedTask } from '../../domain/task-state';
import { type ContinueAsNewState, newState } from './continue-as-new-state';
import { TaskDisplay } from './display';
import { StopRequests } from './stop-requests';
import { PendingDecision, incompleteDecisions, uncertainDecisions } from './decisions';
import { taskFailure } from '../failures';
import { CandidateRequestIds } from './candidate-request-ids';
import { isRetriedRun, readStartArgument } from '../start-argument';

/** Input of one run: the task's input, and what a previous run handed over. */
export type TaskRunInput = TaskInput & { readonly continueAsNewState?: ContinueAsNewState };

/** A run of the `task` workflow: its plan, its state, and what messages brought. The steps decide what happens. */
export class TaskRun {
  readonly workflowId = workflowInfo().workflowId;
  /** Of what its create sends: what a create record is compared with. Undefined for an adopted task. */
  readonly createDigest: string | undefined;
  /** What the create records of earlier versions are compared with. */
  readonly inputDigest: string | undefined;
  readonly input: TaskInput;
  readonly plan: TaskPlan;
  readonly state: ContinueAsNewState;
  readonly display: TaskDisplay;
  readonly stops: StopRequests;
  readonly decisions = new PendingDecision();
  readonly candidates: CandidateRequestIds;
  /** A message came in: the watch polls before its timer ends. */
  isWokenUp: boolean;
  /** Temporal asked this workflow to end as canceled. */
  isCancellationRequested: boolean;
  /** Temporal asked this run, not a previous one: only then does it let the workflow end so. */
  readonly canEndAsCanceled: boolean;
  #isWarned = false;

  /** Reads the input; a malformed one fails the workflow with every problem listed. */
  static open(argument: unknown): TaskRun {
    const start = readStartArgument(argument);
    const { input, continueAsNewState } = start;
    const { plan, problems: inputProblems = [] } = parseTaskInput(input);
    const problems = [...start.problems, ...inputProblems, ...(plan === undefined ? [] : placeProblems(plan))];
    if (plan === undefined || problems.length > 0) {
      upsertSearchAttributes([
        { key: searchAttributes.status, value: 'Failed' },
        { key: searchAttributes.failure, value: 'InputInvalid' },
      ]);
      throw taskFailure('InputInvalid', problems.join('\n'), { problems });
    }
    return new TaskRun(input as TaskInput, plan, { ...newState(plan), ...continueAsNewState });
  }

  private constructor(input: TaskInput, plan: TaskPlan, state: ContinueAsNewState) {
    this.input = input;
    this.plan = plan;
    const { candidates, isWokenUp = false, isCancellationRequested = false, ...kept } = state;
    this.state = kept;
    this.display = new TaskDisplay(plan, kept);
    this.stops = new StopRequests(kept, this.display);
    this.candidates = new CandidateRequestIds(candidates);
    this.isWokenUp = isWokenUp;
    this.isCancellationRequested = isCancellationRequested;
    this.canEndAsCanceled = !isCancellationRequested;
    // Open before the first message is handled: one that came while a previous run handed over is for this one.
    if (state.uncertain !== undefined) this.decisions.open(uncertainDecisions);
    if (state.incomplete !== undefined) this.decisions.open(incompleteDecisions);
    this.createDigest = 'adopt' in input ? undefined : createDigest(input);
    // Of a row it is that of the row alone, without what its batch adds, and only the memo has it.
    this.inputDigest = plan.batch === null ? inputDigest(input) : digestInMemo(workflowInfo().memo);
  }

  /** What the input chose and a worker may refuse, as a part of an activity's input. */
  get choices(): { readonly choices?: TaskChoices } {
    const choices = taskChoices(this.input);
    return choices === undefined ? {} : { choices };
  }

  /** What the next run goes on with. */
  handOver(): ContinueAsNewState {
    const candidates = this.candidates.list();
    return {
      ...this.state,
      ...(candidates.length > 0 && { candidates }),
      ...(this.isWokenUp && { isWokenUp: true }),
      ...(this.isCancellationRequested && { isCancellationRequested: true }),
    };
  }

  get isCreated(): boolean {
    return this.state.requestId !== null;
  }

  /** The request id; only steps that follow the create ask for it. */
  get requestId(): string {
    if (this.state.requestId === null) throw new Error('The task has no request id yet.');
    return this.state.requestId;
  }

  get serviceStatus(): ServiceStatus | undefined {
    return getServiceStatus(this.state);
  }

  /** Records a request to end the task, once for each verb. */
  askToStop(verb: StopVerb): void {
    if (this.stops.ask(verb)) this.isWokenUp = true;
  }

  /** A callback names a request id: that of this task wakes the watch; while there is none, one that answers the current create is a candidate; any other changes nothing. */
  receiveCallback(requestId: string, createNumber: unknown): void {
    if (requestId === this.state.requestId) this.isWokenUp = true;
    else if (!this.isCreated && createNumber === this.state.createNumber) this.candidates.add(requestId, Date.now());
    else this.#warnOfCallback(requestId, createNumber);
  }

  /** Once: thousands of callbacks must not fill the log. */
  #warnOfCallback(requestId: string, answers: unknown): void {
    if (this.#isWarned) return;
    this.#isWarned = true;
    const { createNumber } = this.state;
    const about = { requestId: this.state.requestId, createNumber, calledBack: requestId, answers };
    log.warn('callback about another task', about);
  }

  /** The task exists under this request id. */
  accept(requestId: string): void {
    this.isWokenUp ||= this.candidates.has(requestId);
    this.state.requestId = requestId;
    this.state.acceptedAtMs = Date.now();
    this.state.problem = null;
    // Nothing asks for these again, and every run that follows would carry them.
    this.candidates.clear();
    delete this.state.resources;
  }

  /** What is known of the task at the service. */
  get watched(): WatchedTask {
    const { serviceStatus, serviceStatusSinceMs, serviceStatusAtMs, queuePosition, runningSinceMs } = this.state;
    const { notFoundSinceMs, polls, failedPolls, failedInARow = 0, unknownInARow, problem } = this.state;
    return {
      serviceStatus,
      serviceStatusSinceMs,
      ...(serviceStatusAtMs !== undefined && { serviceStatusAtMs }),
      queuePosition,
      runningSinceMs,
      notFoundSinceMs,
      polls,
      failedPolls,
      failedInARow,
      unknownInARow,
      problem,
    };
  }

  /** Takes in what a poll saw. */
  observe(poll: PollResult): void {
    this.apply(afterPoll(this.watched, poll, Date.now()), poll);
  }

  /** Takes in what became known of the task, with this poll. */
  apply(known: WatchedTask, poll: PollResult): void {
    Object.assign(this.state, known);
    if (poll.seen === 'task') this.stops.read();
    this.display.refresh();
  }
}

/** A task that was paid goes on where it is: it has continued as new. */
function placeProblems(plan: TaskPlan): readonly string[] {
  const { workflowId, continuedFromExecutionRunId } = workflowInfo();
  const problems = taskPlaceProblems(plan, workflowId);
  if (problems.length === 0 || continuedFromExecutionRunId === undefined) return problems;
  return isRetriedRun() ? problems : [];
}

function digestInMemo(memo: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const digest = memo?.['inputDigest'];
  return typeof digest === 'string' ? digest : undefined;
}
