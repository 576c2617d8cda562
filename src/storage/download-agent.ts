import { Agent, interceptors, type Dispatcher } from 'undici';
import type { ConnectionRule } from './connection-rule';

/** Time limits of connections to the storage, in milliseconds. */
export interface DownloadTimeouts {
  readonly connectMs: number;
  /** Without a byte from the storage. */
  readonly idleMs: number;
}

/**
 * The connections that result files are fetched over, to be shared and closed by whoever made them. Up to three
 * redirects are followed: a download sends no credentials but its link. The rule holds for each of them.
 */
export function createDownloadAgent(
  rule: ConnectionRule,
  timeouts: DownloadTimeouts = { connectMs: 5_000, idleMs: 30_000 },
): Dispatcher {
  return new Agent({
    connect: rule.connector(timeouts.connectMs),
    headersTimeout: timeouts.idleMs,
    bodyTimeout: timeouts.idleMs,
  }).compose(interceptors.redirect({ maxRedirections: 3 }));
}
