import { printableLine } from '../domain/text';

/** A clock that does not jump about: `0:07`, `12:34`, `1:02:03`. */
export function formatClock(elapsedMs: number): string {
  const seconds = Math.max(0, Math.floor(elapsedMs / 1_000));
  const [hours, minutes, rest] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (value: number): string => String(value).padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** The beginning of an id or a hash, enough to tell it from others. */
export function shorten(id: string, length = 8): string {
  return id.length > length + 1 ? `${id.slice(0, length)}…` : id;
}

/** One line of at most this many characters, on which a terminal acts on nothing. */
export function fit(text: string, width: number): string {
  const line = printableLine(text);
  return line.length > width ? `${line.slice(0, Math.max(0, width - 1))}…` : line;
}
