import { formatDuration, parseDuration } from '../../../src/core/time';

const hourMs = 3_600_000;

describe('parseDuration', () => {
  it.each([
    [90, 90],
    [0, 0],
    [1.4, 1],
    ['500ms', 500],
    ['1 millisecond', 1],
    ['30s', 30_000],
    ['30 seconds', 30_000],
    ['1 minute', 60_000],
    ['2h', 2 * hourMs],
    ['12 hours', 12 * hourMs],
    ['1.5 days', 36 * hourMs],
    [' 3 m ', 180_000],
    ['0.0001 ms', 0],
  ])('reads %j as %d ms', (value, durationMs) => {
    expect(parseDuration(value)).toBe(durationMs);
  });

  it.each([
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    '90',
    '-5s',
    '1e3 s',
    '5 parsecs',
    '5 Seconds',
    '1h 30m',
    true,
    null,
    undefined,
    {},
    [5],
    '99999999999999999999 days',
    1e300,
  ])('answers undefined to %p', (value) => {
    expect(parseDuration(value)).toBeUndefined();
  });
});

describe('formatDuration', () => {
  it.each([
    [0, '0 ms'],
    [850, '850 ms'],
    [999.6, '1.0 s'],
    [4_200, '4.2 s'],
    [59_940, '59.9 s'],
    [59_960, '1 m'],
    [60_000, '1 m'],
    [200_000, '3 m 20 s'],
    [5 * hourMs + 120_000, '5 h 2 m'],
    [5 * hourMs + 1_000, '5 h'],
    [51 * hourMs, '2 d 3 h'],
    [48 * hourMs, '2 d'],
  ])('shows %d ms as %s', (durationMs, words) => {
    expect(formatDuration(durationMs)).toBe(words);
  });
});
