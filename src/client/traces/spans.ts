import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import type { TraceContext } from '../../core/trace-context';
import { errorCode } from '../../core/text';

// Only modules that are loaded on demand import this one: without traces nothing of OpenTelemetry is loaded.

/** The tracer of the process. */
export function tracer(): Tracer {
  return trace.getTracer('longhaul');
}

/** A place in a trace that another process or a workflow gave, as the parent of what follows. */
export function toParent(given: TraceContext, within: Context = ROOT_CONTEXT): Context {
  return trace.setSpanContext(within, toSpanContext(given));
}

/** The same as a span's context. */
export function toSpanContext({ traceId, spanId, isSampled }: TraceContext): SpanContext {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote: true };
}

/** The place in a trace of what runs here; undefined outside of any. */
export function activeTrace(at: Context = context.active()): TraceContext | undefined {
  const spanContext = trace.getSpanContext(at);
  if (spanContext === undefined || !trace.isSpanContextValid(spanContext)) return undefined;
  const { traceId, spanId, traceFlags } = spanContext;
  return { traceId, spanId, isSampled: (traceFlags & TraceFlags.SAMPLED) !== 0 };
}

/** `trace_id` and `span_id` of what runs, for a line of a log. */
export function traceFields(): { readonly trace_id?: string; readonly span_id?: string } {
  const active = activeTrace();
  return active === undefined ? {} : { trace_id: active.traceId, span_id: active.spanId };
}

/** Runs something within a span, and tells whether it failed: by the type or code of its error, never by its words. */
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

/** Marks a span as failed. */
export function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR, message: type });
}
