import { randomUUID } from 'node:crypto';
import { searchAttributes } from '../../../src/contract/search-attributes';
import { rowWorkflowId } from '../../../src/contract/workflow-ids';
import { BatchUnderTest, longRow } from './batch-under-test';

let batch: BatchUnderTest;
beforeAll(async () => {
  batch = await BatchUnderTest.open();
});
afterAll(() => batch.close());

let id: string;
beforeEach(() => {
  id = `b-${randomUUID()}`;
});

/** Starts a workflow that claims to be of this batch, and ends it. */
async function forge(workflowId: string): Promise<void> {
  const { client, taskQueue } = batch.stack;
  const forged = await client.workflow.start('task', {
    ...{ taskQueue, workflowId, args: [{}] },
    typedSearchAttributes: [{ key: searchAttributes.batch, value: id }],
  });
  await forged.terminate('by hand');
}

/** The ends of so many rows, and what was asked and answered. */
async function awaitEnds(enough: number, closedAfter: string): Promise<ReadonlyMap<string, unknown>> {
  const ends = new Map<string, unknown>();
  for (let from = { closedAfter, seenRuns: [] as readonly string[] }; ends.size < enough;) {
    const input = { id, from, enough: enough - ends.size, collectMs: 200 };
    const { ended, next } = await batch.run(({ awaitRowEnds }) => awaitRowEnds, input);
    for (const end of ended) {
      expect(ends.has(end.key)).toBe(false);
      ends.set(end.key, end);
    }
    from = next;
  }
  return ends;
}

describe('awaitRowEnds', () => {
  it('tells how each row ended once, by its own workflow, whatever else claims to be of the batch', async () => {
    const since = new Date().toISOString();
    const keys = ['a', 'b', 'c', 'd', 'e'];
    const rows = await batch.write([...keys.map((key) => ({ key })), longRow('cut-off')]);
    await forge(`task:${randomUUID()}`);
    await forge(rowWorkflowId(id, 'forged'));
    await batch.startRows(id, rows);
    await batch.stack.client.workflow.getHandle(rowWorkflowId(id, 'cut-off')).terminate('by hand');

    const ends = await awaitEnds(7, since);

    expect([...ends.keys()].toSorted()).toEqual([...keys, 'cut-off', 'forged'].toSorted());
    expect(ends.get('cut-off')).toMatchObject({ status: 'Failed', failure: { type: 'Terminated' } });
    const polled = await batch.ends(id, keys);
    expect(keys.map((key) => ends.get(key))).toEqual(polled);
    expect(polled.map(({ status, uploads }) => [status, uploads])).toEqual(
      keys.map(() => ['Success', { files: 0, bytes: 0, shared: 0 }]),
    );
  });

  it('does not tell the end of a run after which the row was started anew', async () => {
    const since = new Date().toISOString();
    const rows = await batch.write([longRow('again'), { key: 'other' }]);
    await batch.startRows(id, rows);
    await batch.stack.client.workflow.getHandle(rowWorkflowId(id, 'again')).terminate('by hand');
    const [cutOff] = await batch.ends(id, ['again']);
    expect(cutOff?.status).toBe('Failed');
    await batch.startRows(id, rows, { choice: { retryFailed: true } });

    expect([...(await awaitEnds(1, since)).keys()]).toEqual(['other']);
  });
});
