import { randomUUID } from 'node:crypto';
import { Longhaul } from '../../../src/client/longhaul';
import { runCommandLine } from '../../../src/commands/program';
import { noSpending } from '../../../src/money/batch-budget';
import { eventually } from '../../support/eventually';
import { finalFailure } from '../../support/fake-activities';
import { FakeBatch, fastBatchTuning, rowEnd } from '../../support/fake-batch';
import { FakeContext } from '../../support/fake-context';
import { TaskEnvironment } from '../../support/task-environment';
import { temporalAddress } from '../../support/temporal-connection';

const environment = TaskEnvironment.forSuite();

async function run(...args: string[]): Promise<FakeContext> {
  const context = new FakeContext({ TEMPORAL_ADDRESS: temporalAddress() });
  await runCommandLine(['batch', ...args], context);
  return context;
}

interface Listed {
  readonly batchId: string;
  readonly state: string | null;
  readonly isOver: boolean;
}

/** The batch as the list has it, once that knows that it is over. */
async function listedWhenOver(id: string): Promise<Listed & { readonly line: string }> {
  let found: Listed | undefined;
  await eventually(
    async () => {
      const { stdout } = await run('list', '--limit', '1000', '--json');
      const { batches } = JSON.parse(stdout.text) as { batches: Listed[] };
      found = batches.find(({ batchId }) => batchId === id);
      return found?.isOver === true;
    },
    { what: 'the list to have the end of the batch' },
  );
  const { stdout } = await run('list', '--limit', '1000');
  return { ...found!, line: stdout.text.split('\n').find((line) => line.endsWith(`  ${id}`)) ?? '' };
}

describe('a batch whose first run is refused', () => {
  it('is listed as refused, and its status says why', async () => {
    const batch = new FakeBatch(environment.client, `b-${randomUUID()}`, 3, { tuning: fastBatchTuning });
    batch.unopened = finalFailure('RowsChanged', '2 rows have other content.');
    await environment.withBatch(batch.activities, batch.input, async (workflow) => {
      await expect(workflow.result()).rejects.toThrow();

      expect(await listedWhenOver(batch.id)).toMatchObject({
        state: 'Refused',
        line: expect.stringMatching(/^Refused .* - +- +- +- +- +b-/) as string,
      });
      expect((await run('list', '--limit', '1000')).stdout.text).toContain(
        `The last run of batch:${batch.id} was refused before it started a row: longhaul batch status ${batch.id} says why.`,
      );
      const longhaul = new Longhaul({ client: environment.client });
      expect(await longhaul.batch(batch.id).status()).toMatchObject({
        refused: null,
        failure: { type: 'RowsChanged', message: '2 rows have other content.' },
      });
      const { stdout } = await run('status', batch.id);
      expect(stdout.text).toMatch(/^ {2}state +Refused, over after .*\n {2}failure +RowsChanged: 2 rows have/m);
    });
  });
});

describe('a batch that ran before, whose rows the worker cannot read in a later run', () => {
  it('keeps its status, which tells of the refused run as well', async () => {
    const batch = new FakeBatch(environment.client, `b-${randomUUID()}`, 3, { tuning: fastBatchTuning });
    const failure = { type: 'TaskFailed', message: 'out of memory' };
    batch.endsAtOnce = ({ key, index }) => rowEnd(key, index === 1 ? { status: 'Failed', failure } : {});
    await environment.withBatch(batch.activities, batch.input, async (workflow) => {
      await workflow.result();
      batch.unopened = finalFailure('InputUnusable', 'The prepared rows cannot be used.');
      await run('retry', batch.id);
      const handle = environment.client.workflow.getHandle(`batch:${batch.id}`);
      await expect(handle.result()).rejects.toThrow();

      expect(await new Longhaul({ client: environment.client }).batch(batch.id).status()).toMatchObject({
        execution: 'COMPLETED',
        progress: { success: 2, failed: 1 },
        refused: { reason: expect.stringContaining('The prepared rows cannot be used.') as string },
        failure: null,
      });
      expect(await listedWhenOver(batch.id)).toMatchObject({ state: 'Refused' });
    });
  });
});

describe('a batch that ended', () => {
  it('is listed by the word that its table and its status have', async () => {
    const batch = new FakeBatch(environment.client, `b-${randomUUID()}`, 3, { tuning: fastBatchTuning });
    batch.endsAtOnce = ({ key }) => rowEnd(key);
    await environment.withBatch(batch.activities, batch.input, async (workflow) => {
      await workflow.result();
      expect((await listedWhenOver(batch.id)).line).toMatch(/^Completed /);
      expect((await run('status', batch.id)).stdout.text).toMatch(/^ {2}state +Completed, /m);
      expect((await run('report', batch.id)).stdout.text).toMatch(/^Completed {2}batch:/);
    });
  });
});

describe('a batch that was run again and stopped', () => {
  it('tells how many of its rows had ended before, as one that was not stopped', async () => {
    const batch = new FakeBatch(environment.client, `b-${randomUUID()}`, 3, { tuning: fastBatchTuning });
    batch.onRecord.add('row-0');
    batch.opened = { gone: 2 };
    await environment.withBatch(batch.activities, batch.input, async (workflow) => {
      await eventually(() => batch.running.size === 2);
      await workflow.cancel();
      await expect(workflow.result()).rejects.toThrow();

      const stopped = new Longhaul({ client: environment.client }).batch(batch.id);
      const onRecord = { success: 1, failed: 0, canceled: 0, gone: 2 };
      expect((await stopped.status()).progress).toMatchObject({ success: 1, canceled: 2, onRecord });
      expect(await stopped.result()).toMatchObject({ ending: 'stopped', onRecord });
      const { stdout } = await run('report', batch.id);
      expect(stdout.text).toMatch(/^ {2}on record +1 {2}ended in an earlier run, and not run again$/m);
    });
  });
});

describe('a batch with a budget that is over', () => {
  it('is retried with that budget, and the command says so and what to do', async () => {
    const input = { tuning: fastBatchTuning, budget: '1EUR' };
    const batch = new FakeBatch(environment.client, `b-${randomUUID()}`, 1, input);
    batch.opened = { spending: noSpending, prices: { unpriced: 0, firstUnpriced: null, currencies: {} } };
    batch.endsAtOnce = ({ key }) => rowEnd(key);
    await environment.withBatch(batch.activities, batch.input, async (workflow) => {
      await workflow.result();
      const { stdout } = await run('retry', batch.id);
      expect(stdout.text).toContain(
        `It has the budget that it was started with, 1EUR, of which what was paid before is`,
      );
      expect(stdout.text).toContain(`longhaul batch set-budget ${batch.id} AMOUNT`);
      await environment.client.workflow.getHandle(`batch:${batch.id}`).result();
    });
  });
});
