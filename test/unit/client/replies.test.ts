import type { BatchProgress } from '../../../src/contract/batch/batch-messages';
import { isBatchProgress } from '../../../src/client/replies';

const progress: BatchProgress = {
  ...{ batchId: 'photos', state: 'Running', source: null, startedAt: '2026-03-01T12:00:00.000Z' },
  ...{ rows: 1, badRows: 0, success: 0, failed: 0, canceled: 0, running: 1, waiting: 0, concurrency: 1 },
  ...{ perMinute: null, expectedEnd: null, failures: {}, lastFailures: [], problem: null, report: null },
  uploads: { files: 0, bytes: 0, shared: 0 },
};
const onRecord = { success: 1, failed: 0, canceled: 0, gone: 0 };
const dailyBudget = { account: 'studio', words: 'is reached', untilMs: 1_772_366_400_000 };

describe('the progress of a batch, as a worker of any version answers', () => {
  it.each([{}, { onRecord }, { dailyBudget }, { budget: null }])('is taken with %j', (more) => {
    expect(isBatchProgress({ ...progress, ...more })).toBe(true);
  });

  it.each([
    { onRecord: { ...onRecord, gone: 'none' } },
    { dailyBudget: { ...dailyBudget, words: undefined } },
    { dailyBudget: 'reached' },
    { rows: '1' },
  ])('is refused with %j, which commands could not print', (more) => {
    expect(isBatchProgress({ ...progress, ...more })).toBe(false);
  });
});
