import { readFile } from 'node:fs/promises';
import type { ReportFacts, ReportRow } from '../../../../src/archive/report/report-data';
import { endedRow, RecordUnderTest } from '../../../support/record-under-test';

let batch: RecordUnderTest;
beforeEach(() => {
  batch = new RecordUnderTest();
});
afterEach(() => {
  batch.close();
});

describe('the record of a batch', () => {
  it('keeps what the creates before the last one cost', async () => {
    const [reference, rows] = await batch.write([{ key: 'a' }]);
    const creates = [3, 1, 2].map((createNumber) => {
      const cost = createNumber === 2 ? {} : { cost: { currency: 'EUR', micros: createNumber } };
      return endedRow(rows[0]!, 0, { createNumber, requestId: `r${createNumber}`, ...cost });
    });
    for (const record of creates) await batch.record(reference.digest, [record]);

    expect(await batch.page(reference, 0)).toEqual([
      { records: 1 },
      {
        ...creates[0],
        earlier: [
          { createNumber: 2, requestId: 'r2' },
          { createNumber: 1, requestId: 'r1', cost: { currency: 'EUR', micros: 1 } },
        ],
      },
    ]);
  });

  it('counts what every attempt of a row uploaded, paid or not, and each once', async () => {
    const [reference, rows] = await batch.write([{ key: 'a' }]);
    const attempts = [
      { status: 'Failed', uploads: { files: 1, bytes: 10, shared: 0 }, endedAt: '2026-02-02T03:04:05.000Z' },
      { status: 'Failed', uploads: { files: 2, bytes: 20, shared: 1 }, endedAt: '2026-02-02T03:04:06.000Z' },
      { createNumber: 2, uploads: { files: 0, bytes: 0, shared: 3 }, endedAt: '2026-02-02T03:04:07.000Z' },
    ] as const;
    await batch.open(reference);
    for (const attempt of [...attempts, attempts[0], attempts[2]]) {
      await batch.record(reference.digest, [endedRow(rows[0]!, 0, attempt)]);
    }
    expect(await batch.report(reference)).toMatchObject({ uploads: { files: 3, bytes: 30, shared: 4 } });
  });

  it('keeps the cost of a task that was taken over by a run that does not know it', async () => {
    const [reference, rows] = await batch.write([{ key: 'a' }]);
    const cost = { currency: 'EUR', micros: 7 };
    const first = endedRow(rows[0]!, 0, { status: 'Failed', requestId: 'r1', cost });
    const second = endedRow(rows[0]!, 0, { requestId: 'r1', endedAt: '2026-02-02T03:04:06.000Z' });
    await batch.open(reference);
    await batch.record(reference.digest, [first]);
    await batch.record(reference.digest, [second]);

    expect(await batch.page(reference, 0)).toMatchObject([
      { records: 1 },
      { ...second, earlier: [{ createNumber: 1, requestId: 'r1', cost }] },
    ]);
    expect((await batch.open(reference)).spending).toEqual({
      ...{ currencies: { EUR: { micros: 7, largestMicros: 7 } }, unknown: 0 },
    });
  });

  it('tells what the rows on record cost, and which rows have no known price', async () => {
    const prices = {
      find: (_: string, app: number) => (app === 5 ? { currency: 'EUR', taskMicros: 7, time: null } : null),
    };
    const priced = new RecordUnderTest(undefined, {}, prices);
    const [reference, rows] = await priced.write([{ key: 'a' }, { key: 'b' }, { key: 'c', input: { webAppId: 6 } }]);
    const costs = [{ cost: { currency: 'EUR', micros: 30 } }, {}];
    const records = costs.map((cost, index) => endedRow(rows[index]!, 0, { createNumber: 2, ...cost }));
    const earlier = endedRow(rows[0]!, 0, { createNumber: 1, cost: { currency: 'EUR', micros: 50 } });
    await priced.open(reference);
    await priced.record(reference.digest, [...records, earlier]);

    const opened = await priced.open(reference);
    priced.close();

    expect(opened).toMatchObject({
      spending: { currencies: { EUR: { micros: 80, largestMicros: 50 } }, unknown: 1 },
      prices: {
        ...{ unpriced: 1, firstUnpriced: { line: 3, key: 'c', webAppId: 6 } },
        currencies: { EUR: { rows: 2, taskMicros: 7, isFixed: true } },
      },
    });
  });
});

describe('the page of a batch', () => {
  const page = async (html: string | undefined): Promise<{ facts: ReportFacts; rows: ReportRow[] }> => {
    const text = await readFile(html ?? '', 'utf8');
    const data = (id: string): unknown => JSON.parse(new RegExp(`id="${id}">([^]*?)</script>`).exec(text)?.[1] ?? '');
    return { facts: data('facts') as ReportFacts, rows: data('rows') as ReportRow[] };
  };
  const cost = (micros: number) => ({ cost: { currency: 'EUR', micros } });

  it('sums as without a result what the table does: also what earlier attempts of rows took that succeeded', async () => {
    const [reference, rows] = await batch.write([{ key: 'a' }, { key: 'b' }]);
    await batch.open(reference);
    await batch.record(reference.digest, [
      endedRow(rows[0]!, 0, { createNumber: 2, ...cost(30) }),
      endedRow(rows[0]!, 0, { status: 'Canceled', ...cost(20) }),
      endedRow(rows[1]!, 0, { status: 'Failed', ...cost(4) }),
    ]);

    const { costs, html } = await batch.report(reference);
    const { facts, rows: shown } = await page(html);

    expect(costs?.withoutResult).toEqual([{ currency: 'EUR', micros: 24 }]);
    expect(shown.map(({ lostCost }) => lostCost)).toEqual([
      ['EUR', 20],
      ['EUR', 4],
    ]);
    expect(facts.goneRows).toBeNull();
  });

  it('tells of rows on record that are not among its rows, and what they cost, as the table does', async () => {
    const [before, rows] = await batch.write([{ key: 'a' }, { key: 'b' }]);
    await batch.open(before);
    await batch.record(before.digest, [endedRow(rows[0]!, 0, cost(30)), endedRow(rows[1]!, 0, cost(7))]);
    const [reference] = await batch.write([{ key: 'a' }]);
    await batch.open(reference);

    const { costs, html } = await batch.report(reference);

    expect((await page(html)).facts.goneRows).toEqual(costs?.goneRows);
    expect(costs?.goneRows).toEqual({ rows: 1, sums: [{ currency: 'EUR', micros: 7 }], unknownRows: 0 });
  });
});
