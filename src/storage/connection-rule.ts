import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { errorCode } from '../core/text';

/** The address of a host is not public, and the host is not configured. */
class AddressNotAllowedError extends Error {
  readonly code = 'ADDRESS_NOT_ALLOWED';

  constructor(hostname: string) {
    super(`${hostname} is not at a public address`);
    this.name = 'AddressNotAllowedError';
  }
}

/** Whether an error, perhaps wrapped by a library, is an {@link AddressNotAllowedError}. */
export function isAddressNotAllowed(error: unknown): boolean {
  return errorCode(error) === 'ADDRESS_NOT_ALLOWED';
}

/** Settings of a {@link ConnectionRule}. */
export interface ConnectionRuleOptions {
  /** Lower-case hosts, with a port where one is meant, that are configured: they may be anywhere. */
  readonly hosts: readonly string[];
  /** Hosts of the service's own URLs: where one of them is not public, the same machine is allowed. @default none */
  readonly serviceHosts?: readonly string[];
  /** @default the system's */
  readonly lookup?: LookupFunction;
}

/** How long the addresses of the service's hosts are cached. */
const serviceAddressesForMs = 30_000;

/**
 * Which addresses may be connected to when data names the host: only public ones, unless the host is configured, or the
 * service itself is there. Checked when the connection is made, so a name cannot change its address after the check.
 */
export class ConnectionRule {
  readonly #options: ConnectionRuleOptions;
  #serviceAddresses: { readonly addresses: Promise<readonly string[]>; readonly untilMs: number } | undefined;

  constructor(options: ConnectionRuleOptions) {
    this.#options = options;
  }

  /** Whether this host is configured; with its port, or for all of them. */
  isConfigured({ host, hostname }: Pick<URL, 'host' | 'hostname'>): boolean {
    const { hosts } = this.#options;
    return hosts.includes(host.toLowerCase()) || hosts.includes(hostname.toLowerCase());
  }

  /** The addresses that a connection to this host may go to. Throws unless all are allowed, or the system's error. */
  readonly addresses: FindAddresses = async (hostname, port) => {
    const found = await resolveHost(hostname, this.#options.lookup);
    const name = isIP(hostname) === 6 ? `[${hostname}]` : hostname;
    if (this.isConfigured({ hostname: name, host: port === '' ? name : `${name}:${port}` })) return found;
    if (found.length === 0 || !(await this.#areAllowed(found))) throw new AddressNotAllowedError(hostname);
    return found;
  };

  async #areAllowed(addresses: readonly string[]): Promise<boolean> {
    const others = addresses.filter((address) => !isPublicAddress(address));
    if (others.length === 0) return true;
    const own = await this.#ownAddresses();
    return others.every((address) => own.some((one) => isSameMachine(one, address)));
  }

  #ownAddresses(): Promise<readonly string[]> {
    const known = this.#serviceAddresses;
    if (known !== undefined && known.untilMs > performance.now()) return known.addresses;
    const addresses = this.#resolveServices();
    this.#serviceAddresses = { addresses, untilMs: performance.now() + serviceAddressesForMs };
    return addresses;
  }

  async #resolveServices(): Promise<readonly string[]> {
    const { serviceHosts = [], lookup } = this.#options;
    return (await Promise.all(serviceHosts.map((host) => resolveHost(host, lookup).catch(() => [])))).flat();
  }
}

type Address = ReturnType<typeof ipaddr.parse>;

/** Addresses in public ranges that clouds use for their metadata services. */
const cloudAddresses: readonly string[] = ['168.63.129.16'];
/** The only range of IPv6 that is assigned publicly. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** Other NAT64 prefixes are local settings and not known here. */
const wellKnownNat64 = ipaddr.parseCIDR('64:ff9b::/96');

/**
 * Whether an address is a public one: not private, loopback, link-local (where clouds keep their metadata), shared,
 * multicast or reserved, written as IPv4, IPv6 or one inside the other. @internal exported for tests
 */
export function isPublicAddress(text: string): boolean {
  const address = parse(text);
  if (address?.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return !cloudAddresses.includes(address.toString());
  return address.match(globalUnicast);
}

/** An IPv4 address written as IPv6 counts as itself: mapped, or reached through NAT64. */
function parse(text: string): Address | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  if (address.kind() === 'ipv4' || !address.match(wellKnownNat64)) return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(12));
}

/** All loopback addresses are the same machine; any other address only equals itself. */
function isSameMachine(one: string, other: string): boolean {
  const [first, second] = [parse(one), parse(other)];
  if (first === undefined || second === undefined) return false;
  if (first.range() === 'loopback') return second.range() === 'loopback';
  return first.toNormalizedString() === second.toNormalizedString();
}

/** Finds the addresses of a host, which may be one itself. */
export type FindAddresses = (hostname: string, port: string) => Promise<readonly string[]>;

/** For hosts that the operator named: they may be anywhere. */
export const anyAddress: FindAddresses = (hostname) => resolveHost(hostname);

/** Finds the addresses of a host as the system does, and of every name under `localhost` the loopback ones (RFC 6761, section 6.3). */
async function resolveHost(hostname: string, lookup: LookupFunction = systemLookup): Promise<readonly string[]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return [host];
  if (/(^|\.)localhost\.?$/i.test(host)) return ['127.0.0.1', '::1'];
  return await new Promise((resolve, reject) => {
    // Node calls back without addresses when there is an error, whatever its types say.
    lookup(host, { all: true }, (error, found: string | LookupAddress[] | undefined) => {
      if (error === null) resolve(typeof found === 'object' ? found.map(({ address }) => address) : []);
      else reject(error);
    });
  });
}
