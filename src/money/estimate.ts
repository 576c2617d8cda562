import type { Money } from './money';

/** What one row took and cost; null where it is not known, or tells nothing of the next row. */
export interface RowSample {
  readonly ms: number | null;
  readonly cost: Money | null;
}

/** Rows of one app in one batch: a bounded sample of them. */
export interface AppSamples {
  readonly webAppId: number;
  /** Of which something is known. */
  readonly rows: number;
  readonly samples: readonly RowSample[];
}

/** What rows of an app took and cost: the median and the 90th percentile. */
export interface AppFigures {
  readonly webAppId: number;
  /** On so many rows they rest. */
  readonly rows: number;
  readonly ms: Spread | null;
  readonly cost: (Spread & { readonly currency: string }) | null;
}

interface Spread {
  readonly median: number;
  readonly p90: number;
}

/** What rows that are still to run will cost, and how long they take. */
export interface Estimate {
  readonly rows: number;
  /** On so many earlier rows it rests. */
  readonly restsOn: number;
  /** Apps of which nothing is known; their rows are not in the figures. */
  readonly unknownApps: readonly number[];
  /** In each currency; empty when no cost is known. */
  readonly costs: readonly { readonly currency: string; readonly median: number; readonly p90: number }[];
  /** How long it takes, in milliseconds, with this many rows at a time; null when that is not known. */
  readonly ms: Spread | null;
  readonly concurrency: number;
}

/** So many rows of an app are kept as samples. */
const maxSamples = 200;
/** Of so many apps. */
const maxApps = 20;

/** Keeps an even sample of rows, however many there are. */
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

/** The figures of an app's rows in several batches, the latest batch first. */
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

/** Estimates rows by app from what earlier rows took and cost. Pure. */
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
  // However many run at a time, one row takes its time.
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
