import type { BatchInput } from '../../src/contract/batch/batch-input';
import { type FakeBatch, fakeBatchOf, rowEnd } from '../support/fake-batch';
import { failureOf, TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

function batchOf(rows: number, more: Partial<BatchInput> = {}): FakeBatch {
  return fakeBatchOf(environment.client, rows, more);
}

describe('a batch whose file was edited', () => {
  it.concurrent('refuses rows that changed under their keys, naming them, unless that is allowed', async () => {
    const batch = batchOf(3);
    batch.changed = 1;
    batch.endsAtOnce = ({ key }) => rowEnd(key);
    const failure = await environment.withBatch(batch.activities, batch.input, failureOf);
    expect(failure).toMatchObject({
      type: 'RowsChanged',
      message: expect.stringMatching(/line 3 \(row-2\).*another file.*--id.*other keys.*--allow-changed/) as string,
    });
    expect(batch.started).toEqual([]);

    const allowed = batchOf(3, { allowChanged: true });
    allowed.changed = 1;
    allowed.endsAtOnce = ({ key }) => rowEnd(key);
    await environment.withBatch(allowed.activities, allowed.input, (run) => run.result());
    expect(allowed.started).toHaveLength(3);
  });

  it.concurrent.each([
    ['alike', /^1,002 rows have keys that differ from keys on record only in .* leading zeros: line 3/],
    ['runBefore', /^1,002 rows have the content of rows on record whose keys the file no longer has/],
  ])('refuses new rows that look like rows on record (%s), unless that is allowed', async (finding, words) => {
    const opened = { [finding]: { rows: 1_002, first: [{ line: 3, key: 'row-2', recorded: 'row-two' }] } };
    const batch = batchOf(3);
    batch.opened = opened;
    const failure = await environment.withBatch(batch.activities, batch.input, failureOf);
    expect(failure).toMatchObject({ type: 'RowsChanged', message: expect.stringMatching(words) as string });
    expect(failure.message).toMatch(
      /line 3 \(row-2; on record: row-two\) and 1,001 more\..* --id of its own\. Otherwise give the keys of before, .*--allow-changed/,
    );
    expect(batch.started).toEqual([]);

    const allowed = batchOf(3, { allowChanged: true });
    allowed.opened = opened;
    allowed.endsAtOnce = ({ key }) => rowEnd(key);
    await environment.withBatch(allowed.activities, allowed.input, (run) => run.result());
    expect(allowed.started).toHaveLength(3);
  });
});
