import { randomUUID } from 'node:crypto';
import { FaultStack } from './fault-stack';
import { holdAt } from './hold-at';
import { cellsOf, nameOf, strikes } from './matrix';
import { brokenPromises } from './promises';
import { settle, statusOf } from './settle';
import { strike, type Strike, type StruckTasks } from './strike';

let stack: FaultStack;

beforeAll(async () => {
  stack = await FaultStack.open();
});
afterAll(() => stack.close());

describe.each(Object.keys(strikes) as Strike[])('when %s', (fault) => {
  const cells = cellsOf(strikes[fault]);
  const tasks: StruckTasks = {};

  beforeAll(async () => {
    const run = randomUUID().slice(0, 8);
    // Those that are held by a late answer come last.
    const order = ['upload', 'watch', 'watch by activity', 'archive', 'stop', 'create'] as const;
    for (const step of order)
      if (cells.some((cell) => cell.step === step))
        tasks[step] = await holdAt(step, stack, `${step.replaceAll(' ', '-')}-${run}`);
    await strike(fault, stack, tasks);
  });

  it.each(cells.map(({ step, ending }) => ({ step, ending, name: nameOf(fault, step, ending) })))(
    '$name',
    async ({ step, ending }) => {
      const task = tasks[step];
      if (task === undefined) throw new Error('The task was not started.');
      expect(await settle(task, ending)).toBe(statusOf(ending));
      expect(await brokenPromises(stack, [task])).toEqual([]);
    },
  );
});
