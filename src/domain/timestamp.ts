const wireFormat = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/;
const serviceOffset = '+08:00';

/**
 * Reads a timestamp of the service, `YYYY-MM-DD HH:MM:SS` in UTC+8 (specification, section 2.3), as ISO-8601 in UTC.
 * Anything else, an impossible date included, is `undefined`: callers keep the raw text beside it.
 */
export function parseServiceTimestamp(raw: string): string | undefined {
  if (!wireFormat.test(raw)) return undefined;
  const instant = new Date(`${raw.replace(' ', 'T')}${serviceOffset}`);
  if (Number.isNaN(instant.getTime())) return undefined;
  return formatServiceTimestamp(instant) === raw ? instant.toISOString() : undefined;
}

/** A moment for people, `2026-03-01 12:34:56 UTC`, from its ISO-8601 in UTC or from milliseconds. */
export function formatMoment(at: string | number): string {
  return `${wallClock(at)} UTC`;
}

/** The same to the minute, for what is only about right: `2026-03-01 12:34 UTC`. */
export function formatMinute(at: string | number): string {
  return `${wallClock(at).slice(0, 16)} UTC`;
}

/** The same to the second and without the zone, where there is no room for it. */
export function wallClock(at: string | number): string {
  const iso = typeof at === 'string' ? at : new Date(at).toISOString();
  return iso.slice(0, 19).replace('T', ' ');
}

/** Milliseconds of UTC+8 ahead of UTC. */
const serviceOffsetMs = 8 * 60 * 60 * 1000;

function formatServiceTimestamp(instant: Date): string {
  return wallClock(instant.getTime() + serviceOffsetMs);
}
