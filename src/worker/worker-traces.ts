import { context, SpanKind, type Span, trace } from '@opentelemetry/api';
import type { Context } from '@temporalio/activity';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { ActivityInterceptors, InjectedSinks, WorkerInterceptors } from '@temporalio/worker';
import { readTraceHeader, type TraceSinks, type WorkflowSpan } from '../contract/traces';
import { formatTraceparent } from '../core/trace-context';
import { redact } from '../core/redact';
import { boundedText } from '../core/text';
import type { TraceRequest } from '../service';
import type { ActivityTraces } from '../activities';
import type { OpenTraces, WorkflowOfSpan } from '../client/traces/open-traces';
import {
  activeTrace,
  clientTraceInterceptor,
  fail,
  inSpan,
  toParent,
  traceFields,
  tracer,
} from '../client/traces/spans';

/** One query per task, thousands of them: no span, but the place of the one who watches. */
const pollActivity = 'pollTask';
const pollEndpoint = 'detail';
/** Transfers of one activity that have a span of their own: a task may have 1,000 outputs. */
const maxTransferSpans = 64;
const maxHostLength = 255;

export interface WorkerTraces {
  /** For `Worker.create`. */
  readonly workerOptions: { readonly interceptors: WorkerInterceptors; readonly sinks: InjectedSinks<TraceSinks> };
  /** For the client by which activities start rows, and ask for money. */
  readonly clientInterceptors: WorkflowClientInterceptor[];
  readonly activities: ActivityTraces;
  /** For the service client of an account. */
  traceRequests(account: string): TraceRequest;
}

export function openWorkerTraces(traces: OpenTraces): WorkerTraces {
  const ended = (of: WorkflowOfSpan, spans: readonly WorkflowSpan[]): void => {
    for (const span of spans) traces.addWorkflowSpan(span, of);
  };
  return {
    workerOptions: {
      interceptors: { activity: [traceActivity] },
      sinks: { longhaulTraces: { ended: { fn: ended } } },
    },
    clientInterceptors: [clientTraceInterceptor({ startsTraces: true })],
    activities: new TransferTraces(),
    traceRequests,
  };
}

/** A span for each attempt of an activity but polls. */
function traceActivity({ info }: Context): ActivityInterceptors {
  const { activityType, activityId, attempt, workflowExecution } = info;
  return {
    inbound: {
      execute: (input, next) => {
        const given = readTraceHeader(input.headers);
        const parent = given === undefined ? context.active() : toParent(given);
        if (activityType === pollActivity) return context.with(parent, () => next(input));
        const attributes = {
          temporalActivityId: activityId,
          'longhaul.attempt': attempt,
          ...(workflowExecution !== undefined && {
            temporalWorkflowId: workflowExecution.workflowId,
            run_id: workflowExecution.runId,
          }),
        };
        const options = { kind: SpanKind.CONSUMER, attributes };
        return inSpan(`RunActivity:${activityType}`, options, () => next(input), parent);
      },
    },
    outbound: { getLogAttributes: (input, next) => next({ ...traceFields(), ...input }) },
  };
}

/** A span for each request to the service but polls; every request carries `traceparent`. */
function traceRequests(account: string): TraceRequest {
  return ({ name, method, path, host }) => {
    const attributes = {
      'http.request.method': method,
      'url.template': path,
      'server.address': host,
      'longhaul.account': account,
    };
    const options = { kind: SpanKind.CLIENT, attributes };
    const span = name === pollEndpoint ? undefined : tracer().startSpan(`${method} ${path}`, options);
    const at = span === undefined ? context.active() : trace.setSpan(context.active(), span);
    const place = activeTrace(at);
    const headers: Record<string, string> = place === undefined ? {} : { traceparent: formatTraceparent(place) };
    return {
      headers,
      end: ({ status, requestId, fault }) => {
        if (span === undefined) return;
        if (requestId !== undefined) span.setAttribute('longhaul.request_id', requestId);
        if (status !== null) span.setAttribute('http.response.status_code', status);
        if (fault !== undefined) fail(span, fault);
        else if (status !== null && status >= 400) fail(span, String(status));
        span.end();
      },
    };
  };
}

/** Spans of what activities transfer, and events of the one that watches. */
class TransferTraces implements ActivityTraces {
  readonly #transfers = new WeakMap<Span, number>();

  transfer<Result>(operation: 'upload' | 'download', host: string, run: () => Promise<Result>): Promise<Result> {
    const activity = trace.getActiveSpan();
    if (activity === undefined) return run();
    const before = this.#transfers.get(activity) ?? 0;
    this.#transfers.set(activity, before + 1);
    if (before >= maxTransferSpans) return run();
    const attributes = { 'server.address': boundedText(redact(host), maxHostLength) };
    return inSpan(operation, { kind: SpanKind.CLIENT, attributes }, run);
  }

  event(name: string): void {
    trace.getActiveSpan()?.addEvent(name);
  }
}
