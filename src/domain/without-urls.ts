import { boundedText } from './safe-text';

const urlInText = /[a-z][a-z0-9+.-]{0,30}:\/\/([^\s/?#"'<>\\]*)[^\s"'<>\\]*/gi;

/** Longest words that enter a history: of a failure, a poll's problem, a task's error message. */
const maxLength = 4_000;

/**
 * Words as they may enter a history: redacted, at most 4,000 characters, and with each URL cut down to its host: enough
 * to know who was asked, nothing that leads to a file.
 */
export function withoutUrls(text: string): string {
  return boundedText(text, maxLength).replace(urlInText, (_url, authority: string) =>
    authority.slice(authority.lastIndexOf('@') + 1),
  );
}
