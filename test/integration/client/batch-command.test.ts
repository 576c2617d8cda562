import { randomUUID } from 'node:crypto';
import { Longhaul } from '../../../src/client/longhaul';
import { runCommandLine } from '../../../src/commands/program';
import { progressQuery } from '../../../src/contract/batch/batch-messages';
import { eventually } from '../../support/eventually';
import { finalFailure } from '../../support/fake-activities';
import { FakeBatch, rowEnd } from '../../support/fake-batch';
import { FakeContext } from '../../support/fake-context';
import { FaultProxy } from '../../support/fault-proxy';
import { type RunningBatch, TaskEnvironment } from '../../support/task-environment';
import { temporalAddress } from '../../support/temporal-connection';

const tuning = { refillMs: 20, pollEveryMs: 60_000, recordRows: 10, retryMaxMs: 50 };
const rowCount = 6;
const patiently = { withinMs: 60_000 };

const environment = TaskEnvironment.forSuite();

function open(address = temporalAddress()): FakeContext {
  return new FakeContext({ TEMPORAL_ADDRESS: address });
}

async function run(...args: string[]): Promise<FakeContext> {
  const context = open();
  await runCommandLine(['batch', ...args], context);
  return context;
}

/** A batch of six rows, three at a time, each of which runs until the test ends it. */
async function withBatch(
  during: (batch: FakeBatch, workflow: RunningBatch) => Promise<void>,
  pollEveryMs = tuning.pollEveryMs,
): Promise<void> {
  const more = { tuning: { ...tuning, pollEveryMs }, concurrency: 3 };
  const batch = new FakeBatch(environment.client, `b-${randomUUID()}`, rowCount, more);
  await environment.withBatch(batch.activities, batch.input, async (workflow) => {
    await whenItSays(workflow, { running: 3 });
    await during(batch, workflow);
  });
}

/** Waits until the batch itself says so: its rows are started a moment before it knows. */
async function whenItSays(workflow: RunningBatch, wanted: { running: number; failed?: number }): Promise<void> {
  const isSo = async (): Promise<boolean> => {
    const { running, failed } = await workflow.query(progressQuery);
    return running === wanted.running && failed === (wanted.failed ?? 0);
  };
  await eventually(isSo, { ...patiently, what: `the batch to say ${JSON.stringify(wanted)}` });
}

function endAll(batch: FakeBatch): void {
  batch.endsAtOnce = ({ key }) => rowEnd(key);
  for (const key of [...batch.running.keys()]) batch.end(rowEnd(key));
}

async function progressOf(id: string): Promise<unknown> {
  const { stdout } = await run('status', id, '--json');
  return (JSON.parse(stdout.text) as { progress: unknown }).progress;
}

