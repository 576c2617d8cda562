import { createReadStream } from 'node:fs';
import path from 'node:path';
import { errorCode } from '../domain/text';
import { RowFileError } from './row-problem';

/** How a row file is written. */
export type RowFormat = 'jsonl' | 'csv' | 'tsv';

/** A row file that is ready to be read, once. */
export interface RowFile {
  readonly format: RowFormat;
  /** Absolute: what relative paths of input files start from. */
  readonly folder: string;
  /** As they stand in the file; what it begins with is looked at when its rows are read. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

const workbookExtensions = ['.xlsx', '.xlsm', '.xls', '.ods', '.numbers'];
const formats: Readonly<Record<string, RowFormat>> = {
  '.jsonl': 'jsonl',
  '.ndjson': 'jsonl',
  '.json': 'jsonl',
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
  const extension = path.extname(file).toLowerCase();
  const known = format ?? formats[extension];
  if (known !== undefined) {
    return { format: known, folder: path.dirname(path.resolve(file)), chunks: readChunks(file) };
  }
  const problem = workbookExtensions.includes(extension)
    ? 'is a workbook; save it as "CSV UTF-8"'
    : `has none of the extensions ${Object.keys(formats).join(', ')}; rename it or say its format (--format jsonl, csv or tsv)`;
  throw new RowFileError([`The row file ${JSON.stringify(file)} ${problem}.`]);
}

async function* readChunks(file: string): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of createReadStream(file)) yield chunk as Buffer;
  } catch (error) {
    const code = errorCode(error);
    throw new RowFileError([`The row file ${JSON.stringify(file)} cannot be read (${code}); check its path.`], {
      cause: error,
    });
  }
}
