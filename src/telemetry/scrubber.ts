import { redactJson } from '../domain/redact';
import { boundedText } from '../domain/safe-text';

/** Longest text of one field; a stack is shorter. */
const maxTextLength = 8_192;

/**
 * Takes secrets out of a line of JSON: known values, whatever has the shape of one, and fields that are named like a
 * credential. The second layer: nothing of this should be logged at all.
 */
export function scrubLine(line: string): string {
  return `${JSON.stringify(redactJson(jsonOf(line), bounded))}\n`;
}

/** What is no JSON is logged as text, whatever it was. */
function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return { msg: line };
  }
}

function bounded(text: string): string {
  return boundedText(text, maxTextLength);
}
