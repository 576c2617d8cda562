import fc from 'fast-check';
import { archivePriority, batchPriority, taskPriority } from '../../../src/core/priority';

const minutes = (count: number): number => count * 60_000;

describe('the priority of an archive', () => {
  it.each([
    ['results that are about to expire', minutes(10), 1],
    ['results that have expired', minutes(-1), 1],
    ['results that expire this hour', minutes(50), 2],
    ['results with days left', minutes(60 * 48), undefined],
    ['results of which the service says nothing', undefined, undefined],
  ])('%s', (_what, timeLeftMs, priority) => {
    expect(archivePriority(timeLeftMs)).toBe(priority);
  });

  it('never puts the later expiry first, and every one that expires soon before those with time', () => {
    const place = (timeLeftMs: number): number => archivePriority(timeLeftMs) ?? taskPriority('a').priorityKey;
    fc.assert(
      fc.property(fc.integer(), fc.nat(), (timeLeftMs, more) => {
        expect(place(timeLeftMs)).toBeLessThanOrEqual(place(timeLeftMs + more));
      }),
    );
  });
});

describe('the priority of a task and of a batch', () => {
  const name = fc.stringMatching(/^[A-Za-z0-9._-]{1,80}$/);

  it('puts a single task before a batch', () => {
    expect(taskPriority('a').priorityKey).toBeLessThan(batchPriority('a').priorityKey);
  });

  it('has a fairness key of its own for each account and each batch, no longer than Temporal takes', () => {
    fc.assert(
      fc.property(name, name, (one, other) => {
        const keys = [taskPriority(one), batchPriority(one)].map(({ fairnessKey }) => fairnessKey);
        for (const key of keys) expect(Buffer.byteLength(key)).toBeLessThanOrEqual(64);
        const others = [taskPriority(other), batchPriority(other)].map(({ fairnessKey }) => fairnessKey);
        expect(new Set([...keys, ...others]).size).toBe(one === other ? 2 : 4);
      }),
    );
  });
});
