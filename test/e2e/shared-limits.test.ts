import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { eventually } from '../support/eventually';
import { ProcessStack } from '../support/process-stack';

/** Of the account, all workers together. */
const createsPerSecond = 3;
const taskCount = 24;
const webAppId = 5;
const spanMs = 3_000;

let stack: ProcessStack;
beforeAll(async () => {
  stack = await ProcessStack.open();
});
afterAll(async () => {
  await stack.close();
});

/** How many workers the log of the worker last said share the limits. */
function workersIn(logFile: string): unknown {
  const lines = readFileSync(logFile, 'utf8').trim().split('\n');
  const counts = lines.flatMap((line): unknown[] => {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null && 'workers' in entry ? [entry.workers] : [];
  });
  return counts.at(-1);
}

it('three workers send as many creates a second as one worker would', async () => {
  const env = { ...stack.env, LONGHAUL_CREATES_PER_SECOND: String(createsPerSecond) };
  for (let count = 0; count < 3; count += 1) await stack.startWorker(env);
  await eventually(() => stack.logFiles.every((file) => workersIn(file) === 3), {
    ...{ withinMs: 90_000, everyMs: 250 },
    what: 'each worker to count three',
  });

  const tasks = await Promise.all(
    Array.from({ length: taskCount }, () => stack.longhaul.start({ key: randomUUID(), webAppId, inputs: {} })),
  );
  await Promise.all(tasks.map((task) => task.result()));

  const sentAtMs = stack.service.ledger.entries({ endpoint: 'create' }).map(({ at }) => Date.parse(at));
  expect(sentAtMs).toHaveLength(taskCount);
  const inSpan = sentAtMs.map((from) => sentAtMs.filter((at) => at >= from && at < from + spanMs).length);
  // A worker that sent nothing for a while may send a second's worth at once, and one at least.
  expect(Math.max(...inSpan)).toBeLessThanOrEqual((createsPerSecond * spanMs) / 1_000 + 2 * createsPerSecond);
}, 240_000);
