import { requestFaults, cellsOf, steps, processFaults } from './matrix';

const rows = Object.values({ ...processFaults, ...requestFaults });

it('every fault meets a task at some step, and at every step some fault does', () => {
  expect(rows.filter((row) => cellsOf(row).length === 0)).toEqual([]);
  const held = new Set(rows.flatMap((row) => cellsOf(row).map(({ step }) => step)));
  expect([...held].sort()).toEqual([...steps].sort());
});
