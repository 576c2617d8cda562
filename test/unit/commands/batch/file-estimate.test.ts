import { formatEstimate, toEstimate } from '../../../../src/commands/batch/file-estimate';

describe('the estimate of a file of rows', () => {
  it('says so where no row can be run', () => {
    expect(formatEstimate(toEstimate(new Map(), [], 5))).toBe('nothing is known: no row can be run');
  });

  it('names the apps of which no earlier row is known', () => {
    const estimate = toEstimate(new Map([[5, 2]]), [], 5);
    expect(formatEstimate(estimate)).toBe('nothing is known: no earlier row of app 5 is known');
  });

  it('calls its time the least, for a service may run fewer rows at once', () => {
    const figures = { webAppId: 1, rows: 3, ms: { median: 9_000, p90: 10_000 }, cost: null };
    const text = formatEstimate(toEstimate(new Map([[1, 100]]), [figures], 100));
    expect(text).toContain('at least 0:09 to 0:10, if the service runs 100 rows at a time');
  });
});
