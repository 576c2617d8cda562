import fc from 'fast-check';
import { type RowRecord, wasRefusedUnpaid } from '../../../src/contract/batch/batch-rows';
import { RecordComparison, refusalWords } from '../../../src/rows';
import { preparedRows } from '../../support/prepared-rows-under-test';
import { endedRow } from '../../support/record-under-test';

const [former] = preparedRows([{ key: 'former' }]);
const unpaid = { status: 'Failed', requestId: null, failure: { type: 'TaskRejected', message: 'no' } } as const;

/** Compares a file of these keys with a record of those. */
function compare(keys: readonly string[], recorded: readonly RowRecord[]) {
  const records = new Map(recorded.map((record) => [record.key, record]));
  const comparison = new RecordComparison();
  const rows = preparedRows(keys.map((key) => ({ key })));
  for (const row of rows) {
    comparison.add(row, records.get(row.key));
    records.delete(row.key);
  }
  return { comparison, gone: [...records.values()] };
}

function onRecord(keys: readonly string[], more: Partial<RowRecord> = {}): RowRecord[] {
  return preparedRows(keys.map((key) => ({ key }))).map((row) => endedRow(row, 0, more));
}

describe('a file whose rows were run', () => {
  it('is refused if and only if a key is new while one that may be paid is missing, however the keys are spelled', () => {
    const keys = fc.uniqueArray(fc.constantFrom('1', '1.0', '01', 'a17', 'A17', 'b', 'Copy-of-b', 'c'));
    fc.assert(
      fc.property(keys, keys, keys, (file, paid, refused) => {
        const records = [
          ...onRecord(paid),
          ...onRecord(
            refused.filter((key) => !paid.includes(key)),
            unpaid,
          ),
        ];
        const { comparison, gone } = compare(file, records);
        const known = records.map(({ key }) => key);
        const isNew = file.some((key) => !known.includes(key));
        const isMissing = paid.some((key) => !file.includes(key));

        expect(comparison.refusal(gone, {}) !== undefined).toBe(isNew && isMissing);
        expect(comparison.refusal(gone, { allowNew: true })).toBeUndefined();
        expect(gone.filter((record) => !wasRefusedUnpaid(record))).toHaveLength(
          paid.filter((key) => !file.includes(key)).length,
        );
      }),
    );
  });

  it('names both counts and the first keys of each', () => {
    const { comparison, gone } = compare(
      Array.from({ length: 30 }, (_, index) => `new-${index}`),
      onRecord(['a', 'b']),
    );
    const refused = comparison.refusal(gone, { allowChanged: true });
    expect(refused).toMatchObject({ changed: 0, renamed: { newRows: 30, missingRows: 2 } });
    expect(refused?.renamed?.firstNew).toHaveLength(20);
    expect(refused && refusalWords(refused)).toMatch(
      /^30 keys .*line 1: "new-0".* and 27 more.* 2 keys on record .*"a", "b".*\n.*--id.*\n.*--allow-new.*$/,
    );
  });

  it('is refused for rows that changed, unless that is allowed or they were refused unpaid', () => {
    const changed = { digest: 'other' };
    const { comparison, gone } = compare(['former'], [endedRow(former!, 0, changed)]);
    const refused = comparison.refusal(gone, { allowNew: true });
    expect(refused).toMatchObject({ changed: 1, changedRows: [{ line: 1, key: 'former' }], renamed: null });
    expect(refused && refusalWords(refused)).toMatch(
      /^1 row has other content .*line 1: "former".*\n.*\n.*--allow-changed.*$/,
    );
    expect(comparison.refusal(gone, { allowChanged: true })).toBeUndefined();
    const both = compare(['former', 'new'], [endedRow(former!, 0, changed), ...onRecord(['gone'])]);
    const refusedBoth = both.comparison.refusal(both.gone, {});
    expect(refusedBoth && refusalWords(refusedBoth).split('\n')).toHaveLength(3);

    const corrected = compare(['former'], [endedRow(former!, 0, { ...changed, ...unpaid })]).comparison;
    expect(corrected.refusal([], {})).toBeUndefined();
    expect(corrected.counts).toMatchObject({ corrected: 1, changed: 0 });
  });
});
