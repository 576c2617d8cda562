import type { BatchProgress } from '../../../../src/contract/batch/batch-messages';
import type { ReportBatchResult } from '../../../../src/contract/batch/batch-activities';
import { noUploads } from '../../../../src/contract/batch/batch-rows';
import { batchDetails } from '../../../../src/workflows/batch/details';

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
      '- **To stop it:** Request Cancellation, which stops its rows; after Terminate they run on',
    ]);
  });

  it('tells the moment that its counts are of, until they are final', () => {
    const lastMovedAt = '2026-01-01T00:04:05.000Z';
    expect(batchDetails({ ...fresh, lastMovedAt })).toContain('8 waiting; as of 2026-01-01 00:04:05 UTC');
    expect(batchDetails({ ...fresh, lastMovedAt, state: 'Ended' })).toMatch(/8 waiting$/m);
  });

  it('tells why fewer rows have ended than before, with another attempt', () => {
    expect(batchDetails({ ...fresh, attempt: { number: 1, of: 3 } })).toMatch(/^- \*\*Attempt:\*\* 1 of 3$/m);
    expect(batchDetails({ ...fresh, attempt: { number: 2, of: 3 } })).toContain(
      '- **Attempt:** 2 of 3; rows that failed run again, and count as running, no longer as ended',
    );
  });

  it('tells since when a batch is paused and how it goes on, and of one that is over no way to stop it', () => {
    expect(batchDetails({ ...fresh, state: 'Paused' })).toContain(
      '- **To go on:** the update `resume`, or `longhaul batch resume photos`',
    );
    expect(batchDetails({ ...fresh, state: 'BudgetReached' })).toContain(
      '- **To go on:** the update `setBudget`, or `longhaul batch set-budget photos AMOUNT`',
    );
    const pausedAt = '2026-01-01T03:00:07.000Z';
    expect(batchDetails({ ...fresh, state: 'Paused', pausedAt })).toMatch(
      /^### Paused\nsince 2026-01-01 03:00:07 UTC\n/,
    );
    expect(batchDetails({ ...fresh, state: 'Draining', pausedAt })).not.toContain('03:00');
    expect(batchDetails({ ...fresh, state: 'Ended' })).not.toContain('To stop it');
  });

  it('tells what the running rows do, and how those that wait for a person are listed', () => {
    const asOf = '2026-01-01T00:05:00.000Z';
    const page = batchDetails({ ...fresh, rowStates: { asOf, counts: { Running: 3, CreateUncertain: 1 } } });
    expect(page).toContain('- **Running rows:** 3 Running, 1 CreateUncertain, as of 2026-01-01 00:05 UTC');
    expect(page).toContain('- **Wait for you:** 1 row: `longhaul list --batch photos --needs-person`');
    // Those that run have started since.
    expect(batchDetails({ ...fresh, rowStates: { asOf, counts: {} } })).not.toMatch(/Running rows|Wait for you/);
    expect(batchDetails({ ...fresh, running: 0, rowStates: { asOf, counts: { Running: 3 } } })).not.toContain(
      'Running rows',
    );
  });

  it('tells that rows cannot go on, since when, why, as of when, and whether rows have moved since', () => {
    const asOf = '2026-01-01T00:05:00.000Z';
    const words = 'The service refused the create for now (HTTP 503): **busy**';
    const heldUp = { rows: 3, since: '2026-01-01T00:01:12.345Z', activity: 'createTask', words };
    const progress = { ...fresh, running: 3, rowStates: { asOf, counts: { Creating: 3 }, heldUp } };
    const line = `- **Held up:** 3 rows, the first since 2026-01-01 00:01:12 UTC: \`createTask: ${words}\`; as of 2026-01-01 00:05 UTC`;
    expect(batchDetails({ ...progress, lastMovedAt: '2026-01-01T00:01:00.000Z' }).split('\n')).toContain(line);
    expect(batchDetails({ ...progress, lastMovedAt: '2026-01-01T00:06:00.000Z' }).split('\n')).toContain(
      `${line}, and rows have started or ended since`,
    );
    expect(batchDetails({ ...progress, running: 0 })).not.toContain('Held up');
  });

  it('tells how many rows are to be tried again before that begins', () => {
    expect(batchDetails({ ...fresh, failed: 3, toRetry: 3 })).toContain(
      '- **To be tried again:** 3 rows so far, once every row had its turn',
    );
    expect(batchDetails({ ...fresh, failed: 3 })).not.toContain('To be tried again');
  });

  it('tells how Temporal lists its failed rows and those that wait', () => {
    const failed =
      '- **Failed rows:** list with `LonghaulBatch = "photos" AND ExecutionStatus IN ("Failed", "Terminated", "TimedOut")`';
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
