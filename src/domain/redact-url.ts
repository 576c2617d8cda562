import { redact, withoutQuery } from './redact';

/**
 * A URL as it may be shown and kept: without its query, fragment and user information, and without what {@link redact}
 * takes out. Pure string work, so it also holds for what a strict parser refuses.
 */
export function redactUrl(url: string): string {
  return redact(withoutQuery(url));
}