describe('the commands of a batch that runs', () => {
  it.concurrent('pause and resume it, and change how many rows run at a time', async () => {
    await withBatch(async (batch) => {
      const paused = await run('pause', batch.id);
      expect(paused).toMatchObject({ exitCode: 0 });
      expect(paused.stdout.text).toBe(
        `batch:${batch.id}: No more rows are started until resume; those that run go on.\n`,
      );
      expect(await progressOf(batch.id)).toMatchObject({ state: 'Paused', running: 3, waiting: 3 });

      expect(await run('resume', `batch:${batch.id}`)).toMatchObject({ exitCode: 0 });
      const changed = await run('set-concurrency', batch.id, '5', '--json');
      expect(JSON.parse(changed.stdout.text)).toEqual({
        workflowId: `batch:${batch.id}`,
        words: expect.stringContaining('At most 5 rows') as string,
      });
      await eventually(() => batch.running.size === 5, patiently);
      expect(await progressOf(batch.id)).toMatchObject({ state: 'Running', concurrency: 5 });
    });
  });

  it.concurrent('tell a person how far it is', async () => {
    await withBatch(async (batch, workflow) => {
      batch.end(rowEnd('row-0', { status: 'Failed', failure: { type: 'TaskFailed', message: 'no such node' } }));
      await whenItSays(workflow, { running: 3, failed: 1 });
      batch.states = { CreateUncertain: 1, Queuing: 2 };

      await eventually(async () => (await run('status', batch.id)).stdout.text.includes('running rows'), patiently);
      const { stdout } = await run('status', batch.id);

      expect(stdout.text).toMatch(/^ {2}running rows +2 Queuing, 1 CreateUncertain; as of .* UTC$/m);
      expect(stdout.text).toMatch(/^ {2}now +3 running \(at most 3\), 2 waiting; as of .* UTC$/m);
      expect(stdout.text).toMatch(/^ {2}failures +1 TaskFailed$/m);
      expect(stdout.text).toContain('failed: row-0 (line 1): no such node');
    }, 100);
  });

  it.concurrent('drain it, so that it ends with the rows that run', async () => {
    await withBatch(async (batch) => {
      expect(await run('drain', batch.id)).toMatchObject({ exitCode: 0 });
      const following = run('status', batch.id, '--follow');
      endAll(batch);

      expect((await following).stdout.text).toMatch(/^Drained, not every row was started {2}batch:/);
      expect(batch.started).toHaveLength(3);
    });
  });

  it.concurrent('start the rows again that failed', async () => {
    await withBatch(async (batch) => {
      batch.end(rowEnd('row-0', { status: 'Failed', failure: { type: 'TaskFailed', message: 'no' } }));
      expect(await run('retry', batch.id)).toMatchObject({ exitCode: 0 });
      const following = run('status', batch.id, '--follow');
      endAll(batch);

      expect(await following).toMatchObject({ exitCode: 0 });
      expect(batch.started.filter((key) => key === 'row-0')).toHaveLength(2);
    });
  });

  it.concurrent('start only unpaid rows again once it is over, and say what of it is paid', async () => {
    await withBatch(async (batch, workflow) => {
      const early = await run('retry', batch.id, '--unpaid');
      expect(early).toMatchObject({ exitCode: 2 });
      expect(early.stderr.text).toContain(`batch:${batch.id}: It still runs: retry its unpaid rows once it is over`);
      expect(early.stderr.text).not.toContain('cannot be used');
      batch.reportedFailures = { TaskRejected: 1 };
      endAll(batch);
      await workflow.result();

      const { exitCode, stdout } = await run('retry', batch.id, '--unpaid');

      expect(exitCode).toBe(0);
      expect(stdout.text).toContain('only rows that were refused unpaid are tried again');
      const longhaul = await Longhaul.connect({ env: { TEMPORAL_ADDRESS: temporalAddress() } });
      try {
        const again = longhaul.batch(batch.id);
        expect(await again.input()).toMatchObject({ retryUnpaid: true, retryFailed: false });
        await again.result();
      } finally {
        await longhaul.close();
      }
    });
  });

  it.concurrent('start nothing where no row was refused unpaid', async () => {
    await withBatch(async (batch, workflow) => {
      batch.reportedFailures = { TaskFailed: 1 };
      endAll(batch);
      await workflow.result();

      const { exitCode, stderr } = await run('retry', batch.id, '--unpaid');
      expect(exitCode).toBe(2);
      expect(stderr.text).toContain('None of its rows was refused before anything was paid.');
    });
  });

  it.concurrent('have no table before its end, and none of their own to give it afterwards', async () => {
    await withBatch(async (batch, workflow) => {
      const early = await run('report', batch.id);
      expect(early).toMatchObject({ exitCode: 2 });
      expect(early.stderr.text).toMatch(/: It still runs, so there is no result yet: "longhaul batch status \S+" says/);
      expect(early.stderr.text).not.toContain('cannot be used');

      endAll(batch);
      await workflow.result();
      const late = await run('pause', batch.id);
      expect(late).toMatchObject({ exitCode: 2 });
      expect(late.stderr.text).toContain(`The batch batch:${batch.id} is over already`);
      expect(await run('stop', batch.id)).toMatchObject({ exitCode: 2 });
    });
  });

  it.concurrent('stop it, and print what was done', async () => {
    await withBatch(async (batch) => {
      const { exitCode, stdout } = await run('stop', batch.id);

      expect(stdout.text).toMatch(/^Stopped {2}batch:/);
      expect(batch.stopped.sort()).toEqual(['row-0', 'row-1', 'row-2']);
      // The hand-made report counts no row as canceled.
      expect(exitCode).toBe(0);
    });
  });
});

