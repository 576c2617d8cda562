import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure, type Headers } from '@temporalio/common';
import { readTraceHeader, withTraceHeader } from '../../contract/traces';
import type { TraceContext } from '../../core/trace-context';
import { errorCode } from '../../core/text';

// Only modules that are loaded on demand import this one: without traces nothing of OpenTelemetry is loaded.

export function tracer(): Tracer {
  return trace.getTracer('longhaul');
}

/** A place that another process or a workflow gave, as the parent of what follows. */
export function toParent(given: TraceContext, within: Context = ROOT_CONTEXT): Context {
  return trace.setSpanContext(within, toSpanContext(given));
}

export function toSpanContext({ traceId, spanId, isSampled }: TraceContext): SpanContext {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

/** Undefined outside of any trace. */
export function activeTrace(at: Context = context.active()): TraceContext | undefined {
  const spanContext = trace.getSpanContext(at);
  if (spanContext === undefined || !trace.isSpanContextValid(spanContext)) return undefined;
  const { traceId, spanId, traceFlags } = spanContext;
  return { traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 };
}

export function traceFields(): { readonly trace_id?: string; readonly span_id?: string } {
  const active = activeTrace();
  return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
}

/** Tells whether it failed by the type or code of its error, never by its words. */
export async function inSpan<Result>(
  name: string,
  options: SpanOptions & { readonly attributes: Attributes },
  run: (span: Span) => Promise<Result>,
  parent: Context = context.active(),
): Promise<Result> {
  const span = tracer().startSpan(name, options, parent);
  try {
    return await context.with(trace.setSpan(parent, span), run, undefined, span);
  } catch (error) {
    const name = error instanceof Error ? error.name : 'unknown';
    const type = error instanceof ApplicationFailure ? error.type : undefined;
    // A start that finds its task is no failure.
    const isExpected = ['AbortError', 'WorkflowExecutionAlreadyStartedError'].includes(name);
    if (!isExpected && !(error instanceof CancelledFailure))
      fail(span, type ?? (name === 'Error' ? errorCode(error) || name : name));
    throw error;
  } finally {
    span.end();
  }
}

export function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, message: type });
}

export interface ClientTraceOptions {
  /** Workflows begin traces of their own, linked to their start: 20,000 rows are not one trace. @default false */
  readonly startsTraces?: boolean;
}

/** Starts, signals, updates and cancellations have spans. Queries and descriptions have none: there is one a second. */
export function clientTraceInterceptor({ startsTraces = false }: ClientTraceOptions = {}): WorkflowClientInterceptor {
  return {
    startWithDetails: (input, next) => {
      const given = readTraceHeader(input.headers);
      const around = given === undefined ? context.active() : toParent(given, context.active());
      const link = startsTraces ? trace.getSpanContext(around) : undefined;
      const links = link === undefined ? [] : [{ context: link }];
      const attributes = { temporalWorkflowId: input.options.workflowId };
      return inSpan(
        `StartWorkflow:${input.workflowType}`,
        { kind: SpanKind.PRODUCER, attributes, links },
        async (span) => {
          const started = await next({ ...input, headers: withActiveTrace(input.headers) });
          span.setAttribute('run_id', started.runId);
          return started;
        },
        startsTraces ? ROOT_CONTEXT : around,
      );
    },
    signal: (input, next) =>
      send(`SignalWorkflow:${input.signalName}`, input.workflowExecution.workflowId, () =>
        next({ ...input, headers: withActiveTrace(input.headers) }),
      ),
    startUpdate: (input, next) =>
      send(`UpdateWorkflow:${input.updateName}`, input.workflowExecution.workflowId, () =>
        next({ ...input, headers: withActiveTrace(input.headers) }),
      ),
    // Requests of many tasks go together, in the context of the first: in a worker they are of no task's trace.
    startUpdateWithStart: (input, next) =>
      send(
        `UpdateWithStartWorkflow:${input.updateName}`,
        input.workflowStartOptions.workflowId,
        () => next({ ...input, updateHeaders: withActiveTrace(input.updateHeaders) }),
        startsTraces ? ROOT_CONTEXT : context.active(),
      ),
    cancel: (input, next) => send('CancelWorkflow', input.workflowExecution.workflowId, () => next(input)),
  };
}

function send<Result>(
  name: string,
  temporalWorkflowId: string | undefined,
  call: () => Promise<Result>,
  parent: Context = context.active(),
) {
  const attributes = temporalWorkflowId == null ? {} : { temporalWorkflowId };
  return inSpan(name, { kind: SpanKind.PRODUCER, attributes }, call, parent);
}

function withActiveTrace(headers: Headers): Headers {
  const active = activeTrace();
  return active === undefined ? headers : withTraceHeader(headers, active);
}
