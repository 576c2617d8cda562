import type { Money } from './money';

/** What one row took and cost; null where unknown, or of no use for an estimate. */
export interface RowSample {
  readonly ms: number | null;
  readonly cost: Money | null;
}

export interface AppSamples {
  readonly webAppId: number;
  readonly rows: number;
  readonly samples: readonly RowSample[];
}

export interface AppFigures {
  readonly webAppId: number;
  /** The number of rows behind the figures. */
  readonly rows: number;
  readonly ms: Spread | null;
  readonly cost: (Spread & { readonly currency: string }) | null;
}

interface Spread {
  readonly median: number;
  readonly p90: number;
}

export interface Estimate {
  readonly rows: number;
  readonly restsOn: number;
  /** Apps without figures; their rows are not included. */
  readonly unknownApps: readonly number[];
  readonly costs: readonly { readonly currency: string; readonly median: number; readonly p90: number }[];
  /** Milliseconds, with `concurrency` rows at a time; null when not known. */
  readonly ms: Spread | null;
  readonly concurrency: number;
}

const maxSamples = 200;
const maxApps = 20;

export class AppSampler {
  readonly #apps = new Map<number, { rows: number; every: number; samples: RowSample[] }>();

  add(webAppId: number, sample: RowSample): void {
    if (sample.ms === null && sample.cost === null) return;
    let app = this.#apps.get(webAppId);
    if (app === undefined) {
      if (this.#apps.size >= maxApps) return;
      app = { rows: 0, every: 1, samples: [] };
      this.#apps.set(webAppId, app);
    }
    if (app.rows % app.every === 0) app.samples.push(sample);
    app.rows += 1;
    if (app.samples.length <= maxSamples) return;
    app.samples = app.samples.filter((_, index) => index % 2 === 0);
    app.every *= 2;
  }

  list(): readonly AppSamples[] {
    return [...this.#apps].map(([webAppId, { rows, samples }]) => ({ webAppId, rows, samples }));
  }
}

export function toFigures(webAppId: number, batches: readonly Omit<AppSamples, 'webAppId'>[]): AppFigures {
  const samples = batches.flatMap((batch) => batch.samples);
  const costs = samples.flatMap(({ cost }) => cost ?? []);
  const currency = costs[0]?.currency ?? '';
  const cost = spread(costs.filter((one) => one.currency === currency).map(({ micros }) => micros));
  return {
    webAppId,
    rows: batches.reduce((sum, { rows }) => sum + rows, 0),
    ms: spread(samples.flatMap(({ ms }) => ms ?? [])),
    cost: cost && { currency, ...cost },
  };
}

function spread(values: readonly number[]): Spread | null {
  const sorted = values.toSorted((one, other) => one - other);
  const rank = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return sorted.length === 0 ? null : { median: rank(0.5), p90: rank(0.9) };
}

export function estimateRows(
  rowsByApp: ReadonlyMap<number, number>,
  known: readonly AppFigures[],
  concurrency: number,
): Estimate {
  const figures = new Map(known.map((one) => [one.webAppId, one]));
  const costs = new Map<string, { median: number; p90: number }>();
  const ms = { median: 0, p90: 0 };
  const unknownApps: number[] = [];
  let [rows, restsOn, isTimeKnown] = [0, 0, false];
  for (const [webAppId, count] of rowsByApp) {
    rows += count;
    const app = figures.get(webAppId);
    restsOn += app?.rows ?? 0;
    if (app?.cost == null && app?.ms == null) unknownApps.push(webAppId);
    if (app?.cost != null) {
      const { currency, median, p90 } = app.cost;
      const sum = costs.get(currency) ?? { median: 0, p90: 0 };
      costs.set(currency, { median: sum.median + count * median, p90: sum.p90 + count * p90 });
    }
    if (app?.ms != null) {
      isTimeKnown = true;
      ms.median += count * app.ms.median;
      ms.p90 += count * app.ms.p90;
    }
  }
  // The time of a single row is a lower bound.
  const places = Math.max(1, Math.min(concurrency, rows));
  return {
    rows,
    restsOn,
    unknownApps,
    concurrency,
    costs: [...costs].map(([currency, sum]) => ({ currency, ...sum })),
    ms: isTimeKnown ? { median: Math.round(ms.median / places), p90: Math.round(ms.p90 / places) } : null,
  };
}
