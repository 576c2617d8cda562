// Used of OpenTelemetry beside its API. The build inlines it instead of 12 packages (docs/decisions/0031).
export { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
export { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
export { resourceFromAttributes } from '@opentelemetry/resources';
export {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
export type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
