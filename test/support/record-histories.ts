import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NativeConnection } from '@temporalio/worker';
import { accountDayWorkflowId, spendUpdate } from '../../src/contract/account-day';
import type { SweepResult } from '../../src/contract/sweep';
import { type DayOperation, utcDay } from '../../src/money/day-operations';
import { webhookWorkflowId } from '../../src/contract/webhook';
import { startTemporal } from '../../tools/temporal-server';
import { type BatchStory, batchStories } from './batch-stories';
import { eventually } from './eventually';
import { FakeService } from './fake-activities';
import { FakeBatch } from './fake-batch';
import { historyFolder, historyOfRetriedRun, recordedNames, type RecordedWorkflow, toText } from './recorded-history';
import { runChainOf } from './run-chain';
import { executionOf, fastTuning, type StartedTask, TaskEnvironment, testWorkflowId } from './task-environment';
import type { TaskStory } from './task-story';
import { TaskWorkers } from './task-workers';
import { temporalAddress } from './temporal-connection';
import { allTaskStories } from './waiting-stories';

/**
 * Lives stories on a real server and writes their histories down, one file for each run (test/replay/README.md): those
 * that have none yet, for a recorded one stands for tasks that are open.
 */
async function recordHistories(): Promise<void> {
  const server = await startTemporal({ shortTimers: true });
  process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'] = server.address;
  try {
    const environment = new TaskEnvironment();
    await environment.open();
    try {
      for (const story of missing('task', allTaskStories)) await recordTask(environment, story);
      for (const { name } of missing('task', [{ name: historyOfRetriedRun }]))
        await recordRetriedRun(environment, name);
      for (const story of missing('batch', batchStories)) await recordBatch(environment, story);
      for (const { name } of missing('account-day', [{ name: 'spent' }])) await recordDay(environment, name);
      for (const { name } of missing('sweep', [{ name: 'found' }])) await recordSweep(environment, name);
      for (const { name } of missing('webhook', [{ name: 'delivered' }])) await recordWebhook(environment, name);
    } finally {
      await environment.close();
    }
  } finally {
    await server.stop();
  }
}

function missing<Story extends { readonly name: string }>(
  workflow: RecordedWorkflow,
  stories: readonly Story[],
): readonly Story[] {
  mkdirSync(historyFolder(workflow), { recursive: true });
  const recorded = new Set(recordedNames(workflow).map((name) => name.replace(/-\d+$/, '')));
  return stories.filter(({ name }) => !recorded.has(name));
}

async function recordTask(environment: TaskEnvironment, story: TaskStory): Promise<void> {
  const service = new FakeService();
  const act = story.begin(service);
  await environment.withWorkers(service.activities, async (start) => {
    const task = await start(
      story.input,
      'batch' in story.input ? testWorkflowId(story.input) : `task:recorded-${story.name}`,
    );
    await act(task);
    expectEnding(story, await executionOf(task));
    await write(environment, 'task', story.name, task);
  });
}

/** Its first run is over before a worker takes it up, and what it was started with claims a state. */
async function recordRetriedRun(environment: TaskEnvironment, name: string): Promise<void> {
  const taskQueue = `test-${randomUUID()}`;
  const workflowId = `task:recorded-${name}`;
  const { client } = environment;
  const { firstExecutionRunId } = await client.workflow.start('task', {
    ...{ taskQueue, workflowId, workflowRunTimeout: '2 s', retry: { initialInterval: '1 s' } },
    args: [{ webAppId: 7, inputs: {}, tuning: fastTuning, continueAsNewState: { requestId: 'of-another' } }],
  });
  const task = client.workflow.getHandle(workflowId);
  const isRetried = async (): Promise<boolean> => (await task.describe()).runId !== firstExecutionRunId;
  await eventually(isRetried, { what: 'the second run' });
  const native = await NativeConnection.connect({ address: temporalAddress() });
  const workers = await TaskWorkers.start(native, taskQueue, new FakeService().activities);
  try {
    expectEnding({ name, execution: 'COMPLETED' }, await executionOf(task));
    await write(environment, 'task', name, { workflowId, firstExecutionRunId: (await task.describe()).runId });
  } finally {
    await workers.stop();
    await native.close();
  }
}

async function recordBatch(environment: TaskEnvironment, story: BatchStory): Promise<void> {
  const batch = new FakeBatch(environment.client, `recorded-${story.name}`, story.rows, story.input, 10);
  const act = story.begin(batch);
  await environment.withBatch(batch.activities, batch.input, async (run) => {
    await act(run);
    expectEnding(story, await executionOf(run));
    await write(environment, 'batch', story.name, run);
  });
}

