import { readFile } from 'node:fs/promises';
import { Longhaul } from '../../../src/client/longhaul';
import { eventually } from '../../support/eventually';
import { microsFor, swatch, writeSwatchPrice } from '../../support/swatch-costs';
import { fastTuning } from '../../support/task-environment';
import { TaskStack } from '../../support/task-stack';
import { temporaryFolder } from '../../support/temporary-folder';
import { PlainClient } from '../reference-service/plain-client';

const folder = temporaryFolder();
let stack: TaskStack;
let longhaul: Longhaul;
let service: PlainClient;
beforeAll(async () => {
  const prices = writeSwatchPrice(folder.path);
  stack = await TaskStack.open({ env: { LONGHAUL_PRICES_FILE: prices } });
  longhaul = new Longhaul({ client: stack.client, taskQueue: stack.taskQueue });
  service = new PlainClient(stack.service);
});
afterAll(async () => {
  await stack.close();
  folder.remove();
});

/** What the service itself says that the task took. */
async function costAtTheService(requestId: string | null): Promise<object> {
  const { cost_times } = await service.detail(requestId ?? '');
  return { currency: 'EUR', micros: microsFor(cost_times as Record<string, number>) };
}

describe('the cost of a task that was taken over or adopted', () => {
  it.each(['timer', 'activity'] as const)('is known of one that a retry took over, watched by %s', async (watch) => {
    const inputs = { '2:Wait.seconds': 3_600 };
    const input = { key: `taken-${watch}`, webAppId: swatch, inputs, watch, tuning: fastTuning };
    const first = await longhaul.start(input);
    await eventually(async () => (await first.status()).serviceStatus === 'Running');
    await stack.client.workflow.getHandle(first.workflowId).terminate('by hand');
    const second = await longhaul.start(input, { retry: true });
    await eventually(async () => (await second.status()).serviceStatus === 'Running');
    await second.stop();

    const { requestId, cost, status } = await second.result();
    expect(status).toBe('Canceled');
    expect(cost).toEqual(await costAtTheService(requestId));
  });

  it('is known of one that was made elsewhere when its app is told, and unknown otherwise', async () => {
    const [told, untold] = [await service.createTask(swatch, {}), await service.createTask(swatch, {})];
    const task = await longhaul.adopt(told, { webAppId: swatch, tuning: fastTuning });
    const { cost, manifest } = await task.result();
    expect(cost).toEqual(await costAtTheService(told));
    expect(JSON.parse(await readFile(manifest ?? '', 'utf8'))).toMatchObject({ webAppId: swatch, cost });
    expect((await task.status()).app).toBe(String(swatch));

    const { cost: unknown } = await (await longhaul.adopt(untold, { tuning: fastTuning })).result();
    expect(unknown).toBeNull();
    await expect(longhaul.adopt(untold, { webAppId: -1 })).rejects.toThrow('webAppId is -1');
  });

  it('stays in the manifest, with all that was known, when a task is archived again', async () => {
    const task = await longhaul.start({
      key: 'again',
      webAppId: swatch,
      inputs: { '2:Wait.seconds': 0 },
      tuning: fastTuning,
    });
    const { requestId, manifest, cost } = await task.result();
    const known: unknown = JSON.parse(await readFile(manifest ?? '', 'utf8'));
    expect(known).toMatchObject({ webAppId: swatch, values: { '2:Wait.seconds': 0 }, cost });
    await (await longhaul.adopt(requestId ?? '', { tuning: fastTuning })).result();

    const {
      webAppId,
      values,
      cost: kept,
    } = JSON.parse(await readFile(manifest ?? '', 'utf8')) as Record<string, unknown>;
    expect({ webAppId, values, cost: kept }).toEqual({ webAppId: swatch, values: { '2:Wait.seconds': 0 }, cost });
  });
});
