import type { WorkflowHandle } from '@temporalio/client';
import { progressQuery } from '../../src/contract/batch/batch-messages';
import { abandonUpdate, rearchiveUpdate, recreateUpdate, statusQuery } from '../../src/contract/task-messages';
import { metadataOf } from '../support/evidence';
import { eventually } from '../support/eventually';
import { blocked, FakeService, seen } from '../support/fake-activities';
import { fakeBatchOf, fastBatchTuning, rowEnd } from '../support/fake-batch';
import { failureOf, fastTuning, TaskEnvironment, whenStatusIs } from '../support/task-environment';
import { brokenOutput, uncertain } from '../support/task-story';

const environment = TaskEnvironment.forSuite();

/** The summaries of its timers that run, as the timeline of the Web UI shows them. */
async function openTimers(workflow: Pick<WorkflowHandle, 'fetchHistory'>): Promise<string[]> {
  const { events } = await workflow.fetchHistory();
  const summaries = new Map<string, string>();
  for (const { timerStartedEventAttributes: started, userMetadata, ...event } of events ?? []) {
    const over = event.timerFiredEventAttributes ?? event.timerCanceledEventAttributes;
    if (started?.timerId != null) {
      summaries.set(started.timerId, Buffer.from(userMetadata?.summary?.data ?? []).toString());
    }
    if (over?.timerId != null) summaries.delete(over.timerId);
  }
  return [...summaries.values()];
}

async function whenTimerRuns(workflow: Pick<WorkflowHandle, 'fetchHistory'>, words: string): Promise<void> {
  await eventually(async () => (await openTimers(workflow)).some((summary) => summary.includes(words)), {
    withinMs: 60_000,
    what: `a timer that says: ${words}`,
  });
}

