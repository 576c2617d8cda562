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
    problem: null,
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

  it('has no batch that completed without a row that succeeded', () => {
    const counts = { rows: 2, success: 0, failed: 2, canceled: 0, running: 0, notStarted: 0 };
    expect(listText([{ ...over, counts }], nowMs)).toMatch(/^Failed /m);
  });

  it('says which batch waits for a person, whose rows do not run, and which cannot create', () => {
    const counts = { rows: 2, success: 0, failed: 0, canceled: 0, running: 2, notStarted: 0 };
    const open = { ...over, state: 'Running', execution: 'RUNNING', isOver: false, endedAt: null, counts } as const;
    const nextAttemptAt = new Date(nowMs + 8_000).toISOString();
    const since = over.startedAt;
    const problem = { code: 'Retrying', message: 'createTask: HTTP 429', since, remedy: null, nextAttemptAt } as const;
    const waits = { code: 'NeedsPerson', message: 'Two wait.', since: null, remedy: 'longhaul list' } as const;
    const text = listText(
      [
        { ...open, ending: undefined, needPerson: 2, problem: waits },
        { ...open, ending: undefined, batchId: 'busy', workflowId: 'batch:busy', problem },
      ],
      nowMs,
    );
    expect(text).toMatch(/^Waiting for you .* 2 +0 +0 +0 +0 +0 +photos$/m);
    expect(text).toMatch(/^batch:photos: NeedsPerson: Two wait\. longhaul list$/m);
    expect(text).toMatch(/^Running \(Retrying\) .* 2 +0 +busy$/m);
    expect(text).toMatch(/^batch:busy: Retrying since .*, next try in 8 s: createTask: HTTP 429$/m);
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
