import type { MetricMeter } from '@temporalio/common';
import type { InjectedSinks } from '@temporalio/worker';
import type { Logger } from 'pino';
import { count, metrics } from '../contract/metrics';
import type { ReplaySinks } from '../contract/replays';

/** One line for all replays of this time: after a restart there may be hundreds. */
const collectMs = 5_000;

/** Counts and logs replays that take longer than a second. */
export function slowReplaySinks(logger: Logger, meter: MetricMeter): InjectedSinks<ReplaySinks> {
  let tookMs: number[] = [];
  const log = (): void => {
    const longestMs = Math.max(...tookMs);
    const words =
      'workflow tasks run longer than a second, because many histories are replayed: stops and ends are noticed later until that is over; if it stays so, start more workers';
    logger.warn({ replays: tookMs.length, longestMs }, words);
    tookMs = [];
  };
  const slow = (_: unknown, oneMs: number): void => {
    count(meter, metrics.slowReplays, {});
    if (tookMs.push(oneMs) === 1) setTimeout(log, collectMs).unref();
  };
  return { longhaulReplays: { slow: { fn: slow } } };
}
