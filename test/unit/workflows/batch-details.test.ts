import type { BatchProgress } from '../../../src/contract/batch-messages';
import type { ReportBatchResult } from '../../../src/contract/batch-activities';
import { noUploads } from '../../../src/contract/batch-rows';
import { batchDetails } from '../../../src/workflows/live-details';

const fresh: BatchProgress = {
  ...{ batchId: 'photos', state: 'Running', source: null, startedAt: '2026-01-01T00:00:00.000Z' },
  ...{ rows: 10, badRows: 0, success: 0, failed: 0, canceled: 0, running: 2, waiting: 8, concurrency: 2 },
  ...{ perMinute: null, expectedEnd: null, failures: {}, uploads: noUploads, lastFailures: [] },
  ...{ problem: null, report: null },
};

describe('the page of a batch in the Web UI', () => {
  it('tells how far it is, its pace, and how its rows are listed', () => {
    const expectedEnd = '2026-01-01T00:05:00.000Z';
    const page = batchDetails({
      ...fresh,
      success: 4,
      waiting: 4,
      perMinute: 1.23,
      expectedEnd,
      failures: { A: 1, B: 2 },
    });
    expect(page.split('\n')).toEqual([
      '### Running',
      '',
      '- **Rows:** 4 of 10 ended (40 %)',
      '- **Ended:** 4 succeeded, 0 failed, 0 canceled',
      '- **Now:** 2 running (at most 2), 4 waiting',
      '- **Pace:** 1.2 rows a minute, over at about 2026-01-01 00:05 UTC',
      '- **Failures:** 2 × B, 1 × A',
      '- **Rows by state:** list with `LonghaulBatch = "photos"`',
    ]);
  });

  it('tells what the running rows do, and how those that wait for a person are listed', () => {
    const asOf = '2026-01-01T00:05:00.000Z';
    const page = batchDetails({ ...fresh, rowStates: { asOf, counts: { Running: 3, CreateUncertain: 1 } } });
    expect(page).toContain('- **Running rows:** 3 Running, 1 CreateUncertain, as of 2026-01-01 00:05 UTC');
    expect(page).toContain('- **Wait for you:** 1 rows: `longhaul list --batch photos --needs-person`');
    const quiet = batchDetails({ ...fresh, rowStates: { asOf, counts: {} } });
    expect(quiet).toContain('- **Running rows:** none, as of');
    expect(quiet).not.toContain('Wait for you');
  });

  it('tells how Temporal lists its failed rows and those that wait', () => {
    const failed = '- **Failed rows:** list with `LonghaulBatch = "photos" AND ExecutionStatus = "Failed"`';
    expect(batchDetails({ ...fresh, failed: 1 })).toContain(failed);
    expect(batchDetails(fresh)).not.toContain('Failed rows');
    const rowStates = { asOf: '2026-01-01T00:05:00.000Z', counts: { ArchiveIncomplete: 1 } };
    expect(batchDetails({ ...fresh, rowStates })).toContain(
      ', or list with `LonghaulBatch = "photos" AND LonghaulStatus IN ("CreateUncertain", "ArchiveIncomplete") AND ExecutionStatus = "Running"`',
    );
  });

  it('tells where its table and its report are, once it is over, and no pace', () => {
    const report = { csv: '/archive/photos/results.csv', html: '/archive/photos/report.html' } as ReportBatchResult;
    const page = batchDetails({ ...fresh, state: 'Ended', report });
    expect(page).toContain('- **Table:** `/archive/photos/results.csv`\n- **Report:** `/archive/photos/report.html`');
    expect(page).not.toContain('Pace');
  });

  it('says that nothing has ended only when nothing has', () => {
    expect(batchDetails(fresh)).toContain('**Pace:** nothing has ended yet');
    expect(batchDetails({ ...fresh, success: 4 })).toContain('**Pace:** nothing has ended since the start');
  });

  it('shows links, pictures and formatting in words of rows and of the service as they are written', () => {
    const words = '[click](http://evil.example) <img src=x> **Success**';
    const page = batchDetails({
      ...fresh,
      problem: words,
      failures: { [words]: 1 },
      lastFailures: [{ key: words, line: 3, message: words }],
    });

    expect(page.replaceAll(`\`${words}\``, 'CODE')).not.toMatch(/evil|<img|\*\*Success/);
    expect(page).toContain(`- \`${words}\` (line 3): \`${words}\``);
  });
});
