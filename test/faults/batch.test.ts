import { type BatchSoakReport, type BatchSoakSize, runBatchSoak } from './soak-batch/run-batch-soak';
import { batchSoakTable } from './soak-batch/tables';

/** Runs a batch under these strikes; `npm run soak:batch` takes more of everything. */
async function soakOf(size: BatchSoakSize): Promise<BatchSoakReport> {
  const lines: string[] = [];
  const report = await runBatchSoak(size, (line) => lines.push(line));
  process.stdout.write(`\n${batchSoakTable(report)}\n`);
  expect({ broken: report.broken, lines: report.broken.length > 0 ? lines : [] }).toEqual({ broken: [], lines: [] });
  return report;
}

describe('a batch', () => {
  it('pays 300 rows once each and archives all, while the worker is killed three times and the command once', async () => {
    const report = await soakOf({ rows: 300, workerKills: 3, cliKills: 1, temporalRestarts: 0 });
    expect(report).toMatchObject({ creates: 300, again: { creates: 0, uploads: 0 } });
    expect(report.strikes.toSorted()).toEqual(['command killed', 'worker killed', 'worker killed', 'worker killed']);
  }, 600_000);

  it('goes on where it was when Temporal is killed and started again', async () => {
    const report = await soakOf({ rows: 60, workerKills: 0, cliKills: 0, temporalRestarts: 1 });
    expect(report).toMatchObject({ creates: 60, strikes: ['Temporal killed'] });
  }, 400_000);
});
