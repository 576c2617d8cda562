import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { DailyBudgets } from '../../../src/activities/daily-budgets';
import type { RowTasks } from '../../../src/activities/dependencies';
import type { DayRequest } from '../../../src/contract/account-day';
import type { RowChoice } from '../../../src/contract/batch/batch-input';
import { searchAttributes } from '../../../src/contract/search-attributes';
import { rowWorkflowId } from '../../../src/contract/workflow-ids';
import { DailyBudget } from '../../../src/money/daily-budget';
import { eventually } from '../../support/eventually';
import { forgettingMs, forgetWorkflow } from '../../support/forget-workflow';
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

/** Waits until the service has created the row's task, and tells its request id. */
async function whenCreated(key: string): Promise<string> {
  const requestId = await eventually(
    async () => (await batch.describe(id, key)).typedSearchAttributes.get(searchAttributes.requestId),
    { withinMs: 60_000, what: `the task of ${key} to be created` },
  );
  return requestId ?? '';
}

async function terminate(key: string): Promise<void> {
  await batch.stack.client.workflow.getHandle(rowWorkflowId(id, key)).terminate('by hand');
}

describe('startRows', () => {
  it('starts each row as a task of its own, in the words of the row or else of the batch', async () => {
    const rows = await batch.write([
      { key: 'caf-e', originalKey: 'café', columns: { city: 'Köln', unused: 'x' } },
      { key: 'own', input: { archive: 'elsewhere', watch: 'timer' }, columns: { city: 'Bonn' } },
    ]);
    const names = '{batch}/{key}/{city}-{index}{ext}';

    const started = await batch.startRows(id, rows, { defaults: { archive: 'photos', watch: 'activity', names } });

    expect(started).toMatchObject({ ended: [], onRecord: { success: 0, failed: 0, canceled: 0 }, next: null });
    expect(started.running.map(({ key, index, line, page }) => ({ key, index, line, page }))).toEqual([
      { key: 'caf-e', index: 0, line: 1, page: 0 },
      { key: 'own', index: 1, line: 2, page: 0 },
    ]);
    const { memo, typedSearchAttributes } = await batch.describe(id, 'caf-e');
    expect(memo).toMatchObject({ originalKey: 'café', createNumber: 1, inputDigest: started.running[0]?.digest });
    expect(typedSearchAttributes.get(searchAttributes.batch)).toBe(id);
    const handle = batch.stack.client.workflow.getHandle(rowWorkflowId(id, 'own'));
    const { events = [] } = await handle.fetchHistory();
    const payload = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
    expect(JSON.parse(Buffer.from(payload ?? []).toString())).toMatchObject({
      ...{ webAppId: 5, archive: 'elsewhere', watch: 'timer' },
      batch: { id, key: 'own', names: { template: names, columns: { city: 'Bonn' } } },
    });
    const ends = await batch.ends(id, ['caf-e', 'own']);
    expect(ends).toMatchObject([
      { status: 'Success', failure: null },
      { status: 'Success', outputCount: 1 },
    ]);
    const [output] = ends[0]?.outputs ?? [];
    expect(output).toMatchObject({ bytes: (await readFile(output?.path ?? '')).length });
  });

  it('finds what an attempt before started also when the daily budget has no room any more, and starts no other', async () => {
    const rows = await batch.write([longRow('a'), longRow('b'), longRow('c')]);
    const first = await batch.startRows(id, rows, { activityId: '1', limit: 2 });
    const full = {
      spend: (_day: unknown, { operations }: DayRequest) => {
        return Promise.resolve({ outcomes: operations.map(() => 'noRoom' as const), view: new DailyBudget().view() });
      },
    };
    const price = { currency: 'EUR', taskMicros: 1, time: null };
    const limits = new Map([['default', { currency: 'EUR', micros: 1 }]]);
    const dailyBudgets = new DailyBudgets({ limits, prices: { find: () => price }, days: full });

    const second = await batch.startRows(id, rows, { activityId: '1', dailyBudgets });

    expect(second.running).toEqual(first.running);
    expect(second.running.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(second).toMatchObject({ next: { page: 0, skip: 2 }, dailyBudget: { account: 'default' } });
    await expect(batch.describe(id, 'c')).rejects.toThrow(/not found/i);
    await batch.run(({ stopRows }) => stopRows, { id, keys: ['a', 'b'] });
    await batch.ends(id, ['a', 'b']);
  });

  it('starts nothing twice, whether the first tasks run, are over or are on record', async () => {
    const rows = await batch.write([longRow('long'), { key: 'quick' }]);
    const before = batch.creates;
    const first = await batch.startRows(id, rows);
    await batch.ends(id, ['quick']);
    await whenCreated('long');

    const second = await batch.startRows(id, rows);

    expect(first.running.map(({ key }) => key)).toEqual(['long', 'quick']);
    expect(second.running).toEqual([first.running[0]]);
    expect(second.ended).toMatchObject([{ key: 'quick', status: 'Success', page: 0, line: 2, outputCount: 1 }]);
    await batch.run(({ recordRows }) => recordRows, { id, digest: rows.digest, records: second.ended });
    const third = await batch.startRows(id, rows, { choice: { retryFailed: true } });
    expect(third).toMatchObject({ running: [{ key: 'long' }], ended: [], onRecord: { success: 1, failed: 0 } });
    expect(batch.creates - before).toBe(2);
    await terminate('long');
  });

  it('goes on where it stopped, a page at a time and no more rows than there are places', async () => {
    const rows = await batch.write([{ key: 'a' }, { key: 'b' }, { key: 'c' }, { key: 'd' }], 3);

    const first = await batch.startRows(id, rows, { limit: 2 });
    const second = await batch.startRows(id, rows, { limit: 2, cursor: first.next! });
    const third = await batch.startRows(id, rows, { limit: 2, cursor: second.next! });

    const keys = [first, second, third].map(({ running }) => running.map(({ key }) => key));
    expect(keys).toEqual([['a', 'b'], ['c'], ['d']]);
    expect([first.next, second.next, third.next]).toEqual([{ page: 0, skip: 2 }, { page: 1, skip: 0 }, null]);
    expect(third.running).toMatchObject([{ page: 1, index: 3, line: 4 }]);
    await batch.ends(id, ['a', 'b', 'c', 'd']);
  });

  it('finds the tasks that an attempt started which died half-way', async () => {
    const rows = await batch.write(['a', 'b', 'c', 'd'].map(longRow));
    const { rowTasks } = batch;
    let starts = 0;
    const dying: RowTasks = {
      find: (row) => rowTasks.find(row),
      poll: (batchId, key) => rowTasks.poll(batchId, key),
      closedRows: (asked) => rowTasks.closedRows(asked),
      stop: (batchId, key) => rowTasks.stop(batchId, key),
      cancelBatch: (batchId) => rowTasks.cancelBatch(batchId),
      start: async (row) => {
        starts += 1;
        if (starts > 2) throw new Error('the worker died');
        return await rowTasks.start(row);
      },
    };
    const before = batch.creates;
    await expect(batch.startRows(id, rows, { activityId: '7', rowTasks: dying })).rejects.toThrow('the worker died');
    const both = (): Promise<unknown> => Promise.all(['a', 'b'].map((key) => batch.describe(id, key)));
    await eventually(both, { what: 'two rows to be started' });

    const found = await batch.startRows(id, rows, { onlyFound: true });
    const again = await batch.startRows(id, rows, { activityId: '7' });

    expect(found.running.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(found).toMatchObject({ ended: [], onRecord: { success: 0, failed: 0, canceled: 0 } });
    expect(again.running.map(({ key }) => key)).toEqual(['a', 'b', 'c', 'd']);
    await Promise.all(['a', 'b', 'c', 'd'].map(whenCreated));
    expect(batch.creates - before).toBe(4);
    await Promise.all(['a', 'b', 'c', 'd'].map(terminate));
  });

  it('refuses a row whose outputs could not be named or whose input is none, before anything is paid', async () => {
    const signed = 'https://photos.example/a.png?X-Amz-Signature=abc';
    const rows = await batch.write([
      { key: 'nameless', columns: { town: 'x' } },
      { key: 'signed', input: { inputs: { '1:LoadImage.image': { file: signed } } }, columns: { city: 'x' } },
    ]);
    const before = batch.creates;

    const started = await batch.startRows(id, rows, {
      defaults: { archive: 'a', watch: 'activity', names: '{batch}/{key}/{city}-{index}{ext}' },
    });

    expect(started.running).toEqual([]);
    expect(started.ended).toMatchObject([
      { key: 'nameless', status: 'Failed', failure: { type: 'InputInvalid' }, requestId: null },
      { key: 'signed', status: 'Failed', failure: { type: 'InputInvalid' }, requestId: null },
    ]);
    expect(started.ended.map(({ failure }) => failure?.message)).toEqual([
      expect.stringContaining('no column "city"'),
      expect.stringContaining('X-Amz-Signature'),
    ]);
    expect(JSON.stringify(started)).not.toContain('Signature=abc');
    expect(batch.creates).toBe(before);
  });
});

describe('a row whose content changed', () => {
  it('is refused while the former task runs or is over, and run anew once that is allowed', async () => {
    const former = await batch.write([longRow('a')]);
    const changed = await batch.write([{ key: 'a' }]);
    const [running] = (await batch.startRows(id, former)).running;
    await whenCreated('a');
    const before = batch.creates;

    const atOnce = await batch.startRows(id, changed, { choice: { allowChanged: true, retryFailed: true } });
    expect(atOnce.running).toEqual([]);
    expect(atOnce.ended).toMatchObject([
      { key: 'a', status: 'Failed', failure: { type: 'InputChanged' }, digest: running?.digest },
    ]);
    expect(atOnce.ended[0]?.failure?.message).toMatch(/runs with another input.*once it is over/);
    await batch.run(({ recordRows }) => recordRows, { id, digest: changed.digest, records: atOnce.ended });
    await terminate('a');
    expect((await batch.startRows(id, changed, { choice: { retryFailed: true } })).onRecord).toMatchObject({
      failed: 1,
    });
    // A stop before the row was started again: its former task tells nothing of it.
    const found = await batch.startRows(id, changed, { choice: { allowChanged: true }, onlyFound: true });
    expect(found).toMatchObject({ running: [], ended: [] });
    expect(batch.creates).toBe(before);

    const allowed = await batch.startRows(id, changed, { choice: { allowChanged: true } });

    expect(allowed.running).toMatchObject([{ key: 'a' }]);
    expect(await batch.record(id, changed, allowed.running)).toMatchObject([{ status: 'Success', createNumber: 2 }]);
    expect(batch.creates).toBe(before + 1);
    expect((await batch.startRows(id, changed, { choice: { allowChanged: true } })).onRecord).toMatchObject({
      success: 1,
    });
  });

  it(
    'is found by its record when Temporal has forgotten its task, and its former result is not taken for the new one',
    async () => {
      const former = await batch.write([{ key: 'a' }]);
      await batch.run(({ openBatch }) => openBatch, { id, rows: former, choice: {} });
      const records = await batch.record(id, former, (await batch.startRows(id, former)).running);
      await forgetWorkflow(batch.stack.client, rowWorkflowId(id, 'a'));
      const changed = await batch.write([{ key: 'a', input: { inputs: { '1:EmptyImage.width': 24 } } }]);
      const before = batch.creates;

      const opening = (choice: RowChoice) => batch.run(({ openBatch }) => openBatch, { id, rows: changed, choice });
      await expect(opening({})).rejects.toMatchObject({
        type: 'RowsChanged',
        details: [{ changed: 1, changedRows: [{ line: 1, key: 'a' }] }],
      });
      await opening({ allowChanged: true });
      expect(await batch.startRows(id, changed)).toMatchObject({ running: [], ended: [], onRecord: { success: 1 } });
      expect(batch.creates).toBe(before);
      const { running } = await batch.startRows(id, changed, { choice: { allowChanged: true } });

      const [record] = await batch.record(id, changed, running);
      expect(record).toMatchObject({ status: 'Success', createNumber: 2 });
      expect(record?.requestId).not.toBe(records[0]?.requestId);
      expect(batch.creates).toBe(before + 1);
    },
    forgettingMs,
  );
});

describe('pollRows', () => {
  it(
    'tells the ends of rows whose tasks were terminated or are gone, and nothing of those that run',
    async () => {
      const rows = await batch.write([longRow('runs'), longRow('terminated'), { key: 'gone' }]);
      await batch.startRows(id, rows);
      const requestId = await whenCreated('terminated');
      await terminate('terminated');
      await batch.ends(id, ['gone']);
      await forgetWorkflow(batch.stack.client, rowWorkflowId(id, 'gone'));

      const { ended } = await batch.run(({ pollRows }) => pollRows, { id, keys: ['runs', 'terminated', 'gone'] });

      expect(ended).toMatchObject([
        { key: 'terminated', status: 'Failed', requestId, failure: { type: 'Terminated' }, outputs: [] },
        { key: 'gone', status: 'Failed', requestId: null, failure: { type: 'Terminated' } },
      ]);
      expect(ended[0]?.failure?.message).toContain('was terminated');
      expect(ended[1]?.failure?.message).toContain(`There is no task ${rowWorkflowId(id, 'gone')}`);
      await terminate('runs');
    },
    forgettingMs,
  );
});

describe('stopRows', () => {
  it('stops what runs, confirmed by the service, and takes no offence at what is over or gone', async () => {
    const rows = await batch.write([longRow('a'), longRow('b'), { key: 'over' }]);
    await batch.startRows(id, rows);
    const requestIds = await Promise.all(['a', 'b'].map(whenCreated));
    await batch.ends(id, ['over']);

    await batch.run(({ stopRows }) => stopRows, { id, keys: ['a', 'over', 'b', 'never-started'] });
    await batch.run(({ stopRows }) => stopRows, { id, keys: ['a', 'b'] });

    const ends = await batch.ends(id, ['a', 'b', 'over']);
    expect(ends).toMatchObject([
      { status: 'Canceled', requestId: requestIds[0], failure: null },
      { status: 'Canceled', requestId: requestIds[1], failure: null },
      { status: 'Success' },
    ]);
    const states = requestIds.map((requestId) => batch.stack.service.tasks.find(requestId)?.status);
    expect(states).toEqual(['Canceled', 'Canceled']);
  });
});
