import { setTimeout as delay } from 'node:timers/promises';
import { findArchivePlace } from '../../config/client-config';
import { type AppFigures, type Estimate, estimateRows } from '../../money/estimate';
import { formatMoney, type Money } from '../../money/money';
import { ArchiveError } from '../../storage/errors';
import { formatClock } from '../terminal';
import { formatCountOf } from '../../core/text';

/** An estimate, or why there is none. */
export type FileEstimate = Estimate | { readonly unknown: string };

/** The longest that an archive may hold up a start. */
const readWithinMs = 5_000;

/** What the archive knows of earlier rows of these apps; nothing where it is not known or cannot be read. */
export async function readKnownFigures(
  env: NodeJS.ProcessEnv,
  apps: Iterable<number>,
  withinMs = readWithinMs,
): Promise<readonly AppFigures[] | { readonly unknown: string }> {
  const place = findArchivePlace(env);
  if (place === null) return { unknown: 'LONGHAUL_ARCHIVE is not set here, so earlier rows are not known' };
  // The AWS SDK takes half a second to load.
  const { openArchive } = await import('../../storage/archive/open-archive.js');
  const { readFigures } = await import('../../archive/archive-reader.js');
  try {
    const known = await inTime(withinMs, (signal) => readFigures(openArchive(place), apps, signal));
    return known ?? { unknown: 'the archive did not answer in time' };
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return { unknown: `the archive cannot be read here (${error.message})` };
  }
}

/** Undefined when it takes longer; the signal is aborted then. */
export async function inTime<Result>(
  withinMs: number,
  read: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const late = new AbortController();
  const reading = read(late.signal);
  reading.catch(() => undefined);
  return await Promise.race([reading, delay(withinMs, undefined, { signal: late.signal })]).finally(() => {
    late.abort();
  });
}

export function toEstimate(
  rowsByApp: ReadonlyMap<number, number>,
  known: readonly AppFigures[] | { readonly unknown: string },
  concurrency: number,
): FileEstimate {
  if ('unknown' in known) return known;
  const estimate = estimateRows(rowsByApp, known, concurrency);
  if (rowsByApp.size === 0) return { unknown: 'no row can be run' };
  if (estimate.unknownApps.length < rowsByApp.size) return estimate;
  return { unknown: `no earlier row of ${formatApps(estimate.unknownApps)} is known` };
}

/** Such as `20.00 EUR by the median row, 25.00 EUR by the 90th percentile; …`. */
export function formatEstimate(estimate: FileEstimate): string {
  if ('unknown' in estimate) return `nothing is known: ${estimate.unknown}`;
  const { rows, costs, ms, concurrency, restsOn, unknownApps } = estimate;
  const sums = (of: 'median' | 'p90'): string => {
    return costs.map((cost) => formatMoney({ currency: cost.currency, micros: cost[of] })).join(' and ');
  };
  const parts = [
    costs.length === 0
      ? 'cost not known'
      : `${sums('median')} by the median row, ${sums('p90')} by the 90th percentile`,
    ms === null ? 'time not known' : formatTime(ms, concurrency),
    `for ${formatCountOf(rows, 'row')}, by ${formatCountOf(restsOn, 'earlier one')}`,
    ...(unknownApps.length === 0 ? [] : [`without ${formatApps(unknownApps)}, of which nothing is known`]),
  ];
  return parts.join('; ');
}

/** Costs by fixed prices, and the time by earlier rows, as far as that is known. */
export function formatFixedCosts(costs: readonly Money[], rows: number, estimate: FileEstimate): string {
  const sum = `${costs.map(formatMoney).join(' and ')} for ${formatCountOf(rows, 'row')}, by ${rows === 1 ? 'its fixed price' : 'their fixed prices'}`;
  if ('unknown' in estimate || estimate.ms === null) return sum;
  return `${sum}; ${formatTime(estimate.ms, estimate.concurrency)}, by ${formatCountOf(estimate.restsOn, 'earlier row')}`;
}

function formatTime(ms: { readonly median: number; readonly p90: number }, concurrency: number): string {
  const [from, to] = [formatClock(ms.median), formatClock(ms.p90)];
  return `at least ${from === to ? from : `${from} to ${to}`}, if the service runs ${formatCountOf(concurrency, 'row')} at a time`;
}

function formatApps(apps: readonly number[]): string {
  return `${apps.length === 1 ? 'app' : 'apps'} ${apps.slice(0, 5).join(', ')}${apps.length > 5 ? ', …' : ''}`;
}
