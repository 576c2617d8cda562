import fc from 'fast-check';
import { isTaskResult } from '../../../src/contract/task-result';
import { boundedRowEnd, type RowRecord, toRowEnd } from '../../../src/contract/batch/batch-rows';
import { isRequestId } from '../../../src/core/create-outcome';
import {
  type BatchLayout,
  isRecordText,
  layoutText,
  parseLayout,
  parseRecordText,
  recordText,
} from '../../../src/archive/batch-record';

const moments = fc
  .date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') })
  .map((date) => date.toISOString());
const endFields = {
  key: fc.stringMatching(/^[A-Za-z0-9._-]{1,80}$/),
  status: fc.constantFrom('Success' as const, 'Failed' as const, 'Canceled' as const),
  requestId: fc.option(fc.string({ minLength: 1 }).filter(isRequestId)),
  createNumber: fc.nat(),
  failure: fc.option(fc.record({ type: fc.string({ maxLength: 80 }), message: fc.string({ maxLength: 300 }) })),
  outputs: fc.array(fc.record({ path: fc.string(), sha256: fc.string(), bytes: fc.nat() }), { maxLength: 20 }),
  outputCount: fc.nat(),
  outputBytes: fc.nat(),
  failedOutputCount: fc.integer({ min: 1 }),
  manifest: fc.option(fc.string()),
  uploads: fc.option(fc.record({ files: fc.nat(), bytes: fc.nat(), shared: fc.nat() })),
  startedAt: moments,
  endedAt: moments,
};
const requiredKeys = [
  ...(['key', 'status', 'requestId', 'createNumber', 'failure', 'outputs', 'outputCount', 'outputBytes'] as const),
  ...(['manifest', 'uploads', 'startedAt', 'endedAt'] as const),
];
const records: fc.Arbitrary<RowRecord> = fc.record(
  { ...endFields, index: fc.nat(), line: fc.nat(), page: fc.nat(), digest: fc.stringMatching(/^[0-9a-f]{64}$/) },
  { requiredKeys: [...requiredKeys, 'index', 'line', 'page', 'digest'] },
);
const pages = fc.uniqueArray(records, { selector: ({ index }) => index, maxLength: 8 });

describe('the file of a page of a batch’s record', () => {
  it('is read as it was written, in the order of the rows', () => {
    fc.assert(
      fc.property(pages, (page) => {
        const text = recordText(page);
        expect(isRecordText(text)).toBe(true);
        expect(parseRecordText(text)).toEqual([...page].sort((one, other) => one.index - other.index));
        expect(recordText([...page].reverse())).toBe(text);
      }),
    );
  });

  it('is refused, and not read in part, when a line of it is gone', () => {
    fc.assert(
      fc.property(pages, fc.nat(), (page, place) => {
        fc.pre(page.length > 0);
        const lines = recordText(page).split('\n');
        lines.splice(place % page.length, 1);
        expect(() => parseRecordText(lines.join('\n'))).toThrow(
          /does not say how many records|it has \d+ of \d+ records; somebody cut it short/,
        );
      }),
    );
  });

  it('is refused with the number of the line that is no record', () => {
    fc.assert(
      fc.property(pages, fc.nat(), (page, place) => {
        fc.pre(page.length > 0);
        const lines = recordText(page).split('\n');
        const line = 1 + (place % page.length);
        lines[line] = lines[line]?.slice(0, -1) ?? '';
        expect(() => parseRecordText(lines.join('\n'))).toThrow(`its line ${line + 1} is no record of a row`);
      }),
    );
  });

  it('holds no more of a row than a history can', () => {
    const long = { type: 'T'.repeat(500), message: 'x'.repeat(500) };
    const output = { path: 'p', sha256: 's', bytes: 1 };
    fc.assert(
      fc.property(records, (record) => {
        const large = { ...record, failure: long, outputs: Array.from({ length: 50 }, () => output) };
        expect(parseRecordText(recordText([large]))).toEqual([boundedRowEnd(large)]);
      }),
      { numRuns: 10 },
    );
  });
});

describe('the file of a batch’s layout', () => {
  const layouts: fc.Arbitrary<BatchLayout> = fc.record({
    ...{ digest: fc.string({ minLength: 1 }), rows: fc.nat(), pages: fc.nat(), id: fc.string() },
  });

  it('is read as it was written', () => {
    fc.assert(
      fc.property(layouts, (layout) => {
        expect(parseLayout(layoutText(layout))).toEqual(layout);
      }),
    );
  });
});

describe('the end of a row whose task another program ended', () => {
  const facts = {
    ...{ key: 'a', requestId: null, createNumber: 1 },
    ...{ startedAt: '2026-03-01T00:00:00.000Z', endedAt: '2026-03-01T00:01:00.000Z' },
  };
  const number = fc.double({ noDefaultInfinity: true, noNaN: true });
  const count = fc.maxSafeNat();
  const text = fc.string({ unit: 'binary' }).map((one) => `${one}\ud800`);
  const far = fc.constantFrom('-271821-04-20T00:00:00.000Z', '+275760-09-13T00:00:00.000Z', facts.startedAt);
  const timestamp = fc.record({ iso: far, raw: text });
  const output = fc.record({ path: text, sha256: text, bytes: count, ext: text, auditStatus: number, errorType: text });
  const known = { startedAt: fc.constant(facts.startedAt), createNumber: count };
  const results = fc.record(
    {
      workflowId: text,
      requestId: text,
      status: fc.constantFrom('Success', 'Failed', 'Canceled'),
      outputs: fc.array(output),
      outputCount: count,
      outputBytes: count,
      failedOutputs: fc.array(fc.record({ index: count, errorType: text, message: text })),
      failedOutputCount: count,
      manifest: text,
      costTimes: fc.dictionary(text, number),
      cost: fc.constantFrom(null, { currency: 'EUR', micros: Number.MAX_SAFE_INTEGER }),
      timestamps: fc.record({ createdAt: timestamp, runningAt: timestamp }),
      uploads: fc.record({ files: count, bytes: count, shared: count }),
      ...known,
    },
    { noNullPrototype: true },
  );

  it('can be recorded and read back, whatever that program tells', () => {
    fc.assert(
      fc.property(results, (result) => {
        if (!isTaskResult(result)) throw new Error('it is to look like a result');
        const end = toRowEnd(facts, { kind: 'result', result });
        const written = recordText([{ ...end, index: 0, line: 1, page: 0, digest: 'ab' }]);
        expect(parseRecordText(written)).toHaveLength(1);
      }),
    );
  });
});
