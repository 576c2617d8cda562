import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/**
 * Resolves host names like the system does, and every name under `localhost` as the loopback address (RFC 6761,
 * section 6.3), which not every system's resolver does: a bucket of a local storage server is such a name.
 */
export const localhostLookup: LookupFunction = (hostname, options, callback) => {
  if (!/(^|\.)localhost\.?$/i.test(hostname)) {
    systemLookup(hostname, options, callback);
    return;
  }
  const loopback: LookupAddress = { address: '127.0.0.1', family: 4 };
  if (options.all === true) callback(null, [loopback]);
  else callback(null, loopback.address, loopback.family);
};