describe('the first page of a task that uploads', () => {
  it.concurrent('names a staged file by its own name first', async () => {
    const service = new FakeService();
    const file = `s3://staging/inputs/${'ab'.repeat(32)}/rocket.jpg`;
    await environment.withTask(service.activities, { inputs: { '1:Load.image': { file } } }, async (task) => {
      await task.result();
      const { events } = await task.fetchHistory();
      const summaries = (events ?? []).map(({ userMetadata }) =>
        Buffer.from(userMetadata?.summary?.data ?? []).toString(),
      );
      expect(summaries).toContainEqual(expect.stringMatching(/^"Upload `?rocket\.jpg of s3:/));
    });
  });

  it.concurrent('says where the reason of a retry is', async () => {
    const service = new FakeService();
    const { until, release } = blocked();
    service.onUpload = until;
    await environment.withTask(service.activities, { inputs: { '1:Load.image': { file: '/a.jpg' } } }, async (task) => {
      await eventually(async () => (await task.query(statusQuery)).waitingFor.includes('storeInput'));
      expect(JSON.stringify(await metadataOf(task))).toContain('nothing is created yet, so nothing is paid');
      release();
      await task.result();
    });
  });
});

describe('the first page of what waits for a person', () => {
  it.concurrent('has a timer that says so while a create is uncertain, for three events', async () => {
    const service = new FakeService({ createOutcomes: [uncertain] });
    await environment.withTask(service.activities, { inputs: {} }, async (task) => {
      await whenTimerRuns(task, 'Waits for you: adopt, recreate or abandon. User Metadata tells more');
      expect(await openTimers(task)).toHaveLength(1);
      const { events } = await task.fetchHistory();
      const create = (events ?? []).findIndex(({ activityTaskCompletedEventAttributes: event }) => event != null);
      // A workflow task of three events and the new status, as before; the timer, and what keeps older histories valid.
      expect((events ?? []).slice(create + 1).length).toBeLessThanOrEqual(4 + 3);
      await task.executeUpdate(abandonUpdate);
      expect(await failureOf(task)).toMatchObject({ type: 'CreateUncertain' });
      expect(await openTimers(task)).toEqual([]);
    });
  });

  it.concurrent('has no such timer for a task that needs nobody, or that a decision has freed', async () => {
    const service = new FakeService({ createOutcomes: [uncertain] });
    await environment.withTask(service.activities, { inputs: {} }, async (task) => {
      await whenStatusIs(task, 'CreateUncertain');
      await task.executeUpdate(recreateUpdate);
      await task.result();
      expect(await openTimers(task)).toEqual([]);
    });
    const untroubled = new FakeService();
    await environment.withTask(untroubled.activities, { inputs: {} }, async (task) => {
      await task.result();
      const { events } = await task.fetchHistory();
      expect(
        (events ?? []).filter(({ markerRecordedEventAttributes: event }) => event?.markerName === 'core_patch'),
      ).toEqual([]);
    });
  });

  it.concurrent('says so while outputs are missing, and what the task cost', async () => {
    const ended = { ...seen('Success'), cost: { currency: 'EUR', micros: 20_000 } };
    const service = new FakeService({ archiveFailures: [brokenOutput], script: [ended] });
    const tuning = { ...fastTuning, archivePauseMs: 60_000 };
    await environment.withTask(service.activities, { inputs: {}, tuning }, async (task) => {
      await whenTimerRuns(task, 'Waits for you: rearchive or abandon. User Metadata tells more');
      expect(await openTimers(task)).toHaveLength(1);
      const pageOf = async (): Promise<string> => (await metadataOf(task)).map(({ text }) => text).join('\n');
      expect(await pageOf()).toContain('- **Cost:** 0.02 EUR');
      expect(await pageOf()).not.toContain('Archived outputs');
      await task.executeUpdate(rearchiveUpdate);
      await task.result();
      expect(await pageOf()).toMatch(/\*\*Archived outputs:\*\* 1, 1 B[^]*0\.png[^]*manifest\.json/);
    });
  });

  it.concurrent('says how many rows of a batch wait, and what the others do', async () => {
    const batch = fakeBatchOf(environment.client, 3, { tuning: { ...fastBatchTuning, pollEveryMs: 30 } });
    batch.states = { Queuing: 1, CreateUncertain: 1, ArchiveIncomplete: 1 };
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await whenTimerRuns(run, '2 rows wait for you, User Metadata tells more; before');
      const { rowStates } = await run.query(progressQuery);
      expect(rowStates?.counts).toEqual(batch.states);
      const page = (await metadataOf(run)).map(({ text }) => text).join('\n');
      expect(page).toMatch(/Running rows:\*\* 1 \w+, 1 \w+, 1 \w+; as of /);
      expect(page).toContain(`Wait for you:** 2 rows: \`longhaul list --batch ${batch.id} --needs-person\``);
      for (const key of [...batch.running.keys()]) batch.end(rowEnd(key));
      await run.result();
    });
  });

  it.concurrent('says how many rows of a batch cannot go on, since when and why, until they can', async () => {
    const batch = fakeBatchOf(environment.client, 2, { tuning: { ...fastBatchTuning, pollEveryMs: 30 } });
    batch.states = { Creating: 2 };
    const words = 'The service refused the create for now (HTTP 503): busy';
    const since = '2026-01-01T00:01:12.345Z';
    const message = `createTask: ${words}`;
    batch.problem = { rows: 2, key: 'row-0', problem: { code: 'Retrying', message, since, remedy: null } };
    await environment.withBatch(batch.activities, batch.input, async (run) => {
      await whenTimerRuns(run, '2 rows with a problem, User Metadata tells more; before');
      const pageOf = async (): Promise<string> => (await metadataOf(run)).map(({ text }) => text).join('\n');
      expect(await pageOf()).toContain(
        `Problem:** \`Retrying since 2026-01-01 00:01:12 UTC: 2 rows, the first (row-0): createTask: ${words} longhaul list`,
      );
      batch.problem = undefined;
      await eventually(async () => !(await pageOf()).includes('Problem:'));
      for (const key of [...batch.running.keys()]) batch.end(rowEnd(key));
      await run.result();
    });
  });
});
