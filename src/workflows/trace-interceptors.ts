import {
  ApplicationFailure,
  ContinueAsNew,
  isCancellation,
  proxySinks,
  workflowInfo,
  type WorkflowInboundCallsInterceptor,
  type WorkflowInterceptors,
  type WorkflowOutboundCallsInterceptor,
} from '@temporalio/workflow';
import type { Headers } from '@temporalio/common';
import {
  readTraceHeader,
  spanIdOfRun,
  traceIdOfRun,
  traceSampleRatio,
  type TraceSinks,
  type WorkflowSpan,
  type WorkflowSpanEvent,
  withTraceHeader,
} from '../contract/traces';
import { isRecord } from '../core/json';
import { isTraceSampled, type TraceContext } from '../core/trace-context';

/* Calls get a header more and are observed from outside: a workflow does the same with and without traces. */

/** More are counted, not kept: a day of an account has thousands of updates. */
const maxEvents = 64;
const maxLinks = 32;
const maxNameLength = 64;

const sinks = proxySinks<TraceSinks>();

export function interceptors(): WorkflowInterceptors {
  const trace = new RunTrace();
  const inbound: WorkflowInboundCallsInterceptor = {
    execute: (input, next) => trace.run(input.headers, () => next(input)),
    handleSignal: (input, next) => {
      trace.addMessage(`signal ${input.signalName}`, input.headers);
      return next(input);
    },
    handleUpdate: (input, next) => {
      trace.addMessage(`update ${input.name}`, input.headers);
      return next(input);
    },
  };
  const withTrace = <Input extends { readonly headers: Headers }>(input: Input, context = trace.context): Input => {
    return { ...input, headers: withTraceHeader(input.headers, context) };
  };
  const outbound: WorkflowOutboundCallsInterceptor = {
    scheduleActivity: (input, next) => next(withTrace(input)),
    scheduleLocalActivity: (input, next) => {
      if (input.activityType !== 'pollTask') return next(withTrace(input));
      return trace.addPoll(() => next(withTrace(input, trace.watchContext)));
    },
    startChildWorkflowExecution: (input, next) => next(withTrace(input)),
    continueAsNew: (input, next) => next(withTrace(input, trace.caller)),
    getLogAttributes: (input, next) => {
      const { traceId, spanId } = trace.context;
      return next({ trace_id: traceId, span_id: spanId, ...input });
    },
  };
  return { inbound: [inbound], outbound: [outbound] };
}

class RunTrace {
  readonly #messages = new EventList();
  readonly #links: TraceContext[] = [];
  #droppedLinks = 0;
  #watch: WatchTrace | undefined;
  #context: TraceContext | undefined;
  #caller: TraceContext | undefined;

  get context(): TraceContext {
    return (this.#context ??= this.#toContext(undefined));
  }

  /** The next run has the same parent: a chain of runs may be long. */
  get caller(): TraceContext {
    return this.#caller ?? this.context;
  }

  run(headers: Headers, execute: () => Promise<unknown>): Promise<unknown> {
    this.#caller = readTraceHeader(headers);
    this.#context = this.#toContext(this.#caller);
    const { continuedFromExecutionRunId: previous } = workflowInfo();
    if (previous !== undefined) this.#addLink({ ...this.#context, spanId: spanIdOfRun(previous, 'run') });
    const running = execute();
    running.then(
      () => {
        this.#tellEnd(null);
      },
      (error: unknown) => {
        this.#tellEnd(error);
      },
    );
    return running;
  }

  addMessage(name: string, headers: Headers): void {
    this.#messages.add(name);
    const sender = readTraceHeader(headers);
    if (sender !== undefined) this.#addLink(sender);
  }

  get watchContext(): TraceContext {
    return { ...this.context, spanId: spanIdOfRun(workflowInfo().runId, 'watch') };
  }

  addPoll(poll: () => Promise<unknown>): Promise<unknown> {
    const watch = (this.#watch ??= new WatchTrace());
    const polled = poll();
    polled.then(
      (result) => {
        watch.add(result);
      },
      () => {
        watch.add(undefined);
      },
    );
    return polled;
  }

  #toContext(caller: TraceContext | undefined): TraceContext {
    const { firstExecutionRunId, runId } = workflowInfo();
    const spanId = spanIdOfRun(runId, 'run');
    if (caller !== undefined) return { ...caller, spanId };
    const traceId = traceIdOfRun(firstExecutionRunId);
    return { traceId, spanId, isSampled: isTraceSampled(traceId, Number(Reflect.get(globalThis, traceSampleRatio))) };
  }

  #addLink(context: TraceContext): void {
    if (this.#links.length < maxLinks) this.#links.push(context);
    else this.#droppedLinks += 1;
  }

  #tellEnd(error: unknown): void {
    if (!this.context.isSampled) return;
    const { runStartTime } = workflowInfo();
    const isGoingOn = error instanceof ContinueAsNew;
    const run: WorkflowSpan = {
      ...this.context,
      part: 'run',
      parentSpanId: this.#caller?.spanId,
      startMs: runStartTime.getTime(),
      endMs: Date.now(),
      events: this.#messages.events,
      links: this.#links,
      dropped: this.#messages.dropped + this.#droppedLinks,
      failure: isGoingOn ? null : toFailure(error),
      attributes: isGoingOn ? { 'longhaul.continued_as_new': true } : {},
    };
    const watch = this.#watch?.toSpan(this.watchContext, this.context.spanId);
    sinks.longhaulTraces.ended(watch === undefined ? [run] : [run, watch]);
  }
}

/** The type only, never words; null for none and for a cancellation. */
function toFailure(error: unknown): string | null {
  if (error === null || isCancellation(error)) return null;
  if (error instanceof ApplicationFailure) return error.type ?? error.name;
  return error instanceof Error ? error.name : 'unknown';
}

class EventList {
  readonly events: WorkflowSpanEvent[] = [];
  dropped = 0;

  add(name: string): void {
    if (this.events.length < maxEvents) this.events.push({ name: name.slice(0, maxNameLength), atMs: Date.now() });
    else this.dropped += 1;
  }
}

class WatchTrace {
  readonly #startMs = Date.now();
  readonly #states = new EventList();
  #endMs = this.#startMs;
  #queries = 0;
  #failed = 0;
  #state: string | undefined;

  add(result: unknown): void {
    this.#endMs = Date.now();
    this.#queries += 1;
    const state = isRecord(result) && result['seen'] === 'task' ? String(result['status']) : undefined;
    if (state === undefined) this.#failed += 1;
    else if (state !== this.#state) this.#states.add((this.#state = state));
  }

  toSpan(context: TraceContext, parentSpanId: string): WorkflowSpan {
    return {
      ...context,
      part: 'watch',
      parentSpanId,
      startMs: this.#startMs,
      endMs: this.#endMs,
      events: this.#states.events,
      links: [],
      dropped: this.#states.dropped,
      failure: null,
      attributes: { 'longhaul.queries': this.#queries, 'longhaul.failed_queries': this.#failed },
    };
  }
}
