import { formatEstimate, toEstimate } from '../../../../src/commands/batch/file-estimate';

describe('the estimate of a row file', () => {
  it('calls its time the least, for a service may run fewer rows at once', () => {
    const figures = { webAppId: 1, rows: 3, ms: { median: 9_000, p90: 10_000 }, cost: null };
    const text = formatEstimate(toEstimate(new Map([[1, 100]]), [figures], 100));
    expect(text).toContain('at least 0:09 to 0:10, if the service runs 100 rows at a time');
  });
});
