import { isSecretField, redact } from '../domain/redact';
import { boundedText } from '../domain/safe-text';

const redacted = '[redacted]';
/** Longest text of one field; a stack is shorter. */
const maxTextLength = 8_192;

/**
 * Takes secrets out of a line of JSON: known values, whatever has the shape of one, and fields that are named like a
 * credential. The second layer: nothing of this should be logged at all.
 */
export function scrubLine(line: string): string {
  try {
    return `${JSON.stringify(scrubbed(JSON.parse(line)))}\n`;
  } catch {
    // No JSON, or nested deeper than JSON can be written: as text, whatever it was.
    return `${JSON.stringify({ msg: boundedText(line, maxTextLength) })}\n`;
  }
}

function scrubbed(value: unknown): unknown {
  if (typeof value === 'string') return boundedText(value, maxTextLength);
  if (Array.isArray(value)) return value.map(scrubbed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [redact(name), isSecretField(name) ? redacted : scrubbed(one)]),
  );
}
