import { ambushes, cellsOf, steps, strikes } from './matrix';

const rows = Object.values({ ...strikes, ...ambushes });

it('every fault meets a task at some step, and at every step some fault does', () => {
  expect(rows.filter((row) => cellsOf(row).length === 0)).toEqual([]);
  const struck = new Set(rows.flatMap((row) => cellsOf(row).map(({ step }) => step)));
  expect([...struck].sort()).toEqual([...steps].sort());
});
