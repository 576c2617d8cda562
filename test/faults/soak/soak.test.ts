import { planSoak } from './plan';
import { runSoak } from './run-soak';
import { soakTable } from './soak-table';

/** The same plan in every run of the tests; `npm run soak` takes another each time. */
const size = { seed: 20_260_801, tasks: 40, forMs: 35_000 };

it('the same seed makes the same plan, and another seed another one', () => {
  expect(planSoak(size)).toEqual(planSoak(size));
  expect(planSoak({ ...size, seed: 7 }).tasks).not.toEqual(planSoak(size).tasks);
});

it('keeps every promise to 40 tasks while things go wrong at random moments', async () => {
  const lines: string[] = [];
  const report = await runSoak(planSoak(size), size.forMs, (line) => lines.push(line));
  process.stdout.write(`\n${soakTable(report, size.forMs)}\n`);
  expect({ broken: report.broken, lines: report.broken.length > 0 ? lines : [] }).toEqual({ broken: [], lines: [] });
}, 400_000);
