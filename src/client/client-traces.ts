import type { WorkflowClient, WorkflowClientInterceptor } from '@temporalio/client';
import { loadClientConfig } from '../config/client-config';
import { ConfigError } from '../config/environment';
import { withTraceHeader } from '../contract/traces';
import { isRecord } from '../core/json';
import type { TraceContext } from '../core/trace-context';

/** None without traces: nothing of OpenTelemetry is loaded. Throws `ConfigError` where its API is not installed. */
export async function loadClientTraces(isTraced: boolean): Promise<WorkflowClientInterceptor[]> {
  if (!isTraced) return [];
  try {
    const { clientTraceInterceptor } = await import('./traces/spans.js');
    return [clientTraceInterceptor()];
  } catch (error) {
    if (!isRecord(error) || error['code'] !== 'MODULE_NOT_FOUND') throw error;
    throw new ConfigError([
      'LONGHAUL_TRACES_OTLP_URL is set, and the package @opentelemetry/api is not installed; install it, or unset the variable.',
    ]);
  }
}

/**
 * For `interceptors.workflow` of a backend's own Temporal client, by `LONGHAUL_TRACES_OTLP_URL`. They take the active
 * context of the backend's own OpenTelemetry. Throws `ConfigError`.
 */
export async function loadLonghaulInterceptors(env?: NodeJS.ProcessEnv): Promise<WorkflowClientInterceptor[]> {
  return await loadClientTraces(loadClientConfig(env).config.traces !== null);
}

/** What it starts is a child of this place in a trace. Needs nothing of OpenTelemetry. */
export function startingWithin(workflow: WorkflowClient, parent: TraceContext): WorkflowClient {
  const withParent: WorkflowClientInterceptor = {
    startWithDetails: (input, next) => next({ ...input, headers: withTraceHeader(input.headers, parent) }),
  };
  // Before the client's own, which begin the span of the start. The SDK takes an older form, too.
  const own: object = workflow.options.interceptors;
  const calls: unknown = Array.isArray(own) ? own : Reflect.get(own, 'calls');
  const others: readonly unknown[] = Array.isArray(calls) ? calls : [];
  const interceptors = Array.isArray(own) ? [withParent, ...others] : { calls: [() => withParent, ...others] };
  const options = { ...workflow.options, interceptors };
  return Object.create(workflow, { options: { value: options } }) as WorkflowClient;
}
