import { formatEstimate, toEstimate } from '../../../../src/commands/batch/file-estimate';

describe('the estimate of a file of rows', () => {
  it('says so where no row can be run', () => {
    expect(formatEstimate(toEstimate(new Map(), [], 5))).toBe('nothing is known: no row can be run');
  });

  it('names the apps of which no earlier row is known', () => {
    const estimate = toEstimate(new Map([[5, 2]]), [], 5);
    expect(formatEstimate(estimate)).toBe('nothing is known: no earlier row of app 5 is known');
  });
});
