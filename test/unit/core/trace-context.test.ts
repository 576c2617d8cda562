import fc from 'fast-check';
import { SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import { ROOT_CONTEXT } from '@opentelemetry/api';
import { formatTraceparent, isTraceSampled, parseTraceparent } from '../../../src/core/trace-context';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const hex = (length: number) =>
  fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`)).filter((digits) => !/^0+$/.test(digits));

describe('a traceparent', () => {
  it('is read with its flag, and written again', () => {
    fc.assert(
      fc.property(hex(32), hex(16), fc.boolean(), (trace, span, isSampled) => {
        const context = { traceId: trace, spanId: span, isSampled };
        expect(parseTraceparent(formatTraceparent(context))).toEqual(context);
      }),
    );
  });

  it('of a later version is read as far as it is known', () => {
    expect(parseTraceparent(`01-${traceId}-${spanId}-03-more`)).toEqual({ traceId, spanId, isSampled: true });
    expect(parseTraceparent(`00-${traceId}-${spanId}-02`)).toEqual({ traceId, spanId, isSampled: false });
  });

  it.each([
    ['nothing', ''],
    ['another type', 7],
    ['upper case', `00-${traceId.toUpperCase()}-${spanId}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['the version that is none', `ff-${traceId}-${spanId}-01`],
    ['more than version 00 has', `00-${traceId}-${spanId}-01-more`],
    ['a line break', `00-${traceId}-${spanId}-01\n`],
    ['a header behind it', `00-${traceId}-${spanId}-01\r\nauthorization: x`],
    ['too much', `01-${traceId}-${spanId}-01-${'x'.repeat(10_000)}`],
  ])('is refused when it is %s', (_what, text) => {
    expect(parseTraceparent(text)).toBeUndefined();
  });

  it('has a form that no other text has', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(parseTraceparent(value)).toBeUndefined();
      }),
    );
  });
});

describe('the part of the traces that is recorded', () => {
  it('is the one that OpenTelemetry’s own sampler says', () => {
    fc.assert(
      fc.property(hex(32), fc.double({ min: 0, max: 1, noNaN: true }), (trace, ratio) => {
        const { decision } = new TraceIdRatioBasedSampler(ratio).shouldSample(ROOT_CONTEXT, trace);
        expect(isTraceSampled(trace, ratio)).toBe(decision === SamplingDecision.RECORD_AND_SAMPLED);
      }),
    );
  });
});
