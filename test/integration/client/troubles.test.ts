import { findLateRows } from '../../../src/client/batch/late-rows';
import { Sweeps } from '../../../src/client/sweeps';
import { readClockAheadMs } from '../../../src/client/server-clock';
import { searchAttributes } from '../../../src/contract/search-attributes';
import { batchWorkflowId, rowWorkflowId } from '../../../src/contract/workflow-ids';
import { eventually } from '../../support/eventually';
import { ClientEnvironment, smallInput } from './client-environment';

const hourMs = 3_600_000;
let environment: ClientEnvironment;
beforeAll(async () => {
  environment = await ClientEnvironment.open();
});
afterAll(() => environment.close());

it('reads the clock of Temporal on this machine as this machine’s', async () => {
  expect(Math.abs((await readClockAheadMs(environment.temporal)) ?? NaN)).toBeLessThan(5_000);
});

describe('a scheduled sweep', () => {
  let sweeps: Sweeps;
  beforeAll(() => {
    const { temporal: client, address, taskQueue } = environment;
    sweeps = new Sweeps({ client, address, taskQueue, webUiUrl: null });
  });
  afterAll(() => sweeps.remove());

  /** No worker runs it, so it runs until it is ended here. */
  const newestRuns = (isRunning: boolean) =>
    eventually(async () => {
      const { newest } = await sweeps.status();
      return (newest?.execution === 'RUNNING') === isRunning ? newest : null;
    });
  const fail = async (): Promise<void> => {
    const running = await newestRuns(true);
    await environment.temporal.workflow.getHandle(running?.workflowId ?? '').terminate();
    await newestRuns(false);
  };

  it('is installed where it is missing, and only there', async () => {
    expect(await sweeps.alarm()).toBeNull();
    expect([await sweeps.installMissing(), await sweeps.installMissing()]).toEqual([true, false]);
    await fail();
    expect(await sweeps.alarm()).toMatchObject({ isTriggered: false });
  });

  it('runs at once after a task was terminated, and not again for it, also when it fails', async () => {
    const task = await environment.longhaul.start(smallInput);
    await environment.temporal.workflow.getHandle(task.workflowId).terminate();
    await eventually(async () => (await sweeps.alarm())?.isTriggered);
    await newestRuns(true);
    expect(await sweeps.alarm()).toMatchObject({ isTriggered: false });
    await fail();
    // A sweep that began in the same moment may have missed it, so that one more runs.
    const last = await eventually(async () => {
      if ((await sweeps.alarm())?.isTriggered !== true) return (await sweeps.status()).newest;
      await fail();
      return undefined;
    });
    for (let again = 0; again < 5; again += 1) expect(await sweeps.alarm()).toMatchObject({ isTriggered: false });
    expect((await sweeps.status()).newest).toEqual(last);
  });
});

it('names rows that are at the service for longer than half an hour, and none that is not there or not that old', async () => {
  const { temporal, taskQueue } = environment;
  const batch = `late-${taskQueue}`;
  const start = async (type: string, workflowId: string, status?: string): Promise<void> => {
    const typedSearchAttributes = [{ key: searchAttributes.batch, value: batch }];
    if (status !== undefined) typedSearchAttributes.push({ key: searchAttributes.status, value: status });
    await temporal.workflow.start(type, { workflowId, taskQueue, typedSearchAttributes });
  };
  await start('batch', batchWorkflowId(batch));
  await start('task', rowWorkflowId(batch, 'hangs'), 'Running');
  await start('task', rowWorkflowId(batch, 'waits'), 'Creating');

  const late = await eventually(async () => {
    const found = await findLateRows(temporal, taskQueue, -hourMs);
    return found.length > 0 && found;
  });
  expect(late).toEqual([{ batch, count: 1, shown: [rowWorkflowId(batch, 'hangs')], afterMs: hourMs / 2 }]);
  expect(await findLateRows(temporal, taskQueue, 0)).toEqual([]);
  for (const key of ['hangs', 'waits']) await temporal.workflow.getHandle(rowWorkflowId(batch, key)).terminate();
  await temporal.workflow.getHandle(batchWorkflowId(batch)).terminate();
});
