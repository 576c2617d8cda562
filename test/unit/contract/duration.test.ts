import type { Duration } from '../../../src';
import { parseDuration } from '../../../src/core/time';

it('is text of a number and a unit, which the compiler knows as the check does', () => {
  const durations: readonly Duration[] = ['6h', '1.5 days', '90 seconds', '500ms', '1 minute', 60_000];
  expect(durations.map(parseDuration)).toEqual([21_600_000, 129_600_000, 90_000, 500, 60_000, 60_000]);
  // @ts-expect-error: there is no unit of that name
  const misspelt: Duration = '6 hrs';
  // @ts-expect-error: a number without a unit
  const bare: Duration = '6';
  expect([misspelt, bare].map(parseDuration)).toEqual([undefined, undefined]);
});
