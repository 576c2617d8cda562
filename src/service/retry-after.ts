/** Longest wait that is believed: a wrong clock or a typing error must not park a task for a year. */
const maxRetryAfterMs = 60 * 60 * 1000;

/** No date is longer. */
const maxLength = 64;

const seconds = /^\d{1,10}$/;
/** IMF-fixdate and the two obsolete forms all begin with a weekday; `Date.parse` alone would take much more. */
const httpDate = /^(mon|tue|wed|thu|fri|sat|sun)/i;

/**
 * Reads a `Retry-After` header, in seconds or as an HTTP date (RFC 9110, section 10.2.3), as milliseconds from now,
 * at most one hour. A date in the past is 0; anything else is `undefined`.
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.slice(0, maxLength).trim() ?? '';
  if (seconds.test(text)) return Math.min(Number(text) * 1000, maxRetryAfterMs);
  if (!httpDate.test(text)) return undefined;
  const instantMs = Date.parse(text);
  if (Number.isNaN(instantMs)) return undefined;
  return Math.min(Math.max(instantMs - nowMs, 0), maxRetryAfterMs);
}
