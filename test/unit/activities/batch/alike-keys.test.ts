import { endedRow, RecordUnderTest } from '../../../support/record-under-test';

let batch: RecordUnderTest;
beforeEach(() => {
  batch = new RecordUnderTest();
});
afterEach(() => {
  batch.close();
});

describe('openBatch', () => {
  it('names new rows whose keys look like those on record that the file does not have any more, each time', async () => {
    const [previous, rows] = await batch.prepare('keys.csv', 'key,5:A.b\nA17,1\nÉtude 3,2\nstays,3\nRefused,4\n');
    await batch.open(previous);
    const unpaid = { status: 'Failed', requestId: null, failure: { type: 'TaskRejected', message: 'no' } } as const;
    await batch.record(previous.digest, [
      ...rows.slice(0, 3).map((row) => endedRow(row, 0)),
      endedRow(rows[3]!, 0, unpaid),
    ]);

    const text = 'key,5:A.b\na17,1\n"étude\u00a0 3",2\nstays,3\nrefused,4\nnew,5\n';
    const [reference, now] = await batch.prepare('keys.csv', text);

    const alike = {
      rows: 2,
      first: [
        { line: 2, sheetRow: 2, key: 'a17', recorded: 'A17' },
        { line: 3, sheetRow: 3, key: now[1]?.key, recorded: rows[1]?.key },
      ],
    };
    expect(await batch.open(reference)).toMatchObject({ changed: 0, alike });
    expect(await batch.open(reference)).toMatchObject({ changed: 0, alike });
    await batch.record(
      reference.digest,
      now.map((row) => endedRow(row, 0)),
    );
    expect(await batch.open(reference)).not.toHaveProperty('alike');
  });
});
