import { finalFailure } from '../support/fake-activities';
import { fakeBatchOf, rowEnd } from '../support/fake-batch';
import { failureOf, TaskEnvironment } from '../support/task-environment';

const environment = TaskEnvironment.forSuite();

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
