const UTC_PLUS_8_MS = 8 * 3_600_000;

/** A time as the specification writes it (section 2.3): `YYYY-MM-DD HH:MM:SS`, UTC+8. */
export function formatTimestamp(timeMs: number): string {
  return new Date(timeMs + UTC_PLUS_8_MS).toISOString().slice(0, 19).replace('T', ' ');
}

/** The `<date>` of an object key: `YYYYMMDD`, UTC+8. */
export function dateFolder(date: Date): string {
  return formatTimestamp(date.getTime()).slice(0, 10).replaceAll('-', '');
}
