import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { isRecord } from '../core/json';
import { formatTraceparent, parseTraceparent, type TraceContext } from '../core/trace-context';

/** Durable; Temporal's interceptors for OpenTelemetry write and read it, too. @internal exported for tests */
export const traceHeader = '_tracer-data';

/** The global of the sandbox that a worker with traces sets: which part of the traces that begin there is recorded. */
export const traceSampleRatio = '__LONGHAUL_TRACE_SAMPLE_RATIO__';

/** The context in the headers of a start, a signal, an update or an activity; they may come from any client. */
export function readTraceHeader(headers: Headers): TraceContext | undefined {
  const payload = headers[traceHeader];
  if (payload === undefined) return undefined;
  try {
    const carrier = defaultPayloadConverter.fromPayload<unknown>(payload);
    return isRecord(carrier) ? parseTraceparent(carrier['traceparent']) : undefined;
  } catch {
    // Another program's header must not stop a workflow.
    return undefined;
  }
}

/** The headers with this context. `tracestate` and baggage of others are not passed on: they may hold anything. */
export function withTraceHeader(headers: Headers, context: TraceContext): Headers {
  const carrier = { traceparent: formatTraceparent(context) };
  return { ...headers, [traceHeader]: defaultPayloadConverter.toPayload(carrier) };
}

/** The trace that a workflow begins without one from its caller: of its first run, so the same in every later one. */
export function traceIdOfRun(firstRunId: string): string {
  const digits = firstRunId.replaceAll('-', '').toLowerCase();
  return /^(?!0+$)[0-9a-f]{32}$/.test(digits) ? digits : digest(firstRunId).slice(0, 32);
}

/** No random number of the sandbox: a workflow must do the same with and without traces. */
export function spanIdOfRun(runId: string, part: WorkflowSpan['part']): string {
  return digest(`${part} ${runId}`).slice(0, 16);
}

function digest(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text)));
}

export interface WorkflowSpanEvent {
  readonly name: string;
  readonly atMs: number;
}

export interface WorkflowSpan extends TraceContext {
  /** The run itself, or the queries of a task that is watched by timer, all together. */
  readonly part: 'run' | 'watch';
  readonly parentSpanId: string | undefined;
  readonly startMs: number;
  readonly endMs: number;
  readonly events: readonly WorkflowSpanEvent[];
  /** What else this run belongs to: the run before it, senders of signals and updates. */
  readonly links: readonly TraceContext[];
  /** Of events and links: more than a span holds. */
  readonly dropped: number;
  /** The durable type of the failure that ended it, or the name of another error; null when nothing failed. */
  readonly failure: string | null;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
}

/** Called once for a run. */
export type TraceSinks = Readonly<
  Record<'longhaulTraces', Readonly<Record<'ended', (spans: readonly WorkflowSpan[]) => void>>>
>;
