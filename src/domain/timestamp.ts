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

/** Milliseconds of UTC+8 ahead of UTC. */
const serviceOffsetMs = 8 * 60 * 60 * 1000;

function formatServiceTimestamp(instant: Date): string {
  return new Date(instant.getTime() + serviceOffsetMs).toISOString().slice(0, 19).replace('T', ' ');
}
