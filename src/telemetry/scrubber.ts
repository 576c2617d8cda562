import { parseJson } from '../domain/json';
import { redactJson } from '../domain/redact';
import { boundedText } from '../domain/text';

/** Longest text of one field; a stack is shorter. */
const maxTextLength = 8_192;

/**
 * Takes secrets out of a line of JSON: known values, whatever has the shape of one, and fields that are named like a
 * credential. The second layer: nothing of this should be logged at all.
 */
export function scrubLine(line: string): string {
  // What is no JSON is logged as text, whatever it was.
  return `${JSON.stringify(redactJson(parseJson(line) ?? { msg: line }, bounded))}\n`;
}

function bounded(text: string): string {
  return boundedText(text, maxTextLength);
}
