import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startTemporal } from '../../tools/temporal-server';
import { FakeService } from './fake-activities';
import { historyFolder, recordedNames, toText } from './recorded-history';
import { runChainOf } from './run-chain';
import { executionOf, type StartedTask, TaskEnvironment } from './task-environment';
import { type TaskStory, taskStories } from './task-stories';

/**
 * Lives stories on a real server and writes their histories down, one file for each run (test/replay/README.md): those
 * that have none yet, for a recorded one stands for tasks that are open.
 */
async function recordHistories(): Promise<void> {
  const recorded = new Set(recordedNames().map((name) => name.replace(/-\d+$/, '')));
  const server = await startTemporal({ shortTimers: true });
  process.env['LONGHAUL_TEST_TEMPORAL_ADDRESS'] = server.address;
  try {
    const environment = await TaskEnvironment.open();
    try {
      for (const story of taskStories) if (!recorded.has(story.name)) await record(environment, story);
    } finally {
      await environment.close();
    }
  } finally {
    await server.stop();
  }
}

async function record(environment: TaskEnvironment, story: TaskStory): Promise<void> {
  const service = new FakeService();
  const act = story.begin(service);
  await environment.withWorkers(service.activities, async (start) => {
    const task = await start(story.input, `task:recorded-${story.name}`);
    await act(task);
    const execution = await executionOf(task);
    if (execution !== story.execution) throw new Error(`${story.name} ended as ${execution}, not ${story.execution}`);
    await write(environment, story.name, task);
  });
}

async function write(environment: TaskEnvironment, name: string, task: StartedTask): Promise<void> {
  const chain = await runChainOf(environment.client, task.workflowId, task.firstExecutionRunId);
  chain.forEach(({ events }, index) => {
    const file = chain.length === 1 ? name : `${name}-${index + 1}`;
    writeFileSync(join(historyFolder, `${file}.json`), toText(events));
    process.stdout.write(`${file}: ${events.length} events\n`);
  });
}

recordHistories().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
