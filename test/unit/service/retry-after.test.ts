import { parseRetryAfter } from '../../../src/service/retry-after';

const nowMs = Date.parse('2026-01-01T00:00:00Z');

describe('parseRetryAfter', () => {
  it.each([
    ['0', 0],
    ['3', 3_000],
    [' 12 ', 12_000],
    ['99999999', 3_600_000],
    ['Thu, 01 Jan 2026 00:00:05 GMT', 5_000],
    ['Thursday, 01-Jan-26 00:00:05 GMT', 5_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['Fri, 01 Jan 2027 00:00:00 GMT', 3_600_000],
  ])('reads %j as %i ms', (value, expected) => {
    expect(parseRetryAfter(value, nowMs)).toBe(expected);
  });

  it.each([undefined, '', '-1', '1.5', '3 seconds', '2026-01-01', 'Thu, 99 Foo 2026', '0x10', '1e3'])(
    'ignores %j',
    (value) => {
      expect(parseRetryAfter(value, nowMs)).toBeUndefined();
    },
  );
});
