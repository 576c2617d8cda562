import { eventually } from '../support/eventually';
import { executionOf, fastTuning, type RunningTask } from '../support/task-environment';
import { TaskStack } from '../support/task-stack';

const app = { webAppId: 5, inputs: {} };
const tuning = { ...fastTuning, poll: { minMs: 500, maxMs: 1_000 } };
/** More than the workflow-task slots of a worker. */
const taskCount = 150;

/** How the worker's health endpoint shows the queries of the account. */
async function pollsOf(stack: TaskStack): Promise<{ stalledSince: string | null; unanswered: number }> {
  const { accounts } = (await (await stack.health()).json()) as {
    accounts: { default: { polls: { stalledSince: string | null; unanswered: number } } };
  };
  return accounts.default.polls;
}

async function whenStalled(stack: TaskStack, isStalled: boolean): Promise<void> {
  await eventually(async () => ((await pollsOf(stack)).stalledSince !== null) === isStalled, {
    withinMs: 60_000,
    what: isStalled ? 'the queries to count as stalled' : 'the queries to go on',
  });
}

describe('a service that answers no query', () => {
  it.concurrent.each(['timer', 'activity'] as const)(
    'holds up no new task, and every task goes on when it answers again (watch by %s)',
    async (watch) => {
      const stack = await TaskStack.open({ env: { LONGHAUL_HEALTH_ADDRESS: '127.0.0.1:0' } });
      try {
        stack.service.scenarios.add({ endpoint: 'detail', scenario: { name: 'stall' }, times: Infinity });
        const tasks = await Promise.all(
          Array.from({ length: taskCount }, () => stack.start({ ...app, watch, tuning }, '600 seconds')),
        );
        const creates = (): number => stack.service.ledger.total('create');
        await eventually(() => creates() === taskCount, { withinMs: 120_000, what: 'every create' });
        await whenStalled(stack, true);

        const startedAtMs = Date.now();
        const late: RunningTask = await stack.start({ ...app, watch, tuning }, '600 seconds');
        await eventually(() => creates() === taskCount + 1, { withinMs: 60_000, everyMs: 20, what: 'the late create' });
        const tookMs = Date.now() - startedAtMs;
        const asked = stack.service.ledger.total('detail');
        // It took two minutes when stalled queries held every place for workflow tasks.
        expect(tookMs).toBeLessThan(20_000);
        // One at a time from now on, after growing pauses.
        await eventually(() => stack.service.ledger.total('detail') > asked, { withinMs: 60_000, what: 'a probe' });
        expect((await pollsOf(stack)).unanswered).toBeLessThanOrEqual(1);

        stack.service.scenarios.clear();
        await whenStalled(stack, false);
        const ends = await Promise.all([...tasks, late].map(executionOf));
        expect(ends.filter((end) => end !== 'COMPLETED')).toEqual([]);
        expect(stack.service.ledger.total('create')).toBe(taskCount + 1);
      } finally {
        await stack.close();
      }
    },
    400_000,
  );
});
