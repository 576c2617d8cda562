import type { BatchProgress } from '../../../../src/contract/batch/batch-messages';
import { batchDetails } from '../../../../src/workflows/batch/details';
import { progressOf, startedAt } from '../../../support/batch-progress';

function pageOf(progress: Partial<BatchProgress> = {}): string {
  return batchDetails(progressOf(progress), Date.parse(startedAt));
}

describe('the page of a batch in the Web UI', () => {
  it('tells the facts, how its rows are listed, and how it is stopped', () => {
    expect(pageOf({ failed: 0 }).split('\n')).toEqual([
      '### Running',
      '',
      '- **Rows:** 1,204 of 2,000 ended (60 %)',
      '- **Ended:** 1,200 succeeded, 0 failed, 4 canceled',
      '- **Now:** 100 running (at most 100), 666 waiting',
      '- **Pace:** 12 rows a minute, over at about 2026-03-01 12:02 UTC',
      '- **Rows by state:** list with `LonghaulBatch = "photos"`',
      '- **To stop it:** Request Cancellation, which stops its rows; after Terminate they run on',
    ]);
    expect(pageOf({ state: 'Ended' })).not.toContain('To stop it');
  });

  it('tells how Temporal lists its failed rows and those that wait', () => {
    const rowStates = { asOf: startedAt, counts: { ArchiveIncomplete: 1 } };
    const page = pageOf({ failed: 1, rowStates });
    expect(page).toContain(
      '- **Failed rows:** list with `LonghaulBatch = "photos" AND ExecutionStatus IN ("Failed", "Terminated", "TimedOut")`',
    );
    expect(page).toContain(
      '- **Rows that wait:** list with `LonghaulBatch = "photos" AND LonghaulStatus IN ("CreateUncertain", "ArchiveIncomplete") AND ExecutionStatus = "Running"`',
    );
  });

  it('shows links, pictures and formatting in words of rows and of the service as they are written', () => {
    const words = '[click](http://evil.example) <img src=x> **Success**';
    const page = pageOf({
      problem: { code: 'Retrying', message: words, since: null, remedy: null },
      failures: { [words]: 1 },
      lastFailures: [{ key: words, line: 3, message: words }],
    });
    expect(page.replaceAll(/`[^`]*`/g, 'CODE')).not.toMatch(/evil|<img|\*\*Success/);
    expect(page).toContain(`- \`${words}\` (line 3): \`${words}\``);
  });
});
