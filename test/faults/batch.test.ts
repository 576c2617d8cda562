import { type BatchSoakReport, type BatchSoakSize, runBatchSoak } from './soak-batch/run-batch-soak';
import { batchSoakTable } from './soak-batch/tables';

/** How many; `npm run soak:batch` takes thousands. */
const rows = Number(process.env['ROWS'] ?? 120);

async function soakOf(size: BatchSoakSize): Promise<BatchSoakReport> {
  const lines: string[] = [];
  const report = await runBatchSoak(size, (line) => lines.push(line));
  const { broken } = report;
  expect({ broken, told: broken.length > 0 ? [...lines, batchSoakTable(report)] : [] }).toEqual({
    broken: [],
    told: [],
  });
  return report;
}

describe('a batch', () => {
  it('pays each row once and archives all, while the worker is killed three times and the command once', async () => {
    const report = await soakOf({ rows, workerKills: 3, cliKills: 1, temporalRestarts: 0 });
    expect(report).toMatchObject({ creates: rows, again: { creates: 0, uploads: 0 } });
    expect(report.faults.toSorted()).toEqual(['command killed', 'worker killed', 'worker killed', 'worker killed']);
  }, 600_000);

  it('goes on where it was when Temporal is killed and started again', async () => {
    const report = await soakOf({ rows: 60, workerKills: 0, cliKills: 0, temporalRestarts: 1 });
    expect(report).toMatchObject({ creates: 60, faults: ['Temporal killed'] });
  }, 400_000);
});
