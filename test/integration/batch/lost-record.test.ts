import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RowsReference } from '../../../src/contract/batch/batch-input';
import { rowWorkflowId } from '../../../src/contract/workflow-ids';
import { forgettingMs, forgetWorkflow } from '../../support/forget-workflow';
import { BatchUnderTest } from './batch-under-test';

let batch: BatchUnderTest;
beforeAll(async () => {
  batch = await BatchUnderTest.open();
});
afterAll(() => batch.close());

function write(seconds: number): Promise<RowsReference> {
  return batch.write([{ key: 'a', input: { inputs: { '2:Wait.seconds': seconds } } }]);
}

describe('a row of which neither Temporal nor the batch’s record knows any more', () => {
  it(
    'is refused with another input, instead of giving out the former one’s result, until that is allowed',
    async () => {
      const id = `b-${randomUUID()}`;
      const former = await write(0.1);
      await batch.record(id, former, (await batch.startRows(id, former)).running);
      await forgetWorkflow(batch.stack.client, rowWorkflowId(id, 'a'));
      await rm(join(batch.stack.archive, 'batches', id), { recursive: true });
      const before = batch.creates;
      const rows = await write(0.2);

      const [refused] = await batch.record(id, rows, (await batch.startRows(id, rows)).running);
      expect(refused).toMatchObject({ status: 'Failed', failure: { type: 'InputChanged' }, requestId: null });
      const again = await batch.startRows(id, rows, { choice: { retryFailed: true } });
      expect(again).toMatchObject({ running: [], ended: [{ failure: { type: 'InputChanged' } }] });
      expect(batch.creates).toBe(before);

      const allowed = await batch.startRows(id, rows, { choice: { allowChanged: true } });
      const [end] = await batch.record(id, rows, allowed.running);
      expect(end).toMatchObject({ status: 'Success', createNumber: 2 });
      expect(batch.creates).toBe(before + 1);
    },
    forgettingMs,
  );
});
