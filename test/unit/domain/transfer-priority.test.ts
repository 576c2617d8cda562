import fc from 'fast-check';
import { archivePriority, uploadPriority } from '../../../src/domain/transfer-priority';

const minutes = (count: number): number => count * 60_000;

describe('the order of transfers', () => {
  it.each([
    ['results that are about to expire', minutes(10), 1],
    ['results that have expired', minutes(-1), 1],
    ['results that expire this hour', minutes(50), 2],
    ['results with days left', minutes(60 * 48), 3],
    ['results of which the service says nothing', undefined, 3],
  ])('%s', (_what, timeLeftMs, priority) => {
    expect(archivePriority(timeLeftMs)).toBe(priority);
  });

  it('never puts the later expiry first, nor an upload before an archive', () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(), (timeLeftMs, more) => {
        expect(archivePriority(timeLeftMs)).toBeLessThanOrEqual(archivePriority(timeLeftMs + more));
        expect(archivePriority(timeLeftMs)).toBeLessThan(uploadPriority);
      }),
    );
  });
});
