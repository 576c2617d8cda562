import type { RowFormat } from './row-file';
import { RowFileError } from './row-problem';

/** So many bytes tell what a file is. */
const headLength = 64;
/** Text of one byte a character has no zero among its first bytes, whatever language it is in. */
const zerosWithin = 16;

const excelRemedy = 'save it as UTF-8 (in Excel: save as "CSV UTF-8")';

/**
 * Reads a file by what it begins with; when the reading ends, for whatever reason, so does that of the chunks.
 *
 * @param read - gets at least the first 64 bytes, all of a file that is shorter, and the chunks that follow.
 */
export async function* withHead<Row>(
  chunks: AsyncIterable<Uint8Array>,
  read: (head: Buffer, rest: AsyncIterable<Uint8Array>) => AsyncIterable<Row>,
): AsyncGenerator<Row, void, undefined> {
  const iterator = chunks[Symbol.asyncIterator]();
  try {
    let head: Buffer = Buffer.alloc(0);
    while (head.length < headLength) {
      const next = await iterator.next();
      if (next.done === true) break;
      head = Buffer.concat([head, next.value]);
    }
    yield* read(head, { [Symbol.asyncIterator]: () => iterator });
  } finally {
    await iterator.return?.();
  }
}

/**
 * What a row file begins with, without the mark that some programs put before UTF-8.
 *
 * @throws RowFileError for what is no text in UTF-8, and for JSON that is not one object a line.
 */
export function textOfHead(head: Buffer, format: RowFormat): Buffer {
  const problem = encodingProblem(head) ?? (format === 'jsonl' ? jsonProblem(head) : undefined);
  if (problem !== undefined) throw new RowFileError([`The row file is ${problem}.`]);
  return head.subarray(0, 3).toString('hex') === 'efbbbf' ? head.subarray(3) : head;
}

function encodingProblem(head: Buffer): string | undefined {
  const hex = head.subarray(0, 4).toString('hex');
  if (hex === '504b0304' || hex === 'd0cf11e0') return 'an Excel workbook or the like; save it as "CSV UTF-8"';
  if (hex === 'fffe0000' || hex === '0000feff') return `in UTF-32; ${excelRemedy}`;
  if (hex.startsWith('fffe') || hex.startsWith('feff')) return `in UTF-16; ${excelRemedy}`;
  if (head.subarray(0, zerosWithin).includes(0))
    return `not in UTF-8 but, it seems, in UTF-16 or UTF-32; ${excelRemedy}`;
  return undefined;
}

function jsonProblem(head: Buffer): string | undefined {
  // No more than what there is in any case: what a file is must not depend on how its bytes come.
  const text = head.toString('utf8', 0, headLength).trimStart();
  if (text.startsWith('[')) return "one JSON array; write one object a line, e.g. jq -c '.[]' rows.json > rows.jsonl";
  if (/^\{[ \t]*\r?\n/.test(text)) {
    return 'JSON over several lines; write one object a line, e.g. jq -c . rows.json > rows.jsonl';
  }
  return undefined;
}
