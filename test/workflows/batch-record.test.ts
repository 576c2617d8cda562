import { finalFailure } from '../support/fake-activities';
import { fakeBatchOf, fastBatchTuning, rowEnd } from '../support/fake-batch';
import { failureOf, TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

describe('a batch with rows on record', () => {
  it.concurrent(
    'counts them in its result, also after it continued as new, and those that it has no more',
    async () => {
      const batch = fakeBatchOf(environment.client, 35, {
        tuning: { ...fastBatchTuning, continueAsNewAfterEvents: 30 },
      });
      batch.opened = { gone: 7 };
      for (let index = 0; index < 12; index += 1) batch.onRecord.add(`row-${index * 2}`);
      batch.endsAtOnce = ({ key }) => rowEnd(key);
      const result = await environment.withBatch(batch.activities, batch.input, (run) => run.result());
      expect(batch.started).toHaveLength(23);
      expect(result).toMatchObject({ onRecord: { success: 12, failed: 0, canceled: 0, gone: 7 } });
    },
  );
});

describe('a batch whose file was edited', () => {
  it.concurrent('starts nothing of rows that are refused, and has what was allowed compared', async () => {
    const batch = fakeBatchOf(environment.client, 3, { allowChanged: true });
    batch.unopened = finalFailure('RowsChanged', 'Rows were renamed.');
    const failure = await environment.withBatch(batch.activities, batch.input, failureOf);
    expect(failure).toMatchObject({ type: 'RowsChanged', message: 'Rows were renamed.' });
    expect(batch.started).toEqual([]);

    const allowed = fakeBatchOf(environment.client, 3, { allowNew: true });
    allowed.endsAtOnce = ({ key }) => rowEnd(key);
    await environment.withBatch(allowed.activities, allowed.input, (run) => run.result());
    expect(allowed.opens).toMatchObject([{ choice: { allowNew: true, allowChanged: false } }]);
    expect(allowed.started).toHaveLength(3);
  });
});
