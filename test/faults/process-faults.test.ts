import { randomUUID } from 'node:crypto';
import { FaultStack } from './fault-stack';
import { holdAt } from './hold-at';
import { cellsOf, nameOf, type Step, processFaults } from './matrix';
import { brokenPromises } from './promises';
import { followToEnd, statusOf } from './follow-to-end';
import { injectProcessFault, type ProcessFault, type HeldTasks } from './process-faults';

let stack: FaultStack;

beforeAll(async () => {
  stack = await FaultStack.open();
});
afterAll(() => stack.close());

describe.each(Object.keys(processFaults) as ProcessFault[])('when %s', (fault) => {
  const cells = cellsOf(processFaults[fault]);
  const tasks: HeldTasks = {};

  beforeAll(async () => {
    const run = randomUUID().slice(0, 8);
    const hold = async (steps: readonly Step[]): Promise<void> => {
      const held = steps.filter((step) => cells.some((cell) => cell.step === step));
      const holdOne = async (step: Step): Promise<void> => {
        tasks[step] = await holdAt(step, stack, `${step.replaceAll(' ', '-')}-${run}`);
      };
      await Promise.all(held.map(holdOne));
    };
    await hold(['upload', 'watch', 'watch by activity', 'archive']);
    // Those that are held by a late answer come last.
    await hold(['stop', 'create']);
    await injectProcessFault(fault, stack, tasks);
  });

  it.concurrent.each(cells.map(({ step, ending }) => ({ step, ending, name: nameOf(fault, step, ending) })))(
    '$name',
    async ({ step, ending }) => {
      const task = tasks[step];
      if (task === undefined) throw new Error('The task was not started.');
      expect(await followToEnd(task, ending)).toBe(statusOf(ending));
      expect(await brokenPromises(stack, [task])).toEqual([]);
    },
  );
});
