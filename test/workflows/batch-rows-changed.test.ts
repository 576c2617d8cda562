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

  it.concurrent('says by the keys of the sheet what changed in them, and whether that is the same in all', async () => {
    const changedInputs = [{ key: '2:ImageScale.width', before: '512', now: '640' }];
    const first = { line: 3, sheetRow: 3, key: 'A-20-0123', originalKey: 'A 20', changedInputs };
    const batch = batchOf(3);
    batch.changed = 2;
    const changedRows = [first, { line: 4, key: 'b', changedInputs }, { line: 5, key: 'c' }];
    batch.opened = { unchanged: 0, changedRows };
    const { message } = await environment.withBatch(batch.activities, batch.input, failureOf);
    expect(message).toContain('row 3 (A 20: "2:ImageScale.width" was 512 and is 640), line 4 (b: "2:ImageScale');
    expect(message).toContain(
      'line 5 (c). The same changed in all 2 rows that were compared: rather than the rows, what they have in common',
    );

    const beside = batchOf(4);
    beside.changed = 3;
    beside.opened = { unchanged: 1, changedRows };
    const besideOthers = await environment.withBatch(beside.activities, beside.input, failureOf);
    expect(besideOthers.message).toContain('line 5 (c).');
    expect(besideOthers.message).not.toContain('in common');

    const other = batchOf(3);
    other.changed = 2;
    const changedOtherwise = [{ ...changedInputs[0]!, columns: ['width', 'unit'], now: '800' }];
    other.opened = { unchanged: 0, changedRows: [first, { line: 4, key: 'b', changedInputs: changedOtherwise }] };
    const failure = await environment.withBatch(other.activities, other.input, failureOf);
    expect(failure.message).toContain('line 4 (b: "width" and "unit" was 512 and is 800)');
    expect(failure.message).not.toContain('in common');

    const replaced = batchOf(3);
    replaced.changed = 2;
    const photo = [{ key: '1:A.b', before: '"cat.jpg"', now: '"cat.jpg" with other content' }];
    replaced.opened = {
      unchanged: 0,
      changedRows: [
        { ...first, changedInputs: photo },
        { line: 4, key: 'b', changedInputs: photo },
      ],
    };
    const ofPhoto = await environment.withBatch(replaced.activities, replaced.input, failureOf);
    expect(ofPhoto.message).toContain('"cat.jpg" with other content');
    expect(ofPhoto.message).not.toContain('in common');
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
      /line 3 \(row-2; on record: row-two\) and 1,001 more\..* --id of its own: .*\. Otherwise give the keys of before, .*--allow-changed/,
    );
    expect(batch.started).toEqual([]);

    const allowed = batchOf(3, { allowChanged: true });
    allowed.opened = opened;
    allowed.endsAtOnce = ({ key }) => rowEnd(key);
    await environment.withBatch(allowed.activities, allowed.input, (run) => run.result());
    expect(allowed.started).toHaveLength(3);
  });

  it.concurrent('names all of them in one refusal, and each remedy once', async () => {
    const batch = batchOf(3);
    batch.changed = 1;
    const other = (line: number) => ({ rows: 1, first: [{ line, key: `row-${line}`, recorded: `on-record-${line}` }] });
    batch.opened = { alike: other(4), runBefore: other(5) };
    const { message } = await environment.withBatch(batch.activities, batch.input, failureOf);
    expect(message).toMatch(
      /^1 row has a key that differs .*line 4.*\. 1 row has the content .*line 5.*\. 1 row differs .*line 3 \(row-2\)/,
    );
    expect(message.match(/Otherwise/g)).toHaveLength(1);
    expect(message).toMatch(
      / Otherwise give the keys of before, .* as new ones; and of rows that differ, put back what was there, .*\(--allow-changed\)\.$/,
    );
    expect(message.match(/--id of its own/g)).toHaveLength(1);
  });
});
