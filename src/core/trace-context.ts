/** Where in a trace something stands: the part of W3C Trace Context that Longhaul passes on. */
export interface TraceContext {
  readonly traceId: string;
  readonly spanId: string;
  /** Whether the trace is recorded where it began. */
  readonly isSampled: boolean;
}

const maxLength = 128;
const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads a `traceparent` (W3C Trace Context, section 3.2), of a later version by the fields of version 00. */
export function parseTraceparent(text: unknown): TraceContext | undefined {
  if (typeof text !== 'string' || text.length > maxLength) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', further] = form.exec(text) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && further !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** Whether a trace is recorded, as OpenTelemetry's sampler `traceidratio` decides: all processes say the same. */
export function isTraceSampled(traceId: string, ratio: number): boolean {
  let folded = 0;
  for (let start = 0; start < traceId.length; start += 8) {
    folded = (folded ^ Number.parseInt(traceId.slice(start, start + 8), 16)) >>> 0;
  }
  return folded < Math.floor(Math.min(Math.max(ratio, 0), 1) * 0xffffffff) || ratio >= 1;
}
