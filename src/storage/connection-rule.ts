import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { errorCode } from '../core/text';

class AddressNotAllowedError extends Error {
  readonly code = 'ADDRESS_NOT_ALLOWED';

  constructor(hostname: string) {
    super(`${hostname} is not at a public address`);
    this.name = 'AddressNotAllowedError';
  }
}

export function isAddressNotAllowed(error: unknown): boolean {
  return errorCode(error) === 'ADDRESS_NOT_ALLOWED';
}

export interface ConnectionRuleOptions {
  /** Lower-case hosts, with a port where one is meant, that may be at any address. */
  readonly hosts: readonly string[];
  /** Hosts of the service's URLs: where one is not public, its machine is allowed. @default none */
  readonly serviceHosts?: readonly string[];
  /** @default the system's */
  readonly lookup?: LookupFunction;
}

const serviceAddressesForMs = 30_000;

/** Allows public addresses, configured hosts and the service's machine. Checked on connecting: addresses change. */
export class ConnectionRule {
  readonly #options: ConnectionRuleOptions;
  #serviceAddresses: { readonly addresses: Promise<readonly string[]>; readonly untilMs: number } | undefined;

  constructor(options: ConnectionRuleOptions) {
    this.#options = options;
  }

  /** With its port, or for all ports. */
  isConfigured({ host, hostname }: Pick<URL, 'host' | 'hostname'>): boolean {
    const { hosts } = this.#options;
    return hosts.includes(host.toLowerCase()) || hosts.includes(hostname.toLowerCase());
  }

  /** Throws unless all addresses are allowed, or the system's error. */
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

/** Public addresses of clouds' metadata services. */
const cloudAddresses: readonly string[] = ['168.63.129.16'];
/** The only public range of IPv6. */
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/** Other NAT64 prefixes are local settings. */
const wellKnownNat64 = ipaddr.parseCIDR('64:ff9b::/96');

/** Whether an address is public, as IPv4, IPv6 or one inside the other. @internal exported for tests */
export function isPublicAddress(text: string): boolean {
  const address = parse(text);
  if (address?.range() !== 'unicast') return false;
  if (address.kind() === 'ipv4') return !cloudAddresses.includes(address.toString());
  return address.match(globalUnicast);
}

/** An IPv4 address inside an IPv6 one (mapped, or by NAT64) counts as itself. */
function parse(text: string): Address | undefined {
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  if (address.kind() === 'ipv4' || !address.match(wellKnownNat64)) return address;
  return ipaddr.fromByteArray(address.toByteArray().slice(12));
}

/** All loopback addresses are the same machine. */
function isSameMachine(one: string, other: string): boolean {
  const [first, second] = [parse(one), parse(other)];
  if (first === undefined || second === undefined) return false;
  if (first.range() === 'loopback') return second.range() === 'loopback';
  return first.toNormalizedString() === second.toNormalizedString();
}

export type FindAddresses = (hostname: string, port: string) => Promise<readonly string[]>;

export const anyAddress: FindAddresses = (hostname) => resolveHost(hostname);

/** As the system does, but `localhost` and names under it are loopback (RFC 6761, section 6.3). */
async function resolveHost(hostname: string, lookup: LookupFunction = systemLookup): Promise<readonly string[]> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0) return [host];
  if (/(^|\.)localhost\.?$/i.test(host)) return ['127.0.0.1', '::1'];
  return await new Promise((resolve, reject) => {
    // Despite its types, Node gives no addresses with an error.
    lookup(host, { all: true }, (error, found: string | LookupAddress[] | undefined) => {
      if (error === null) resolve(typeof found === 'object' ? found.map(({ address }) => address) : []);
      else reject(error);
    });
  });
}
