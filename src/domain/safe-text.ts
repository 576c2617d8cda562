import { redact } from './redact';

const maxLineLength = 500;
/** Beyond what is shown, this much is read, so that a secret at the cut is found whole. */
const marginLength = 8_192;
/** What most texts are; to find out costs less than to look for what is not. */
const plainAscii = /^[\x20-\x7e]*$/;
/** Control, formatting and line characters, and halves of characters: no terminal, log line or protobuf text takes them. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;
const unprintableInLines = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}]/gu;

/**
 * Words of another system as they may enter an error, a log or a history: redacted, on one line, at most `maxLength`
 * characters, however long they came.
 */
export function safeText(text: string, secrets: readonly string[] = [], maxLength = maxLineLength): string {
  return shortened(text, secrets, maxLength, (words) =>
    (plainAscii.test(words) ? words : words.replace(unprintable, ' ')).trim(),
  );
}

/** The same for words whose lines are kept. */
export function boundedText(text: string, maxLength: number): string {
  return shortened(text, [], maxLength, (words) =>
    plainAscii.test(words) ? words : words.replace(unprintableInLines, ' '),
  );
}

function shortened(
  text: string,
  secrets: readonly string[],
  maxLength: number,
  printable: (text: string) => string,
): string {
  const readLength = maxLength + 2 * marginLength;
  // Printable before and after: what was decoded may hold control characters again.
  const words = printable(redact(printable(text.slice(0, readLength)), secrets));
  // The end of a text that was cut before it was redacted may be the beginning of a secret.
  const known = text.length > readLength ? words.slice(0, Math.max(0, words.length - marginLength)) : words;
  if (known.length <= maxLength && known.length === words.length) return words;
  return `${withoutHalf(known.slice(0, maxLength - 1))}…`;
}

/** Without the first half of a character that the cut divided. */
function withoutHalf(text: string): string {
  return /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text;
}