describe('following a batch', () => {
  it.concurrent('waits while Temporal is away, says so, and goes on', async () => {
    const proxy = await FaultProxy.start(Number(temporalAddress().split(':').at(-1)));
    try {
      await withBatch(async (batch) => {
        const context = open(`127.0.0.1:${proxy.port}`);
        const following = runCommandLine(['batch', 'status', batch.id, '--follow', '--json'], context);
        await eventually(() => context.stdout.text.includes('"running":3'), patiently);

        await proxy.refuse();
        await eventually(() => context.stderr.text.includes('cannot be reached'), patiently);
        expect(context.stdout.text).toContain('{"event":"warning","message":"Temporal at');
        await proxy.accept();
        endAll(batch);
        await following;

        expect(context).toMatchObject({ exitCode: 0 });
        expect(context.stdout.text.trimEnd().split('\n').at(-1)).toContain('{"event":"ended",');
      });
    } finally {
      await proxy.close();
    }
  });

  it.concurrent('ends with Ctrl-C, and the batch goes on', async () => {
    await withBatch(async (batch, workflow) => {
      const context = open();
      const following = runCommandLine(['batch', 'status', batch.id, '--follow'], context);
      await eventually(() => context.stderr.text.includes('3 running'), patiently);
      expect(context.pressCtrlC()).toBe(true);
      await following;

      expect(context.exitCode).toBe(130);
      expect(context.stderr.text).toContain(`longhaul batch status ${batch.id} --follow`);
      expect((await workflow.describe()).status.name).toBe('RUNNING');
    });
  });

  it.concurrent('tells of a batch that was terminated by hand, and that its rows go on', async () => {
    await withBatch(async (batch, workflow) => {
      const following = run('status', batch.id, '--follow', '--json');
      await workflow.terminate('by hand');

      const { exitCode, stderr, stdout } = await following;
      expect(exitCode).toBe(5);
      expect(stderr.text).toMatch(/WorkflowTerminated.*those that ran go on/);
      expect(JSON.parse(stdout.text.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
        error: { type: 'WorkflowTerminated', exitCode: 5 },
      });
    });
  });
});

describe('a batch whose workers are gone', () => {
  it.concurrent('is told no end, but that no worker answers', async () => {
    const batch = new FakeBatch(environment.client, `b-${randomUUID()}`, rowCount, { tuning, concurrency: 3 });
    const context = open();
    let following: Promise<void> | undefined;
    const workflow = await environment.withWorkers(batch.activities, async (_start, taskQueue) => {
      const workflowId = `batch:${batch.id}`;
      const started = await environment.client.workflow.start('batch', { taskQueue, workflowId, args: [batch.input] });
      await whenItSays(started as RunningBatch, { running: 3 });
      // No end is expected before five rows ended.
      for (const key of ['row-0', 'row-1', 'row-2', 'row-3', 'row-4']) {
        await eventually(() => batch.started.includes(key), patiently);
        batch.end(rowEnd(key));
      }
      await eventually(async () => (await run('status', batch.id)).stdout.text.includes('over at about'), patiently);
      following = runCommandLine(['batch', 'status', batch.id, '--follow', '--json'], context);
      await eventually(() => context.stdout.text.includes('"expectedEnd":"'), patiently);
      return started;
    });
    try {
      const { stdout } = await run('status', batch.id);
      expect(stdout.text).toContain('No worker answered');
      expect(stdout.text).not.toContain('over at about');
      await eventually(
        () => context.stdout.text.includes('{"event":"warning","message":"No worker answered'),
        patiently,
      );
      expect(context.stderr.text).toContain('longhaul worker');
    } finally {
      context.pressCtrlC();
      await following;
      await workflow.terminate('the test is over');
    }
  });
});

describe('a batch that was run again with rows that are refused', () => {
  it.concurrent(
    'still tells of the run that ended, with the refusal beside it, and retries the rows of that',
    async () => {
      const batch = new FakeBatch(environment.client, `b-${randomUUID()}`, rowCount, { tuning });
      batch.endsAtOnce = ({ key }) => rowEnd(key);
      await environment.withBatch(batch.activities, batch.input, async (workflow) => {
        await workflow.result();
        const { taskQueue } = await workflow.describe();
        const longhaul = new Longhaul({ client: environment.client, taskQueue });
        batch.unopened = finalFailure('RowsChanged', '2 rows have other content.');
        for (let again = 0; again < 2; again += 1) {
          const refused = await longhaul.startBatch({ ...batch.input, source: 'refused.csv' });
          await expect(refused.result()).rejects.toMatchObject({ failureType: 'RowsChanged' });
        }

        const status = await run('status', batch.id, '--json');
        expect(JSON.parse(status.stdout.text)).toMatchObject({
          ...{ execution: 'COMPLETED', isOver: true, progress: { success: rowCount } },
          refused: { reason: '2 rows have other content.' },
        });
        expect((await run('status', batch.id)).stdout.text).toMatch(/refused +a later run .*2 rows have/);
        expect((await run('report', batch.id)).stdout.text).toMatch(/^Completed {2}batch:/);

        batch.unopened = undefined;
        expect(await run('retry', batch.id)).toMatchObject({ exitCode: 0 });
        const again = longhaul.batch(batch.id);
        expect(await again.input()).toMatchObject({ retryFailed: true, rows: batch.input.rows });
        expect(await again.input()).not.toMatchObject({ source: 'refused.csv' });
        await again.result();
      });
    },
  );
});
