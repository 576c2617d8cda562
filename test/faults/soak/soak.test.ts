import { planSoak, soakFaults } from './plan';
import { runSoak, soakTable } from './run-soak';

/** The same plan in every run of the tests; `npm run soak` takes another each time, and is longer. */
const size = { seed: 20_260_801, tasks: 25, forMs: 20_000 };

it('the same seed makes the same plan, and another seed another one', () => {
  expect(planSoak(size, soakFaults)).toEqual(planSoak(size, soakFaults));
  expect(planSoak({ ...size, seed: 7 }, soakFaults).tasks).not.toEqual(planSoak(size, soakFaults).tasks);
});

it('keeps every promise to its tasks while things go wrong at random moments', async () => {
  const lines: string[] = [];
  const report = await runSoak(planSoak(size, soakFaults), size.forMs, (line) => lines.push(line));
  const { broken } = report;
  const told =
    broken.length > 0 ? [...lines, soakTable(report, `npm run soak -- --tasks ${size.tasks} --seed ${size.seed}`)] : [];
  expect({ broken, told }).toEqual({ broken: [], told: [] });
}, 400_000);
