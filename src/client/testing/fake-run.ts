import { extname } from 'node:path';
import { ApplicationFailure, DefaultFailureConverter, defaultPayloadConverter, type Payload } from '@temporalio/common';
import { google, temporal } from '@temporalio/proto';
import type { FailureType } from '../../contract/failure-types';
import { parseTaskInput } from '../../contract/parse-task-input';
import { firstStatus, searchAttributes } from '../../contract/search-attributes';
import type { TaskInput } from '../../contract/task-input';
import type { TaskStatus } from '../../contract/task-messages';
import { canceledMemo, type TaskResult } from '../../contract/task-result';
import type { StopOutcome, StopVerb } from '../../core/stop-request';
import type { LonghaulStatus, TerminalStatus } from '../../core/task-state';
import type { TaskOutput } from '../task/task-files';

const { WorkflowExecutionStatus: Execution } = temporal.api.enums.v1;
const failures = new DefaultFailureConverter();

type StartRequest = temporal.api.workflowservice.v1.StartWorkflowExecutionRequest.$Properties;
type Event = temporal.api.history.v1.HistoryEvent.$Properties;

/** The service's states in which each request ends a task; null: before its create. */
const endingStates: Readonly<Record<StopVerb, readonly (string | null)[]>> = {
  stop: [null, 'Queuing', 'Preparing', 'Running'],
  cancel: [null, 'Queuing'],
  interrupt: ['Running'],
};

/** One run of a task: what its workflow answers, and what Temporal knows of it. */
export class FakeRun {
  readonly runId: string;
  readonly input: TaskInput;
  /** The first event, which has the input. */
  readonly started: Event;
  /** The last event. */
  readonly ended: Promise<Event>;
  status: TaskStatus;
  readonly #request: StartRequest;
  readonly #memo: Record<string, Payload>;
  readonly #attributes: Record<string, Payload>;
  readonly #requestId: string;
  #execution = Execution.WORKFLOW_EXECUTION_STATUS_RUNNING;
  #closedAt: Date | null = null;
  #end: (event: Event) => void = () => undefined;

  constructor(request: StartRequest, runId: string) {
    const { workflowId, input, memo, searchAttributes: indexed } = request;
    this.runId = runId;
    this.input = defaultPayloadConverter.fromPayload(input?.payloads?.[0] ?? {});
    this.started = { workflowExecutionStartedEventAttributes: { input } };
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.#request = request;
    this.#memo = { ...memo?.fields };
    this.#attributes = { ...indexed?.indexedFields };
    const { plan } = parseTaskInput(this.input);
    const adopted = plan?.adoptRequestId ?? null;
    this.#requestId = `request-of-${workflowId}-${plan?.createNumber}`;
    const now = new Date().toISOString();
    this.status = {
      workflowId: workflowId ?? '',
      status: firstStatus(plan ?? { files: [] }),
      since: now,
      startedAt: now,
      requestId: adopted,
      serviceStatus: null,
      queuePosition: null,
      polls: 0,
      failedPolls: 0,
      createRequests: 0,
      waitingFor: 'the test',
      nextStep: '',
      problem: null,
      stopRequests: [],
    };
  }

  get isOver(): boolean {
    return this.#closedAt !== null;
  }

  /** Of its input, as the client's start left it. */
  get digest(): string {
    return Buffer.from(this.#memo['inputDigest']?.data ?? []).toString();
  }

  result(status: TerminalStatus, outputs: readonly TaskOutput[] = [], manifest: string | null = null): TaskResult {
    const { workflowId, requestId, startedAt } = this.status;
    return {
      workflowId,
      requestId,
      status,
      outputs: outputs.map(({ index, path, sha256, bytes, name }) => {
        return { index, path, sha256, bytes, ext: extname(name), auditStatus: null, errorType: 'NOT_ERROR' };
      }),
      outputCount: outputs.length,
      outputBytes: outputs.reduce((sum, { bytes }) => sum + bytes, 0),
      failedOutputs: [],
      failedOutputCount: 0,
      manifest,
      costTimes: {},
      cost: null,
      timestamps: {},
      startedAt,
    };
  }

  /** As Temporal describes it. */
  get info(): temporal.api.workflow.v1.WorkflowExecutionInfo.$Properties {
    const { workflowId, taskQueue, workflowType } = this.#request;
    return {
      execution: { workflowId, runId: this.runId },
      type: workflowType,
      taskQueue: taskQueue?.name,
      status: this.#execution,
      startTime: toTimestamp(new Date(this.status.startedAt)),
      closeTime: this.#closedAt && toTimestamp(this.#closedAt),
      memo: { fields: this.#memo },
      searchAttributes: { indexedFields: this.#attributes },
    };
  }

  /** A task that is created has its request id. */
  become(status: LonghaulStatus, serviceStatus: string | null, queuePosition: number | null = null): void {
    if (this.isOver) throw new Error(`The task ${this.status.workflowId} is over: ${this.status.status}.`);
    const requestId = this.status.requestId ?? (serviceStatus === null ? null : this.#requestId);
    const since = new Date().toISOString();
    this.status = { ...this.status, status, since, serviceStatus, queuePosition, requestId };
    this.#attribute(searchAttributes.status.name, status);
    if (requestId !== null) this.#attribute(searchAttributes.requestId.name, requestId);
  }

  complete(result: TaskResult): void {
    const payloads = [defaultPayloadConverter.toPayload(result)];
    this.#close('COMPLETED', { workflowExecutionCompletedEventAttributes: { result: { payloads } } });
  }

  fail(type: FailureType, message: string, details?: unknown): void {
    this.become('Failed', this.status.serviceStatus);
    this.#attribute(searchAttributes.failure.name, type);
    const error = ApplicationFailure.create({ type, message, details: details === undefined ? [] : [details] });
    const failure = failures.errorToFailure(error, defaultPayloadConverter);
    this.#close('FAILED', { workflowExecutionFailedEventAttributes: { failure } });
  }

  /** A request to end it, which it does where it applies. */
  ask(verb: StopVerb): void {
    const { serviceStatus } = this.status;
    const applies = endingStates[verb].includes(serviceStatus);
    const unmet: StopOutcome = verb === 'cancel' ? 'notApplicable' : 'waiting';
    const outcome: StopOutcome = applies ? 'confirmed' : unmet;
    const request = { verb, askedAt: new Date().toISOString(), outcome, words: '' };
    this.status = { ...this.status, stopRequests: [...this.status.stopRequests, request] };
    if (!applies) return;
    this.become('Canceled', serviceStatus === null ? null : 'Canceled');
    const result = this.result('Canceled');
    // The service's own verbs leave the workflow as it is: it completes.
    if (verb !== 'stop') {
      this.complete(result);
      return;
    }
    this.#memo['canceledResult'] = defaultPayloadConverter.toPayload(canceledMemo(result).canceledResult);
    this.#close('CANCELED', { workflowExecutionCanceledEventAttributes: {} });
  }

  #attribute(name: string, value: string): void {
    this.#attributes[name] = defaultPayloadConverter.toPayload(value);
  }

  #close(how: 'COMPLETED' | 'FAILED' | 'CANCELED', event: Event): void {
    this.#execution = Execution[`WORKFLOW_EXECUTION_STATUS_${how}`];
    this.#closedAt = new Date();
    this.#end(event);
  }
}

function toTimestamp(date: Date): google.protobuf.Timestamp.$Properties {
  const ms = date.getTime();
  return google.protobuf.Timestamp.fromObject({ seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1e6 });
}
