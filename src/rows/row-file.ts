import { createReadStream } from 'node:fs';
import path from 'node:path';
import { codeOf } from '../domain/error-code';
import { RowFileError } from './row-problem';

/** How a row file is written. */
export type RowFormat = 'jsonl' | 'csv' | 'tsv';

/** A row file that is ready to be read, once. */
export interface RowFile {
  readonly format: RowFormat;
  /** Absolute: what relative paths of input files start from. */
  readonly folder: string;
  readonly chunks: AsyncIterable<Uint8Array>;
}

const formats: Readonly<Record<string, RowFormat>> = {
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.csv': 'csv',
  '.tsv': 'tsv',
  '.tab': 'tsv',
};

/**
 * A row file on this machine. Nothing is opened before the first chunk is asked for; a file that cannot be read throws
 * {@link RowFileError} then.
 *
 * @param format by default what the file's extension says
 * @throws RowFileError when it says nothing.
 */
export function rowFileAt(file: string, format?: RowFormat): RowFile {
  const known = format ?? formats[path.extname(file).toLowerCase()];
  if (known === undefined) {
    const extensions = Object.keys(formats).join(', ');
    throw new RowFileError([
      `The row file ${JSON.stringify(file)} has none of the extensions ${extensions}; rename it or say its format: jsonl, csv or tsv.`,
    ]);
  }
  return { format: known, folder: path.dirname(path.resolve(file)), chunks: withoutByteOrderMark(readChunks(file)) };
}

async function* readChunks(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of createReadStream(file)) yield chunk as Buffer;
  } catch (error) {
    const code = codeOf(error);
    throw new RowFileError([`The row file ${JSON.stringify(file)} cannot be read (${code}); check its path.`], {
      cause: error,
    });
  }
}

const markLength = 3;

/**
 * A file's bytes without the mark that some programs put before UTF-8.
 *
 * @throws RowFileError for a file in UTF-16, which spreadsheets call Unicode text.
 * @internal exported for tests
 */
export async function* withoutByteOrderMark(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (head === undefined) yield chunk;
    else {
      head = Buffer.concat([head, chunk]);
      if (head.length < markLength) continue;
      yield unmarked(head);
      head = undefined;
    }
  }
  if (head !== undefined) yield unmarked(head);
}

function unmarked(head: Buffer): Buffer {
  const mark = head.subarray(0, markLength).toString('hex');
  if (mark.startsWith('fffe') || mark.startsWith('feff')) {
    throw new RowFileError(['The row file is in UTF-16; save it as UTF-8.']);
  }
  return mark === 'efbbbf' ? head.subarray(markLength) : head;
}
