import type { BatchProgress, BatchResult } from '../../src/contract/batch/batch-messages';

export const startedAt = '2026-03-01T12:00:00.000Z';

/** A batch half-way. */
export function progressOf(more: Partial<BatchProgress> = {}): BatchProgress {
  return {
    ...{ batchId: 'photos', state: 'Running', source: 'photos.csv', startedAt, rows: 2_000, badRows: 0 },
    ...{ success: 1_200, failed: 30, canceled: 4, running: 100, waiting: 666, concurrency: 100 },
    ...{ perMinute: 12.34, expectedEnd: '2026-03-01T12:02:05.000Z', failures: {}, lastFailures: [] },
    ...{ uploads: { files: 0, bytes: 0, shared: 0 } },
    ...{ problem: null, report: null },
    ...more,
  };
}

/** A batch that is over. */
export function resultOf(more: Partial<BatchResult> = {}): BatchResult {
  return {
    ...{ batchId: 'photos', rows: 3, badRows: 0, ending: 'completed' },
    ...{ success: 3, failed: 0, canceled: 0, notStarted: 0, outputs: 3, outputBytes: 1_500_000 },
    ...{ jsonl: '/archive/batches/photos/results.jsonl', csv: '/archive/batches/photos/results.csv' },
    ...{ uploads: { files: 0, bytes: 0, shared: 0 }, failures: {}, slowest: [], unsuccessful: [] },
    ...more,
  };
}