/** One of a day that spends, refuses and is told again. */
async function recordDay(environment: TaskEnvironment, name: string): Promise<void> {
  const input = { account: 'recorded', day: utcDay(Date.now()) };
  const limit = { currency: 'EUR', micros: 50_000 };
  const id = (number: number) => ({ task: String(number).padStart(10, '0'), create: 1 });
  const price = { app: 5, taskMicros: 20_000, isFixed: true };
  const requests: readonly (readonly DayOperation[])[] = [
    [1, 2, 3].map((number) => ({ kind: 'hold', ...id(number), ...price })),
    [{ kind: 'reserve', by: 'aa', ...id(1), ...price }],
    [
      { kind: 'reserve', by: 'bb', ...id(1), ...price },
      { kind: 'unhold', ...id(2) },
    ],
    [{ kind: 'settle', ...id(1), cost: { currency: 'EUR', micros: 20_000 } }],
    [
      { kind: 'reserve', by: 'cc', ...id(4), ...price },
      { kind: 'release', by: 'cc', ...id(4) },
    ],
  ];
  await environment.withWorkers(new FakeService().activities, async (_, taskQueue) => {
    const day = await environment.client.workflow.start('accountDay', {
      ...{ taskQueue, workflowId: accountDayWorkflowId(input), args: [input] },
    });
    for (const operations of requests) await day.executeUpdate(spendUpdate, { args: [{ limit, operations }] });
    await day.cancel();
    expectEnding({ name, execution: 'CANCELLED' }, await executionOf(day));
    await write(environment, 'account-day', name, day);
  });
}

/** One that finds something. */
async function recordSweep(environment: TaskEnvironment, name: string): Promise<void> {
  const sweep = (): Promise<SweepResult> => {
    const safe = { archived: 7, followed: 1, nothingToSave: 0, superseded: 0 };
    const endedAt = '2026-03-01T12:00:00.000Z';
    return Promise.resolve({
      endedAt,
      safe,
      unsafe: { running: 1 },
      handled: 0,
      changesSince: null,
      next: null,
      report: 'report',
      text: '1 not safe.',
    });
  };
  await environment.withWorkers({ ...new FakeService().activities, sweep }, async (_, taskQueue) => {
    const swept = await environment.client.workflow.start('sweep', {
      ...{ taskQueue, workflowId: 'longhaul-sweep-recorded', args: [{ windowDays: 7 }] },
    });
    expectEnding({ name, execution: 'COMPLETED' }, await executionOf(swept));
    await write(environment, 'sweep', name, swept);
  });
}

/** One that a task starts, and that is taken at once. */
async function recordWebhook(environment: TaskEnvironment, name: string): Promise<void> {
  const service = new FakeService();
  await environment.withWorkers(service.activities, async (start) => {
    const task = await start({ webhook: 'orders' }, 'task:recorded-webhook-delivered');
    await task.result();
    const sent = await eventually(() => service.calls.webhooks[0]);
    const workflowId = webhookWorkflowId(task.workflowId, sent?.id ?? '');
    const webhook = environment.client.workflow.getHandle(workflowId);
    expectEnding({ name, execution: 'COMPLETED' }, await executionOf(webhook));
    const firstExecutionRunId = (await webhook.describe()).runId;
    await write(environment, 'webhook', name, { workflowId, firstExecutionRunId });
  });
}

function expectEnding({ name, execution }: Pick<TaskStory | BatchStory, 'name' | 'execution'>, ended: string): void {
  if (ended !== execution) throw new Error(`${name} ended as ${ended}, not ${execution}`);
}

async function write(
  environment: TaskEnvironment,
  workflow: RecordedWorkflow,
  name: string,
  { workflowId, firstExecutionRunId }: Pick<StartedTask, 'workflowId' | 'firstExecutionRunId'>,
): Promise<void> {
  const chain = await runChainOf(environment.client, workflowId, firstExecutionRunId);
  chain.forEach(({ events }, index) => {
    const file = chain.length === 1 ? name : `${name}-${index + 1}`;
    writeFileSync(join(historyFolder(workflow), `${file}.json`), toText(events));
    process.stdout.write(`${workflow} ${file}: ${events.length} events\n`);
  });
}

recordHistories().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
