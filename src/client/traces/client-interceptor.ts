import { type Context, context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { WorkflowClientInterceptor } from '@temporalio/client';
import type { Headers } from '@temporalio/common';
import { readTraceHeader, withTraceHeader } from '../../contract/traces';
import { activeTrace, inSpan, toParent } from './spans';

/** How a client begins traces. */
export interface ClientTraceOptions {
  /**
   * Each workflow that is started begins a trace of its own, linked to what starts it: a batch of 20,000 rows is no trace
   * of 20,000 tasks. @default false
   */
  readonly startsTraces?: boolean;
}

/**
 * Gives every start, signal, update and cancellation of a client a span, and what is sent the place of that span. Queries
 * and descriptions have none: a client that follows a task makes one a second.
 */
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
