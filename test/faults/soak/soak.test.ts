import { planSoak } from './plan';
import { runSoak } from './run-soak';
import { soakTable } from './soak-table';

/** The same plan in every run of the tests; `npm run soak` takes another each time, and is longer. */
const size = { seed: 20_260_801, tasks: 25, forMs: 20_000 };

it('the same seed makes the same plan, and another seed another one', () => {
  expect(planSoak(size)).toEqual(planSoak(size));
  expect(planSoak({ ...size, seed: 7 }).tasks).not.toEqual(planSoak(size).tasks);
});

it('keeps every promise to its tasks while things go wrong at random moments', async () => {
  const lines: string[] = [];
  const report = await runSoak(planSoak(size), size.forMs, (line) => lines.push(line));
  const { broken } = report;
  const told = broken.length > 0 ? [...lines, soakTable(report, size.forMs)] : [];
  expect({ broken, told }).toEqual({ broken: [], told: [] });
}, 400_000);
