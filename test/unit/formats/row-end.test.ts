import type { RowEnd } from '../../../src/contract/batch-rows';
import { parseSentRowEnd } from '../../../src/formats/batch-record';

const end: RowEnd = {
  key: 'cat',
  status: 'Failed',
  requestId: 'request-1',
  createNumber: 1,
  failure: { type: 'TaskFailed', message: 'out of memory' },
  outputs: [{ path: '/archive/cat.png', sha256: 'ab', bytes: 7 }],
  outputCount: 1,
  outputBytes: 7,
  manifest: '/archive/manifest.json',
  uploads: { files: 1, bytes: 10, shared: 0 },
  startedAt: '2026-01-01T00:00:00.000Z',
  endedAt: '2026-01-01T00:01:00.000Z',
};

describe('the end of a row, as a signal brings it', () => {
  it('is read as it was sent', () => {
    expect(parseSentRowEnd(end)).toEqual(end);
    const bare: RowEnd = { ...end, requestId: null, failure: null, manifest: null, uploads: null, outputs: [] };
    expect(parseSentRowEnd(bare)).toEqual(bare);
  });

  it('is read from an older task, too, which counts neither uploads nor bytes', () => {
    const { uploads, outputBytes, ...older } = end;
    expect([uploads, outputBytes]).not.toContain(undefined);
    expect(parseSentRowEnd(older)).toEqual({ ...end, uploads: null, outputBytes: 0 });
  });

  it('is read without what is no field of it', () => {
    expect(parseSentRowEnd({ ...end, page: 99, more: 'x'.repeat(1_000) })).toEqual(end);
  });

  it.each([undefined, null, 'text', 7, [], [end], {}])('is not read from %p', (value) => {
    expect(parseSentRowEnd(value)).toBeUndefined();
  });

  it.each(Object.keys(end))('is not read when its %s is something else', (field) => {
    const wrongs = [true, -1, 1.5, {}, [7], 'x'.repeat(1_000), '2026-13-01', undefined, null];
    const accepted = wrongs.filter((wrong) => parseSentRowEnd({ ...end, [field]: wrong }) !== undefined);
    const fine: Readonly<Record<string, readonly unknown[]>> = {
      key: ['x'.repeat(1_000), '2026-13-01'],
      requestId: ['x'.repeat(1_000), '2026-13-01', null],
      manifest: ['x'.repeat(1_000), '2026-13-01', null],
      failure: [null],
      uploads: [undefined, null],
      outputBytes: [undefined],
    };
    expect(accepted).toEqual(fine[field] ?? []);
  });

  it('is not read when what its lists hold is something else, or too much', () => {
    const [output] = end.outputs;
    const wrongs = [
      { failure: { type: 'TaskFailed' } },
      { failure: { type: 'TaskFailed', message: 'x'.repeat(301) } },
      { outputs: [{ path: 'a', sha256: 'b' }] },
      { outputs: Array.from({ length: 21 }, () => output) },
      { uploads: { files: 1, bytes: -1, shared: 0 } },
    ];
    expect(wrongs.map((wrong) => parseSentRowEnd({ ...end, ...wrong }))).toEqual(wrongs.map(() => undefined));
  });
});
