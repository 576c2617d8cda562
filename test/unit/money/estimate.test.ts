import fc from 'fast-check';
import { appSamplesName, parseFigures, withBatch } from '../../../src/archive/app-samples';
import { AppSampler, type AppSamples, estimateRows, toFigures } from '../../../src/money/estimate';

const eur = (micros: number) => ({ currency: 'EUR', micros });

function samplesOf(webAppId: number, costs: readonly (number | null)[], ms: number | null = 1_000): AppSamples {
  const sampler = new AppSampler();
  for (const micros of costs) sampler.add(webAppId, { ms, cost: micros === null ? null : eur(micros) });
  const [app] = sampler.list();
  return app ?? { webAppId, rows: 0, samples: [] };
}

describe('the figures of an app', () => {
  it('are the median and the 90th percentile, and say on how many rows they rest', () => {
    const costs = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(toFigures(5, [samplesOf(5, costs, 20)])).toEqual({
      ...{ webAppId: 5, rows: 100, ms: { median: 20, p90: 20 } },
      cost: { currency: 'EUR', median: 50, p90: 90 },
    });
    expect(toFigures(5, [samplesOf(5, [7])])).toMatchObject({ rows: 1, cost: { median: 7, p90: 7 } });
    expect(toFigures(5, [])).toEqual({ webAppId: 5, rows: 0, ms: null, cost: null });
  });

  it('rest on a bounded sample from everywhere in a batch, however many rows it has', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), (rows) => {
        const { samples, rows: counted } = samplesOf(
          5,
          Array.from({ length: rows }, (_, index) => index),
        );
        expect(counted).toBe(rows);
        expect(samples.length).toBeLessThanOrEqual(200);
        expect(samples.length).toBeGreaterThanOrEqual(Math.min(rows, 100));
        const { cost } = toFigures(5, [{ rows, samples }]);
        expect(Math.abs((cost?.median ?? 0) - rows / 2)).toBeLessThanOrEqual(rows / 50 + 1);
      }),
    );
  });

  it('are kept for the last ten batches, each once, and a damaged file tells nothing', () => {
    let text: string | undefined;
    for (let batch = 0; batch < 12; batch += 1) text = withBatch(text, `b${batch}`, samplesOf(5, [batch]));
    text = withBatch(text, 'b11', samplesOf(5, [100, 200]));

    expect(parseFigures(5, text)).toMatchObject({ rows: 11, cost: { median: 7, p90: 100 } });
    expect(appSamplesName(5)).toBe('.estimates/5.json');
    for (const damaged of [undefined, '', '{', '{"batches":[{}]}', text.slice(0, -9), '[]']) {
      expect(parseFigures(5, damaged)).toBeNull();
    }
    expect(parseFigures(5, withBatch('{', 'b', samplesOf(5, [1])))).toMatchObject({ rows: 1 });
  });
});

describe('an estimate', () => {
  const known = [
    { webAppId: 1, rows: 10, ms: { median: 1_000, p90: 3_000 }, cost: { currency: 'EUR', median: 20, p90: 50 } },
    { webAppId: 2, rows: 4, ms: null, cost: { currency: 'USD', median: 7, p90: 8 } },
  ];

  it('sums what the rows of each app will cost, in each currency, and divides the time by the rows at a time', () => {
    const rows = new Map([
      [1, 100],
      [2, 10],
      [3, 5],
    ]);
    expect(estimateRows(rows, known, 20)).toEqual({
      ...{ rows: 115, restsOn: 14, unknownApps: [3], concurrency: 20 },
      costs: [
        { currency: 'EUR', median: 2_000, p90: 5_000 },
        { currency: 'USD', median: 70, p90: 80 },
      ],
      ms: { median: 5_000, p90: 15_000 },
    });
  });

  it('takes no less time than one row, however many run at a time', () => {
    expect(estimateRows(new Map([[1, 2]]), known, 500).ms).toEqual({ median: 1_000, p90: 3_000 });
  });

  it('tells nothing of apps that it does not know', () => {
    expect(estimateRows(new Map([[3, 5]]), known, 1)).toMatchObject({ costs: [], ms: null, unknownApps: [3] });
  });
});
