import type { MetricMeter } from '@temporalio/common';
import type { Logger } from 'pino';
import { type Account, serviceRemedy } from '../config/accounts';
import { metrics, setGauge } from '../contract/metrics';
import type { RequestObserver } from '../service';

/** How often the log says again that a key is refused. */
const refusedKeyEveryMs = 60_000;

/** Logs each request at the level `debug`, and once a minute that the service refuses the key of an account. */
export function requestLog(logger: Logger, of: Pick<Account, 'name' | 'settings'>): RequestObserver {
  const account = of.name;
  let nextMs = 0;
  return (end) => {
    logger.debug({ account, ...end }, 'request to the service');
    if (end.keyRefused !== true || performance.now() < nextMs) return;
    nextMs = performance.now() + refusedKeyEveryMs;
    logger.warn({ account, ...end, remedy: serviceRemedy(of) }, 'the service refuses the API key of the account');
  };
}

/** Keeps whether the service refuses the key of an account, by its last answer. */
export function keyGauge(meter: MetricMeter, account: string): RequestObserver {
  let known: boolean | undefined;
  return (end) => {
    const isRefused = end.keyRefused === true;
    if (end.status === null || isRefused === known) return;
    known = isRefused;
    setGauge(meter, metrics.keyRefused, { account }, known ? 1 : 0);
  };
}
