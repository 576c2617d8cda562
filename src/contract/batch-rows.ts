import type { RowRecord, RowUploads } from '../formats/row-end';

export type { RowEnd, RowOutput, RowRecord, RowUploads } from '../formats/row-end';

/** How a row ended. */
export type RowStatus = RowRecord['status'];

/** A row that runs: what the batch needs to know of it. */
export type RunningRow = Pick<RowRecord, 'key' | 'index' | 'line' | 'page' | 'digest'>;

export const noUploads: RowUploads = { files: 0, bytes: 0, shared: 0 };

export function addUploads(one: RowUploads, other: RowUploads): RowUploads {
  return { files: one.files + other.files, bytes: one.bytes + other.bytes, shared: one.shared + other.shared };
}

export const maxRowOutputs = 20;
/** Of the outputs in one end, as JSON, in bytes: ends are carried through histories, hundreds at a time. */
export const maxRowOutputBytes = 16_000;
export const maxRowWords = 300;
/** So many types of failure are counted by themselves; the rest as `Other`. */
export const maxFailureTypes = 50;
