const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof units;

const pattern = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|milliseconds?|seconds?|minutes?|hours?|days?)$/;

function unitOf(word: string): Unit {
  if (word === 'ms' || word.startsWith('milli')) return 'ms';
  const letter = word.charAt(0);
  return letter === 's' || letter === 'm' || letter === 'h' ? letter : 'd';
}

/** The longest duration: longer than any task, and still one that Temporal's timers take. */
export const maxDurationDays = 3_650;
const maxDurationMs = maxDurationDays * units.d;

/** Reads `90`, `"500ms"`, `"2h"` or `"1.5 days"` as milliseconds; undefined for anything else and beyond ten years. */
export function parseDuration(value: unknown): number | undefined {
  const durationMs = Math.round(typeof value === 'number' ? value : readText(value));
  return durationMs >= 0 && durationMs <= maxDurationMs ? durationMs : undefined;
}

function readText(value: unknown): number {
  const match = typeof value === 'string' ? pattern.exec(value.trim()) : null;
  if (match?.[1] === undefined || match[2] === undefined) return Number.NaN;
  return Number(match[1]) * units[unitOf(match[2])];
}

/** `, next try in 8 s`; empty where it is due, or not known. @param at - ISO-8601 */
export function formatNextTry(at: string | undefined, nowMs: number): string {
  const seconds = at === undefined ? 0 : Math.ceil((Date.parse(at) - nowMs) / 1_000);
  const pause = seconds < 60 ? `${seconds} s` : formatDuration(seconds * 1_000);
  return seconds > 0 ? `, next try in ${pause}` : '';
}

/** Words for a person: `850 ms`, `4.2 s`, `3 m 20 s`, `5 h 2 m`, `2 d 3 h`. */
export function formatDuration(durationMs: number): string {
  // Just below a limit it would be rounded up to a number that no one says: 60.0 s.
  if (durationMs < 999.5) return `${Math.round(durationMs)} ms`;
  if (durationMs < 59_950) return `${(durationMs / 1_000).toFixed(1)} s`;
  const pairs = [
    ['d', units.d, 'h', units.h],
    ['h', units.h, 'm', units.m],
    ['m', units.m, 's', units.s],
  ] as const;
  const shownMs = Math.max(units.m, durationMs);
  const [major, majorMs, minor, minorMs] = pairs.find(([, sizeMs]) => shownMs >= sizeMs) ?? pairs[2];
  const whole = Math.floor(shownMs / majorMs);
  const rest = Math.floor((shownMs % majorMs) / minorMs);
  return rest === 0 ? `${whole} ${major}` : `${whole} ${major} ${rest} ${minor}`;
}

const wireFormat = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/;
const serviceOffset = '+08:00';

const isoFormat = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})$/;

/**
 * Reads a timestamp of the service, `YYYY-MM-DD HH:MM:SS` in UTC+8 (specification, section 2.3), as ISO-8601 in UTC;
 * also ISO-8601, and seconds or milliseconds since 1970. `undefined` for anything else. @internal exported for tests
 */
export function parseServiceTimestamp(raw: string): string | undefined {
  if (/^\d{10}$|^\d{13}$/.test(raw)) return new Date(Number(raw) * (raw.length === 10 ? 1_000 : 1)).toISOString();
  const local = raw.replace('T', ' ').replace(/\.\d{1,9}$/, '');
  const isLocal = wireFormat.test(local);
  if (!isLocal && !isoFormat.test(raw)) return undefined;
  const instant = new Date(isLocal ? `${local.replace(' ', 'T')}${serviceOffset}` : raw);
  if (Number.isNaN(instant.getTime())) return undefined;
  return !isLocal || formatServiceTimestamp(instant) === local ? instant.toISOString() : undefined;
}

/** A timestamp of the service: ISO-8601 in UTC beside the service's text; `iso` is null where that is none. */
export interface ServiceTimestamp {
  readonly iso: string | null;
  readonly raw: string;
}

export function toServiceTimestamp(raw: string): ServiceTimestamp {
  return { iso: parseServiceTimestamp(raw) ?? null, raw };
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

const serviceOffsetMs = 8 * 60 * 60 * 1000;

/** A moment as the service's own pages and lists show it: `2026-03-01 20:34:56 UTC+8`. */
export function formatServiceMoment(atMs: number): string {
  return `${formatServiceTimestamp(new Date(atMs))} UTC+8`;
}

function formatServiceTimestamp(instant: Date): string {
  return wallClock(instant.getTime() + serviceOffsetMs);
}

/** Milliseconds since 1970 of an ISO date or moment; undefined for a day that does not exist, which `Date` moves on. */
export function parseDate(text: string): number | undefined {
  const [day] = /^\d{4}-\d{2}-\d{2}(?![^T ])/.exec(text) ?? [];
  const startMs = Date.parse(day ?? '');
  const isDay = !Number.isNaN(startMs) && new Date(startMs).toISOString().slice(0, 10) === day;
  const atMs = isDay ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? undefined : atMs;
}
