import { setTimeout as delay } from 'node:timers/promises';
import { context, trace, TraceFlags, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { TracesConfig } from '../../config/traces-config';
import type { WorkflowSpan } from '../../contract/traces';
import type { TraceContext } from '../../core/trace-context';
import { redact } from '../../core/redact';
import { errorMessage } from '../../core/text';
import {
  AsyncLocalStorageContextManager,
  BatchSpanProcessor,
  OTLPTraceExporter,
  ParentBasedSampler,
  type ReadableSpan,
  resourceFromAttributes,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from './opentelemetry-sdk';
import { toParent, toSpanContext, traceFields } from './spans';

const exportTimeoutMs = 3_000;
const closeTimeoutMs = 3_000;
const spanLimits = {
  attributeValueLengthLimit: 512,
  attributeCountLimit: 32,
  eventCountLimit: 64,
  linkCountLimit: 32,
};

export interface OpenTraces {
  /** Which part of the traces that begin here is recorded. */
  readonly sampleRatio: number;
  /** `trace_id` and `span_id` of what runs, for a line of a log. */
  readonly logFields: () => object;
  addWorkflowSpan(span: WorkflowSpan, of: WorkflowOfSpan): void;
  /** Runs it as a child of this place in a trace. */
  within<Result>(parent: TraceContext | null, run: () => Promise<Result>): Promise<Result>;
  /** Sends what is left, within a few seconds. It never rejects. */
  close(): Promise<void>;
}

export interface WorkflowOfSpan {
  readonly workflowType: string;
  readonly workflowId: string;
  readonly runId: string;
}

export interface OpenTracesOptions {
  /** `service.name`, unless the environment names another. */
  readonly program: string;
  /** Called when the collector takes no spans, and when it takes them again. */
  readonly onChange?: (isWorking: boolean, reason: string) => void;
}

/** Once per process. Nothing waits for the collector: while it is slow or away, spans beyond 2,048 are lost. */
export function openTraces(config: TracesConfig, { program, onChange }: OpenTracesOptions): OpenTraces {
  const resource = resourceFromAttributes({ ...config.resource, 'service.name': config.serviceName ?? program });
  const collector = new OTLPTraceExporter({ url: config.url, timeoutMillis: exportTimeoutMs });
  const exporter = new SafeExporter(collector, onChange);
  const processor = new BatchSpanProcessor({
    exporter,
    exportTimeoutMillis: exportTimeoutMs,
    scheduledDelayMillis: 2_000,
  });
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(config.sampleRatio) });
  const provider = new TracerProvider({ resource, sampler, spanLimits, spanProcessors: [processor] });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(provider);
  return {
    sampleRatio: config.sampleRatio,
    logFields: traceFields,
    addWorkflowSpan: (span, of) => {
      processor.onEnd(toReadableSpan(span, of, resource));
    },
    within: (parent, run) => (parent === null ? run() : context.with(toParent(parent, context.active()), run)),
    close: async () => {
      const inTime = new AbortController();
      const late = delay(closeTimeoutMs, undefined, { signal: inTime.signal }).catch(() => undefined);
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      inTime.abort();
    },
  };
}

type Export = SpanExporter['export'];

/** Takes secrets out of every text of a span, as out of the log: they should not be there at all. */
class SafeExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #onChange: OpenTracesOptions['onChange'];
  #isWorking = true;

  constructor(exporter: SpanExporter, onChange: OpenTracesOptions['onChange']) {
    this.#exporter = exporter;
    this.#onChange = onChange;
  }

  export(spans: Parameters<Export>[0], done: Parameters<Export>[1]): void {
    this.#exporter.export(spans.map(toSafeSpan), (result) => {
      const { code }: { readonly code: number } = result;
      const isWorking = code === 0;
      if (isWorking !== this.#isWorking) {
        this.#isWorking = isWorking;
        this.#onChange?.(isWorking, redact(errorMessage(result.error)));
      }
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }
}

function toSafeSpan(span: ReadableSpan): ReadableSpan {
  const { code, message } = span.status;
  const attributes = Object.entries(span.attributes).map(([name, value]) => {
    return [name, typeof value === 'string' ? redact(value) : value] as const;
  });
  // Beside these fields it is the span itself, with its getters.
  return Object.create(span, {
    name: { value: redact(span.name) },
    status: { value: { code, message: message === undefined ? undefined : redact(message) } },
    attributes: { value: Object.fromEntries(attributes) },
    events: { value: span.events.map((event) => ({ ...event, name: redact(event.name) })) },
  }) as ReadableSpan;
}

/** The span as the SDK has it: a workflow makes its ids and times itself. */
function toReadableSpan(
  span: WorkflowSpan,
  { workflowType, workflowId, runId }: WorkflowOfSpan,
  resource: ReadableSpan['resource'],
): ReadableSpan {
  const { part, parentSpanId, startMs, endMs, failure, traceId } = span;
  const endedMs = Math.max(startMs, endMs);
  const own = { ...toSpanContext(span), isRemote: false };
  const parent = { traceId, spanId: parentSpanId ?? '', traceFlags: TraceFlags.SAMPLED, isRemote: part === 'run' };
  const attributes = {
    temporalWorkflowId: workflowId,
    run_id: runId,
    ...span.attributes,
    ...(failure !== null && { 'error.type': failure }),
  };
  return {
    name: part === 'run' ? `RunWorkflow:${workflowType}` : 'Watch',
    kind: part === 'run' ? SpanKind.CONSUMER : SpanKind.INTERNAL,
    spanContext: () => own,
    parentSpanContext: parentSpanId === undefined ? undefined : parent,
    startTime: toHrTime(startMs),
    endTime: toHrTime(endedMs),
    duration: toHrTime(endedMs - startMs),
    status: failure === null ? { code: SpanStatusCode.UNSET } : { code: SpanStatusCode.ERROR, message: failure },
    attributes,
    links: span.links.map((link) => ({ context: toSpanContext(link) })),
    events: span.events.map(({ name, atMs }) => ({ name, time: toHrTime(atMs) })),
    ended: true,
    resource,
    instrumentationScope: { name: 'longhaul' },
    droppedAttributesCount: 0,
    droppedEventsCount: span.dropped,
    droppedLinksCount: 0,
  };
}

function toHrTime(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1_000);
  return [seconds, Math.round((ms - seconds * 1_000) * 1_000_000)];
}
