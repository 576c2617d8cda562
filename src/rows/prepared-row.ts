import type { NewTaskInput } from '../contract/task-input';

/** A row that can become a task. Plain JSON. */
export interface PreparedRow {
  /** Its place among the rows of the file, bad ones counted, from 0. */
  readonly index: number;
  /** Of its first line in the row file, from 1. */
  readonly line: number;
  /** Matches `[A-Za-z0-9._-]{1,80}`. */
  readonly key: string;
  /** As the row gave it, when it gave one. */
  readonly originalKey: string | null;
  /** Checked; paths of input files are absolute. */
  readonly input: NewTaskInput;
  /** The input digest of `input`: the same that a task of its own would have. */
  readonly digest: string;
  /** The columns that were asked for, as text. */
  readonly columns: Readonly<Record<string, string>>;
}

/** One line of a file of prepared rows, as JSON, in bytes: a page of them is the result of an activity. */
export const maxPreparedRowBytes = 1024 * 1024;

/** A row as a line of a file of prepared rows. */
export function preparedRowLine(row: PreparedRow): string {
  return `${JSON.stringify(row)}\n`;
}
