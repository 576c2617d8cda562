import { lookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { localhostLookup } from './localhost-lookup';

/** A host was asked for whose address is not public, and which is not on the list of allowed hosts. */
class AddressNotAllowedError extends Error {
  readonly code = 'ADDRESS_NOT_ALLOWED';

  constructor(hostname: string) {
    super(`${hostname} is not at a public address`);
    this.name = 'AddressNotAllowedError';
  }
}

/**
 * Whether an address is a public one: not private, loopback, link-local (where clouds keep their metadata), shared,
 * multicast or reserved, whether written as IPv4, IPv6 or one inside the other.
 *
 * @internal exported for tests
 */
export function isPublicAddress(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.process(address).range() === 'unicast';
}

/**
 * A connector that connects to public addresses only, whatever a name resolves to at that moment: the check is where
 * the connection is made, so a name cannot change its address between check and use.
 */
export function guardedConnector(connectTimeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: connectTimeoutMs, lookup: publicLookup, allowH2: false });
  return (options, callback) => {
    const host = options.hostname.replace(/^\[|\]$/g, '');
    // A literal address never passes through the lookup.
    if (isIP(host) !== 0 && !isPublicAddress(host)) {
      callback(new AddressNotAllowedError(host), null);
      return;
    }
    connect(options, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
      } else if (isPublicAddress(socket.remoteAddress ?? '')) {
        callback(null, socket);
      } else {
        socket.destroy();
        callback(new AddressNotAllowedError(host), null);
      }
    });
  };
}

/** A connector for hosts that are allowed wherever they are. */
export function openConnector(connectTimeoutMs: number): buildConnector.connector {
  return buildConnector({ timeout: connectTimeoutMs, lookup: localhostLookup, allowH2: false });
}

const publicLookup: LookupFunction = (hostname, options, callback) => {
  // Node calls back without addresses when there is an error, whatever its types say.
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[] | undefined) => {
    const [first] = addresses ?? [];
    if (error !== null || addresses === undefined || first === undefined) {
      callback(error ?? new AddressNotAllowedError(hostname), []);
    } else if (!addresses.every(({ address }) => isPublicAddress(address))) {
      callback(new AddressNotAllowedError(hostname), []);
    } else if (options.all === true) {
      callback(null, addresses);
    } else {
      callback(null, first.address, first.family);
    }
  });
};
