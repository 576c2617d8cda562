import { endedRow, RecordUnderTest } from '../../../support/record-under-test';

let batch: RecordUnderTest;
beforeEach(() => {
  batch = new RecordUnderTest();
});
afterEach(() => {
  batch.close();
});

describe('rows that were deleted from the sheet', () => {
  it('are counted with what they cost, and in no other figure', async () => {
    const [whole, rows] = await batch.prepare('photos.csv', 'key,5:A.b\na,1\nb,2\nc,3\n');
    await batch.open(whole);
    const cost = (micros: number): { currency: string; micros: number } => ({ currency: 'EUR', micros });
    await batch.record(
      whole.digest,
      rows.map((row, index) => endedRow(row, 0, index === 2 ? {} : { cost: cost((index + 1) * 10_000) })),
    );
    const [edited] = await batch.prepare('photos.csv', 'key,5:A.b\na,1\n');
    expect(await batch.open(edited)).toMatchObject({ gone: 2 });
    const goneRows = { rows: 2, sums: [cost(20_000)], unknownRows: 1 };
    const costs = { sums: [cost(10_000)], withoutResult: [], knownRows: 1, unknownRows: 0, goneRows };
    expect(await batch.report(edited)).toMatchObject({ success: 1, costs });

    await batch.open(whole);
    expect((await batch.report(whole)).costs).toEqual({
      ...{ sums: [cost(30_000)], withoutResult: [], knownRows: 2, unknownRows: 1 },
    });
  });
});
