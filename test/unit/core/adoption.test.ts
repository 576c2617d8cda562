import { findRival, isCreatedBefore } from '../../../src/core/adoption';

const sentAtMs = Date.UTC(2026, 10, 25, 1, 11, 54);
const later = (workflowId: string, seconds: number) => ({ workflowId, sentAtMs: sentAtMs + seconds * 1_000 });

describe('a task that somebody names for a create', () => {
  it.each([
    ['a minute before it was sent', -60, true],
    ['six seconds before, which no clock explains', -6, true],
    ['five seconds before, which clocks and whole seconds explain', -5, false],
    ['in the same second', 0, false],
    ['an hour later, when the service recovered', 3_600, false],
  ])('that the service created %s', (_when, seconds, isRefuted) => {
    expect(isCreatedBefore(sentAtMs + seconds * 1_000, sentAtMs)).toBe(isRefuted);
  });

  it('may as well be that of another create which was sent between this one and the task', () => {
    const others = [later('before', -60), later('between', 30), later('nearest', 60), later('after', 120)];
    expect(findRival(sentAtMs + 61_000, sentAtMs, others)?.workflowId).toBe('nearest');
    expect(findRival(sentAtMs + 1_000, sentAtMs, others)).toBeUndefined();
  });

  it('may be that of any create which was sent in the same moment, and of each when the service tells no time', () => {
    expect(findRival(sentAtMs, sentAtMs, [later('other', -4)])?.workflowId).toBe('other');
    expect(findRival(sentAtMs, sentAtMs, [later('other', -6)])).toBeUndefined();
    expect(findRival(null, sentAtMs, [later('other', -600)])?.workflowId).toBe('other');
  });
});
