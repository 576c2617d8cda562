import { randomUUID } from 'node:crypto';
import type { ScenarioRule } from '../../../reference-service/scenarios/scenario-book';
import type { StartRowsResult } from '../../../src/contract/batch/batch-activities';
import type { RowsReference } from '../../../src/contract/batch/batch-input';
import type { RowRecord } from '../../../src/contract/batch/batch-rows';
import { searchAttributes } from '../../../src/contract/search-attributes';
import { rowWorkflowId } from '../../../src/contract/workflow-ids';
import { eventually } from '../../support/eventually';
import { forgettingMs, forgetWorkflow } from '../../support/forget-workflow';
import { BatchUnderTest } from './batch-under-test';

let batch: BatchUnderTest;
beforeAll(async () => {
  batch = await BatchUnderTest.open();
});
afterAll(() => batch.close());

let id: string;
beforeEach(() => {
  id = `b-${randomUUID()}`;
  batch.stack.service.scenarios.clear();
});

const fails: ScenarioRule['scenario'] = { name: 'fail', message: 'out of paint' };

/** What the service does to the next creates. */
function nextCreates(scenario: ScenarioRule['scenario'], times = 1): void {
  batch.stack.service.scenarios.add({ endpoint: 'create', scenario, times });
}

async function whenCreated(key: string): Promise<void> {
  await eventually(
    async () => (await batch.describe(id, key)).typedSearchAttributes.get(searchAttributes.requestId) !== undefined,
    { withinMs: 60_000, what: `the task of ${key} to be created` },
  );
}

/** Another pass over the rows that did not succeed. */
function retry(rows: RowsReference, activityId?: string): Promise<StartRowsResult> {
  return batch.startRows(id, rows, { mode: 'failed', ...(activityId !== undefined && { activityId }) });
}

/** How each kind of row comes to its end: what the service does to its create, and what is done to it then. */
const kinds: Record<string, { readonly scenario?: ScenarioRule['scenario']; readonly end?: () => Promise<void> }> = {
  failed: { scenario: fails },
  rejected: { scenario: { name: 'refuse', reason: 'badParameter' } },
  stopped: {
    scenario: { name: 'hold' },
    end: async () => {
      await whenCreated('stopped');
      await batch.run(({ stopRows }) => stopRows, { id, keys: ['stopped'] });
    },
  },
  terminated: {
    end: async () => {
      await whenCreated('terminated');
      await batch.stack.client.workflow.getHandle(rowWorkflowId(id, 'terminated')).terminate('by hand');
    },
  },
  succeeded: {},
};

/** Runs one row after the other to the end of its kind, and records all but the success that nobody recorded. */
async function runKinds(): Promise<{ rows: RowsReference; records: ReadonlyMap<string, RowRecord> }> {
  const keys = [...Object.keys(kinds), 'unrecorded'];
  const rows = await batch.write(keys.map((key) => ({ key, input: { inputs: { '2:Wait.seconds': 0.5 } } })));
  const records = new Map<string, RowRecord>();
  for (const [skip, key] of keys.entries()) {
    const { scenario, end } = kinds[key] ?? {};
    if (scenario !== undefined) nextCreates(scenario);
    const { running } = await batch.startRows(id, rows, { cursor: { page: 0, skip }, limit: 1 });
    await end?.();
    const isRecorded = key !== 'unrecorded';
    const [ended] = isRecorded ? await batch.record(id, rows, running) : await batch.ends(id, [key]);
    records.set(key, { ...ended!, ...running[0]! });
  }
  return { rows, records };
}

