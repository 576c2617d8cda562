import fc from 'fast-check';
import { formatMinute, formatMoment, parseServiceTimestamp, wallClock } from '../../../src/core/time';

describe('parseServiceTimestamp', () => {
  it.each([
    ['2025-06-01 08:00:00', '2025-06-01T00:00:00.000Z'],
    ['2025-06-01 07:59:59', '2025-05-31T23:59:59.000Z'],
    ['2025-01-01 00:00:00', '2024-12-31T16:00:00.000Z'],
    ['2024-02-29 12:30:45', '2024-02-29T04:30:45.000Z'],
  ])('reads %s in UTC+8 as %s', (raw, iso) => {
    expect(parseServiceTimestamp(raw)).toBe(iso);
  });

  it.each([
    ['', 'nothing'],
    ['2025-06-01 08:00:00Z', 'a zone'],
    ['2025-06-01 08:00', 'no seconds'],
    ['2025-6-1 8:00:00', 'short numbers'],
    ['2025-02-29 00:00:00', 'a day that is not in the calendar'],
    ['2025-04-31 00:00:00', 'a 31st of April'],
    ['2025-13-01 00:00:00', 'a 13th month'],
    ['2025-06-01 24:00:00', 'a 24th hour'],
    ['2025-06-01 08:60:00', 'a 60th minute'],
    [' 2025-06-01 08:00:00', 'a space before it'],
  ])('answers undefined to %j: %s', (raw) => {
    expect(parseServiceTimestamp(raw)).toBeUndefined();
  });

  it('reads back every moment that the service can write', () => {
    const seconds = fc.integer({ min: 0, max: 4_000_000_000 });
    fc.assert(
      fc.property(seconds, (second) => {
        const instant = new Date(second * 1_000);
        const inUtc8 = new Date(instant.getTime() + 8 * 3_600_000).toISOString();
        const raw = `${inUtc8.slice(0, 10)} ${inUtc8.slice(11, 19)}`;
        expect(parseServiceTimestamp(raw)).toBe(instant.toISOString());
      }),
    );
  });
});

describe('a moment for people', () => {
  const iso = '2026-03-01T12:34:56.789Z';

  it.each([
    ['formatMoment', formatMoment, '2026-03-01 12:34:56 UTC'],
    ['formatMinute', formatMinute, '2026-03-01 12:34 UTC'],
    ['wallClock', wallClock, '2026-03-01 12:34:56'],
  ])('is the same from ISO-8601 and from milliseconds: %s', (_name, format, shown) => {
    expect(format(iso)).toBe(shown);
    expect(format(Date.parse(iso))).toBe(shown);
  });
});
