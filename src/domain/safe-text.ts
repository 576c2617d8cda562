import { redactUrl } from './redact-url';

const maxLength = 500;
const urlInText = /[a-z][a-z0-9+.-]{0,30}:\/\/[^\s"'<>\\]+/gi;
const bearerInText = /\bBearer\s+[^\s"',;<>\\]+/gi;
/** Control, formatting and line characters: they must not reach a terminal or split a log line. */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/**
 * Words of another system as they may enter an error, a log or a history: the given secrets and every bearer token
 * replaced, URLs without their query, on one line, at most 500 characters.
 */
export function safeText(text: string, secrets: readonly string[] = []): string {
  const line = secrets
    .filter((secret) => secret !== '')
    .reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text)
    .replace(unprintable, ' ')
    .replace(urlInText, redactUrl)
    .replace(bearerInText, 'Bearer [redacted]')
    .trim();
  return line.length > maxLength ? `${line.slice(0, maxLength - 1)}…` : line;
}
