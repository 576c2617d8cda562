import type { TestRow } from '../../../support/prepared-rows-under-test';
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
        { line: 3, sheetRow: 3, key: now[1]?.key, originalKey: 'étude\u00a0 3', recorded: rows[1]?.key },
      ],
    };
    expect(await batch.open(reference)).toMatchObject({ changed: 0, gone: 3, alike });
    expect(await batch.open(reference)).toMatchObject({ changed: 0, alike });
    await batch.record(
      reference.digest,
      now.map((row) => endedRow(row, 0)),
    );
    expect(await batch.open(reference)).not.toHaveProperty('alike');
  });

  it('names new rows that have the content of rows on record whose keys the file does not have any more', async () => {
    const [previous, rows] = await batch.prepare('keys.csv', 'key,5:A.b\none,1\ntwo,2\nstays,3\nunpaid,4\n');
    await batch.open(previous);
    const unpaid = { status: 'Failed', requestId: null, failure: { type: 'TaskRejected', message: 'no' } } as const;
    await batch.record(previous.digest, [
      ...rows.slice(0, 3).map((row) => endedRow(row, 0)),
      endedRow(rows[3]!, 0, unpaid),
    ]);

    const text = 'key,5:A.b\nuno,1\ntwo,2\nstays,3\nthe-same,3\nuno-again,1\nfree,4\nnew,5\n';
    const [reference, now] = await batch.prepare('keys.csv', text);

    const runBefore = {
      rows: 2,
      first: [
        { line: 2, sheetRow: 2, key: 'uno', recorded: 'one' },
        { line: 6, sheetRow: 6, key: 'uno-again', recorded: 'one' },
      ],
    };
    expect(await batch.open(reference)).toMatchObject({ changed: 0, runBefore });
    const again = await batch.open(reference);
    expect(again).toMatchObject({ changed: 0, runBefore });
    expect(again).not.toHaveProperty('alike');
    await batch.record(
      reference.digest,
      now.map((row) => endedRow(row, 0)),
    );
    expect(await batch.open(reference)).not.toHaveProperty('runBefore');
  });

  it('takes keys that differ in leading zeros of whole numbers alone, which spreadsheets drop, for alike', async () => {
    const [previous, rows] = await batch.prepare('keys.csv', 'key,5:A.b\n007,1\norder-1,2\n1.05,3\n');
    await batch.open(previous);
    await batch.record(
      previous.digest,
      rows.map((row) => endedRow(row, 0)),
    );
    const [reference] = await batch.prepare('keys.csv', 'key,5:A.b\n7,11\norder-01,12\n1.5,13\n');
    const { alike, runBefore } = await batch.open(reference);
    expect(alike?.first.map(({ key, recorded }) => [key, recorded])).toEqual([
      ['7', '007'],
      ['order-01', 'order-1'],
    ]);
    expect(runBefore).toBeUndefined();
  });

  it('names each of several rows on record that have the same content', async () => {
    const [previous, rows] = await batch.prepare('keys.csv', 'key,5:A.b\nfirst,1\nsecond,1\n');
    await batch.open(previous);
    await batch.record(
      previous.digest,
      rows.map((row) => endedRow(row, 0)),
    );
    const [reference] = await batch.prepare('keys.csv', 'key,5:A.b\na,1\nb,1\n');
    const { runBefore } = await batch.open(reference);
    expect(runBefore?.first.map(({ recorded }) => recorded).sort()).toEqual(['first', 'second']);
  });

  it('counts all of 20,000 new rows with the content of rows on record, and names the first 20', async () => {
    const rowsOf = (prefix: string): TestRow[] =>
      Array.from({ length: 20_000 }, (_, index) => ({
        key: `${prefix}-${index}-x`,
        input: { inputs: { '5:A.b': index % 100 } },
      }));
    const [previous, rows] = await batch.write(rowsOf('old'), 1_000);
    await batch.open(previous);
    await batch.record(
      previous.digest,
      rows.map((row, index) => endedRow(row, Math.floor(index / 1_000))),
    );
    const opened = await batch.open((await batch.write(rowsOf('new'), 1_000))[0]);
    expect(opened).toMatchObject({ gone: 20_000, runBefore: { rows: 20_000 } });
    expect(opened.runBefore?.first).toHaveLength(20);
  });
});
