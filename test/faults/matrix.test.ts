import { ambushes, cellsOf, steps, strikes } from './matrix';
import { matrixOverview } from './matrix-overview';

const rows = Object.values({ ...strikes, ...ambushes });

it('every fault meets a task at some step, and at every step some fault does', () => {
  expect(rows.filter((row) => cellsOf(row).length === 0)).toEqual([]);
  const struck = new Set(rows.flatMap((row) => cellsOf(row).map(({ step }) => step)));
  expect([...struck].sort()).toEqual([...steps].sort());
});

it('is printed whole, with the reason of every cell that makes no sense', () => {
  const overview = matrixOverview();
  process.stdout.write(`\n${overview}\n\n`);

  const reasons = rows.flatMap((row) => steps.map((step) => row[step])).filter((cell) => typeof cell !== 'string');
  expect(reasons.filter(({ because }) => !overview.includes(because))).toEqual([]);
  expect(reasons.length + rows.flatMap(cellsOf).length).toBe(rows.length * steps.length);
});
