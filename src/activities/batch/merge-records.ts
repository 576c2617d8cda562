import type { RowRecord } from '../../contract/batch-rows';

/**
 * Of two records under one key the one that stands: of the later create, or of the same one the later end. So it does
 * not matter in which order records come, nor how often.
 */
function standingRecord(one: RowRecord, other: RowRecord): RowRecord {
  if (one.createNumber !== other.createNumber) return one.createNumber > other.createNumber ? one : other;
  if (one.endedAt !== other.endedAt) return one.endedAt > other.endedAt ? one : other;
  return JSON.stringify(one) >= JSON.stringify(other) ? one : other;
}

/** All records by their keys, each key with the one that stands. */
export function mergedRecords(...sets: readonly Iterable<RowRecord>[]): Map<string, RowRecord> {
  const merged = new Map<string, RowRecord>();
  for (const set of sets) addRecords(merged, set);
  return merged;
}

/** Adds records to those that are known. */
export function addRecords(known: Map<string, RowRecord>, records: Iterable<RowRecord>): void {
  for (const record of records) {
    const former = known.get(record.key);
    known.set(record.key, former === undefined ? record : standingRecord(former, record));
  }
}
