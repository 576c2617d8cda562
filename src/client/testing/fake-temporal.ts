import { randomUUID } from 'node:crypto';
import { Metadata, status as grpcStatus } from '@grpc/grpc-js';
import { Client, type ConnectionLike, OperatorService, WorkflowService } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { errorMessage } from '../../core/text';
import { FakeRun } from './fake-run';

const api = temporal.api.workflowservice.v1;
const { WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE: ALLOW_DUPLICATE } = temporal.api.enums.v1.WorkflowIdReusePolicy;
const { HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT: CLOSE_EVENT } = temporal.api.enums.v1.HistoryEventFilterType;

type StartRequest = temporal.api.workflowservice.v1.StartWorkflowExecutionRequest.$Properties;
type Execution = temporal.api.common.v1.WorkflowExecution.$Properties | null | undefined;
type Method = (request: Uint8Array) => Promise<Uint8Array>;

/** Temporal's server as far as the client asks it about tasks, in memory: everything above it is the real client. */
export class FakeTemporal {
  readonly client: Client;
  readonly #runs = new Map<string, FakeRun>();
  /** Digests of the inputs of tasks that were forgotten, as create records keep them. */
  readonly #created = new Map<string, string>();
  readonly #onStart: (run: FakeRun) => void;

  constructor(onStart: (run: FakeRun) => void) {
    this.#onStart = onStart;
    const connection: ConnectionLike = {
      workflowService: WorkflowService.create((method, request, done) => {
        const answer = this.#methods[method.name] ?? (() => Promise.reject(unimplemented(method.name)));
        answer(request).then(
          (reply) => {
            done(null, reply);
          },
          (error: unknown) => {
            done(error instanceof Error ? error : new Error(errorMessage(error)));
          },
        );
      }),
      operatorService: OperatorService.create((method, _request, done) => {
        done(unimplemented(method.name));
      }),
      plugins: [],
      close: () => Promise.resolve(),
      ensureConnected: () => Promise.resolve(),
      withDeadline: (_deadline, ask) => ask(),
      withMetadata: (_metadata, ask) => ask(),
      withAbortSignal: (_signal, ask) => ask(),
    };
    this.client = new Client({ connection });
  }

  /** As at the end of its retention. */
  forget(workflowId: string): void {
    const { isOver, digest } = this.#run({ workflowId });
    if (!isOver) throw new Error(`The task ${workflowId} is not over, so it is not forgotten.`);
    this.#created.set(workflowId, digest);
    this.#runs.delete(workflowId);
  }

  readonly #methods: Readonly<Record<string, Method>> = {
    StartWorkflowExecution: method(
      api.StartWorkflowExecutionRequest,
      api.StartWorkflowExecutionResponse,
      (request) => ({ runId: this.#start(request) }),
    ),
    DescribeWorkflowExecution: method(
      api.DescribeWorkflowExecutionRequest,
      api.DescribeWorkflowExecutionResponse,
      ({ execution }) => ({ workflowExecutionInfo: this.#run(execution).info }),
    ),
    GetWorkflowExecutionHistory: method(
      api.GetWorkflowExecutionHistoryRequest,
      api.GetWorkflowExecutionHistoryResponse,
      async ({ execution, historyEventFilterType }) => {
        const run = this.#run(execution);
        return { history: { events: [historyEventFilterType === CLOSE_EVENT ? await run.ended : run.started] } };
      },
    ),
    QueryWorkflow: method(api.QueryWorkflowRequest, api.QueryWorkflowResponse, ({ execution }) => {
      return { queryResult: { payloads: [defaultPayloadConverter.toPayload(this.#run(execution).status)] } };
    }),
    SignalWorkflowExecution: method(
      api.SignalWorkflowExecutionRequest,
      api.SignalWorkflowExecutionResponse,
      ({ workflowExecution, signalName }) => {
        const run = this.#run(workflowExecution);
        if (run.isOver) throw refusal('NOT_FOUND', 'workflow execution already completed');
        run.ask(signalName === 'interrupt' ? 'interrupt' : 'cancel');
        return {};
      },
    ),
    RequestCancelWorkflowExecution: method(
      api.RequestCancelWorkflowExecutionRequest,
      api.RequestCancelWorkflowExecutionResponse,
      ({ workflowExecution }) => {
        const run = this.#run(workflowExecution);
        if (!run.isOver) run.ask('stop');
        return {};
      },
    ),
  };

  #start(request: StartRequest): string {
    const workflowId = request.workflowId ?? '';
    if (request.workflowType?.name !== 'task') throw unimplemented('batches');
    const before = this.#runs.get(workflowId);
    const mayFollow = before?.isOver === true && request.workflowIdReusePolicy === ALLOW_DUPLICATE;
    if (before !== undefined && !mayFollow) throw refusal('ALREADY_EXISTS', 'already started');
    const run = new FakeRun(request, randomUUID());
    this.#runs.set(workflowId, run);
    const created = this.#created.get(workflowId);
    if (created !== undefined && created !== run.digest) run.fail('InputChanged', 'Its create had another input.');
    this.#onStart(run);
    return run.runId;
  }

  #run(execution: Execution): FakeRun {
    const run = this.#runs.get(execution?.workflowId ?? '');
    if (run === undefined) throw refusal('NOT_FOUND', 'workflow not found');
    return run;
  }
}

/** As gRPC's client throws it. */
function refusal(code: 'ALREADY_EXISTS' | 'NOT_FOUND' | 'UNIMPLEMENTED', details: string): Error {
  return Object.assign(new Error(details), { code: grpcStatus[code], details, metadata: new Metadata() });
}

function unimplemented(what: string): Error {
  return refusal('UNIMPLEMENTED', `the fake of @longhaul/client/testing has no ${what}`);
}

function method<Asked, Answer>(
  request: { decode(bytes: Uint8Array): Asked },
  reply: { encode(answer: Answer): { finish(): Uint8Array } },
  answer: (asked: Asked) => Answer | Promise<Answer>,
): Method {
  return async (bytes) => reply.encode(await answer(request.decode(bytes))).finish();
}