describe('a retry', () => {
  it.each(['knows', 'has forgotten'])(
    'of rows whose tasks Temporal %s costs nothing that was not asked for, by what became of each',
    async (memory) => {
      const { rows, records } = await runKinds();
      expect(
        [...records].map(([key, { status, failure, createNumber }]) => [key, status, failure?.type, createNumber]),
      ).toEqual([
        ['failed', 'Failed', 'TaskFailed', 1],
        ['rejected', 'Failed', 'TaskRejected', 1],
        ['stopped', 'Canceled', undefined, 1],
        ['terminated', 'Failed', 'Terminated', 1],
        ['succeeded', 'Success', undefined, 1],
        ['unrecorded', 'Success', undefined, 1],
      ]);
      expect(records.get('failed')?.failure?.message).toContain('out of paint');
      const isForgotten = memory === 'has forgotten';
      const { client } = batch.stack;
      if (isForgotten)
        await Promise.all([...records.keys()].map((key) => forgetWorkflow(client, rowWorkflowId(id, key))));
      const before = batch.creates;

      const again = await batch.startRows(id, rows, { choice: { retryFailed: true } });

      const unrecorded = isForgotten ? again.running.slice(-1) : again.ended;
      expect(unrecorded.map(({ key }) => key)).toEqual(['unrecorded']);
      const retried = again.running.slice(0, 4);
      expect(retried.map(({ key }) => key)).toEqual(['failed', 'rejected', 'stopped', 'terminated']);
      expect(again.onRecord).toEqual({ success: 1, failed: 0, canceled: 0 });
      const ends = await batch.record(id, rows, retried);
      expect(ends.map(({ status, createNumber }) => [status, createNumber])).toEqual([
        ['Success', 2],
        ['Success', 1],
        ['Success', 2],
        ['Success', 1],
      ]);
      // The same create is sent again only where the service had refused it; the terminated task is taken over.
      const sameTask = ends.map(({ key, requestId }) => requestId === records.get(key)?.requestId);
      expect(sameTask).toEqual([false, false, false, true]);
      const [found] = await batch.ends(id, ['unrecorded']);
      expect(found).toMatchObject({ status: 'Success', requestId: records.get('unrecorded')?.requestId });
      expect(batch.creates - before).toBe(3);
    },
    forgettingMs,
  );

  it('of unpaid rows alone pays none whose task failed since, although the record still has it as refused', async () => {
    const rows = await batch.write([{ key: 'a' }]);
    nextCreates({ name: 'refuse', reason: 'badParameter' });
    await batch.record(id, rows, (await batch.startRows(id, rows)).running);
    nextCreates(fails);
    const unpaid = await batch.startRows(id, rows, { choice: { retryUnpaid: true } });
    expect(unpaid.running).toMatchObject([{ key: 'a' }]);
    // Paid, and not recorded: the batch was terminated, or a person retried the row by itself.
    expect(await batch.ends(id, ['a'])).toMatchObject([{ createNumber: 1, failure: { type: 'TaskFailed' } }]);
    const before = batch.creates;

    const again = await batch.startRows(id, rows, { choice: { retryUnpaid: true } });

    expect(again.running).toEqual([]);
    expect(again.ended).toMatchObject([{ key: 'a', createNumber: 1, failure: { type: 'TaskFailed' } }]);
    expect(batch.creates).toBe(before);
  });

  it('whose attempt died after it started the row again is not made a second time, though the row failed once more', async () => {
    const rows = await batch.write([{ key: 'a' }]);
    const before = batch.creates;
    nextCreates(fails, 3);
    await batch.record(id, rows, (await batch.startRows(id, rows)).running);
    expect((await retry(rows, '9')).running).toMatchObject([{ key: 'a' }]);
    await batch.ends(id, ['a']);

    const secondAttempt = await retry(rows, '9');

    expect(secondAttempt.running).toEqual([]);
    expect(secondAttempt.ended).toMatchObject([{ key: 'a', createNumber: 2, failure: { type: 'TaskFailed' } }]);
    expect(batch.creates - before).toBe(2);
  });

  it('of rows that were refused unpaid pays no other: none that was never started, none that was paid since', async () => {
    const rows = await batch.write([{ key: 'a' }, { key: 'unstarted' }]);
    const { scenario } = kinds['rejected']!;
    nextCreates(scenario!);
    await batch.record(id, rows, (await batch.startRows(id, rows, { limit: 1 })).running);
    nextCreates(scenario!);

    const again = await batch.startRows(id, rows, { choice: { retryUnpaid: true, allowChanged: true } });

    expect(again).toMatchObject({ running: [{ key: 'a' }], ended: [], next: null });
    expect(await batch.ends(id, ['a'])).toMatchObject([{ createNumber: 1, failure: { type: 'TaskRejected' } }]);
    nextCreates(fails);
    await batch.startRows(id, rows, { choice: { retryFailed: true }, limit: 1 });
    const [paid] = await batch.ends(id, ['a']);
    expect(paid).toMatchObject({ createNumber: 1, failure: { type: 'TaskFailed' } });
    const before = batch.creates;

    const late = await batch.startRows(id, rows, { choice: { retryUnpaid: true, allowChanged: true } });

    expect(late).toMatchObject({ running: [], ended: [{ key: 'a', requestId: paid?.requestId }], next: null });
    expect(batch.creates).toBe(before);
  });

  it('is made only when it is asked for, and touches no row that succeeded', async () => {
    const rows = await batch.write([{ key: 'a' }, { key: 'fine' }]);
    nextCreates(fails);
    const first = await batch.startRows(id, rows, { limit: 1 });
    await batch.record(id, rows, first.running);
    await batch.record(id, rows, (await batch.startRows(id, rows, { cursor: first.next! })).running);
    const before = batch.creates;

    expect(await batch.startRows(id, rows)).toMatchObject({ running: [], onRecord: { success: 1, failed: 1 } });
    const asked = await retry(rows);

    expect(asked).toMatchObject({ running: [{ key: 'a' }], ended: [], onRecord: { success: 1 }, next: null });
    await batch.record(id, rows, asked.running);
    expect(await retry(rows)).toMatchObject({ running: [], ended: [], onRecord: { success: 2 } });
    expect(batch.creates - before).toBe(1);
    const report = await batch.run(({ reportBatch }) => reportBatch, { id, rows });
    expect(report).toMatchObject({ success: 2, failed: 0, outputs: 2 });
  });
});
