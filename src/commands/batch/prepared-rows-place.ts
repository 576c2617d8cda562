import path from 'node:path';
import { givenKey } from '../../rows';

/** Where the prepared rows of a row file are put: in its own folder, which the workers must be able to read anyway. */
export function preparedRowsFolder(rowFile: string): string {
  return path.join(path.dirname(rowFile), '.longhaul');
}

/** The id of a batch that nobody named: the row file's name without its ending, made a key. */
export function batchIdOfFile(rowFile: string): string {
  return givenKey(path.parse(rowFile).name).key;
}
