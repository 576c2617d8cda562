import type { BatchHandle } from '../../../../src/client/batch/batch-handle';
import type { BatchView } from '../../../../src/client/batch/batch-view';
import { listText, readCounts, type ShownBatch } from '../../../../src/commands/batch/batch-list';

const nowMs = Date.parse('2026-01-02T04:00:00.000Z');
const over: ShownBatch = {
  ...{
    workflowId: 'batch:photos',
    batchId: 'photos',
    state: 'Ended',
    execution: 'COMPLETED',
    isOver: true,
    files: null,
    stuck: null,
  },
  ...{ startedAt: '2026-01-02T03:00:00.000Z', endedAt: '2026-01-02T03:10:00.000Z', ending: 'completed' },
  counts: { rows: 9, success: 4, failed: 1, canceled: 1, running: 0, notStarted: 3 },
};

describe('the list of batches', () => {
  it('says how many rows were not started, also of a batch that completed: a stopped run was before it', () => {
    const [head = '', line = ''] = listText([over], nowMs).split('\n');
    expect(head).toMatch(/ROWS +SUCCEEDED +FAILED +CANCELED +RUNNING +NOT STARTED +BATCH$/);
    expect(line).toMatch(/^Completed .* 9 +4 +1 +1 +0 +3 +photos$/);
  });

  it.each(['CANCELLED', 'FAILED'] as const)(
    'counts the rows of a batch that ended as %s as its status does',
    async (execution) => {
      const progress = { rows: 9, success: 4, failed: 1, canceled: 1, running: 2, waiting: 3 };
      const batch = {
        status: () => Promise.resolve({ progress } as BatchView),
        result: () => Promise.reject(new Error('not asked')),
      } satisfies Pick<BatchHandle, 'status' | 'result'>;

      expect(await readCounts(batch, { isOver: true, execution, state: 'Ended' })).toEqual({
        counts: { rows: 9, success: 4, failed: 1, canceled: 1, running: 0, notStarted: 3 },
      });
      expect(await readCounts(batch, { isOver: true, execution, state: 'Refused' })).toEqual({ counts: null });
    },
  );
});
