import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { inspect } from 'node:util';
import { Client } from 'undici';
import { ConnectionRule, type ConnectionRuleOptions, isPublicAddress } from '../../../src/storage/connection-rule';
import { connector } from '../../../src/storage/connections';
import { createDownloadAgent, download } from '../../../src/storage/download';
import { startHttpServer, type TestHttpServer } from '../../support/start-http-server';
import { startRawServer, type RawServer } from '../../support/start-raw-server';
import { temporaryFolder } from '../../support/temporary-folder';
import { tokenFor, uploadPath } from '../../support/upload-path';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = temporaryFolder();
const path = join(folder.path, 'photo.jpg');
let target: RawServer;
let service: TestHttpServer;
/** Where the service redirects to. */
let location: string;

beforeAll(async () => {
  writeFileSync(path, 'picture');
  target = await startRawServer({});
  service = await startHttpServer((_request, response) => response.writeHead(302, { location }).end());
});
afterAll(async () => {
  await target.close();
  await service.close();
  folder.remove();
});

/** A name server that answers each question with the next of these lists of addresses, and the last one for ever. */
function answering(...answers: readonly (readonly string[])[]): { lookup: LookupFunction; asked: string[] } {
  const asked: string[] = [];
  const lookup: LookupFunction = (hostname, _options, callback) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(hostname);
    callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { lookup, asked };
}

/** What a connection by this rule ends with: a HTTP status, or the code of an error. */
async function connect(url: string, options: Partial<ConnectionRuleOptions> = {}): Promise<string | number> {
  const client = new Client(new URL(url).origin, {
    connect: connector({ connectMs: 500, addresses: new ConnectionRule({ hosts: [], ...options }).addresses }),
  });
  try {
    return (await client.request({ path: '/', method: 'GET' })).statusCode;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  } finally {
    await client.destroy();
  }
}

describe('isPublicAddress', () => {
  it('takes public ones, also those of IPv4 inside IPv6 and behind NAT64', () => {
    const addresses = ['93.184.216.34', '8.8.8.8', '2606:4700:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'];
    expect(addresses.filter(isPublicAddress)).toEqual(addresses);
  });

  it.each([
    ['this machine', '127.0.0.1 127.9.9.9 ::1'],
    ['any address', '0.0.0.0 ::'],
    ['a private network', '10.1.2.3 172.16.0.1 192.168.1.1 fd00::1 fec0::1'],
    ['the metadata of a cloud', '169.254.169.254 fd00:ec2::254 100.100.100.200 168.63.129.16 192.0.0.192'],
    ['a link', 'fe80::1 fe80::1%eth0'],
    ['a provider network', '100.64.0.1'],
    ['multicast, broadcast and reserved', '224.0.0.1 ff02::1 255.255.255.255 240.0.0.1'],
    ['IPv4 inside IPv6', '::ffff:127.0.0.1 ::ffff:a00:1 ::ffff:168.63.129.16 ::7f00:1'],
    ['IPv4 behind NAT64', '64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::a83f:8110'],
    ['IPv4 behind a NAT64 of one’s own, 6to4 or Teredo', '64:ff9b:1::808:808 2002:7f00:1:: 2001:0:808:808::1'],
    ['no address', ' localhost'],
  ])('refuses the addresses of %s: %s', (_whose, addresses) => {
    expect(addresses.split(' ').filter(isPublicAddress)).toEqual([]);
  });
});

describe('a connection that data decides', () => {
  const hosts = ['127.0.0.1', 'localhost', 'storage.localhost', '[::1]', '[::ffff:127.0.0.1]', '0x7f.1', '2130706433'];

  it.each(hosts)('never reaches %s', async (host) => {
    expect(await connect(`http://${host}:${target.port}`)).toBe('ADDRESS_NOT_ALLOWED');
    expect(target.connectionCount()).toBe(0);
  });

  it.each([
    ['a name with one private address among public ones', [['8.8.8.8', '127.0.0.1']]],
    ['a name whose address is behind NAT64', [['64:ff9b::7f00:1']]],
    ['a name without an address', [[]]],
  ])('never reaches %s', async (_what, answers) => {
    const { lookup } = answering(...answers);
    expect(await connect(`http://name.example:${target.port}`, { lookup })).toBe('ADDRESS_NOT_ALLOWED');
    expect(target.connectionCount()).toBe(0);
  });

  it('goes to the addresses that were checked, whatever the name leads to a moment later', async () => {
    // Nothing answers there; the second question is asked by the second connection only.
    const { lookup, asked } = answering(['::ffff:8.8.8.8'], ['127.0.0.1']);
    const rule = new ConnectionRule({ hosts: [], lookup });
    const url = `http://rebound.example:${target.port}`;
    for (const seen of [1, 2]) {
      const client = new Client(url, { connect: connector({ connectMs: 300, addresses: rule.addresses }) });
      await expect(client.request({ path: '/', method: 'GET' })).rejects.toThrow();
      await client.destroy();
      expect(asked).toHaveLength(seen);
    }
    expect(target.connectionCount()).toBe(0);
  });

  it('reaches what is configured, with its port or without', async () => {
    location = 'http://127.0.0.1/';
    const { host, port } = new URL(service.url);
    expect(await connect(service.url, { hosts: [host] })).toBe(302);
    expect(await connect(`http://storage.localhost:${port}`, { hosts: ['storage.localhost'] })).toBe(302);
    expect(await connect(service.url, { hosts: ['127.0.0.1:1'] })).toBe('ADDRESS_NOT_ALLOWED');
  });

  it('reaches the machine of a service that is not public, and no other one', async () => {
    location = 'http://127.0.0.1/';
    const { port } = new URL(service.url);
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      expect(await connect(`http://storage.localhost:${port}`, { serviceHosts: [host] })).toBe(302);
    }
    const { lookup } = answering(['127.0.0.1']);
    expect(await connect(service.url, { serviceHosts: ['service.example'], lookup })).toBe(302);
    for (const host of ['10.0.0.1', '8.8.8.8', 'nowhere.invalid']) {
      expect(await connect(service.url, { serviceHosts: [host] })).toBe('ADDRESS_NOT_ALLOWED');
    }
    expect(await connect('http://10.0.0.2:1', { serviceHosts: ['10.0.0.1'] })).toBe('ADDRESS_NOT_ALLOWED');
  });
});

describe('a link of a result', () => {
  async function fetchBy(rule: ConnectionRule, url: string): Promise<unknown> {
    const dispatcher = createDownloadAgent(rule);
    try {
      return await download(url, { dispatcher }).catch((error: unknown) => error);
    } finally {
      await dispatcher.destroy();
    }
  }

  it('is refused at an address that is not public, and so is each redirect; the refusal says what to configure', async () => {
    const { host } = new URL(service.url);
    location = `http://localhost:${target.port}/latest/meta-data?Signature=THE-SECRET`;
    for (const [rule, url] of [
      [new ConnectionRule({ hosts: [] }), `http://127.0.0.1:${target.port}/?Signature=THE-SECRET`],
      [new ConnectionRule({ hosts: [host] }), `${service.url}/?Signature=THE-SECRET`],
    ] as const) {
      const error = await fetchBy(rule, url);
      expect(String(error)).toContain('LONGHAUL_STORAGE_HOSTS');
      expect(inspect(error)).not.toContain('THE-SECRET');
    }
    expect(target.connectionCount()).toBe(0);
  });
});

describe('the endpoint of an upload token', () => {
  it.each(['127.0.0.1', 'localhost', 'oss.localhost', '[::1]'])(
    'is refused at %s, which is not public, and the refusal says what to configure',
    async (host) => {
      const input = { path, sizeBytes: 7, contentType: 'image/jpeg', rule: new ConnectionRule({ hosts: [] }) };
      const token = tokenFor(`http://${host}:${target.port}`);
      const error: unknown = await uploadPath({ ...input, token }).catch((e: unknown) => e);
      expect(error).toMatchObject({ code: 'ENDPOINT_UNUSABLE', isRetryable: false });
      expect(String(error)).toContain('LONGHAUL_STORAGE_HOSTS');
      expect(inspect(error)).not.toMatch(/SECRET/);
      expect(target.connectionCount()).toBe(0);
    },
  );

  it('is reached when it is configured', async () => {
    const storage = await startHttpServer((_request, response) => response.writeHead(200, { etag: '"1"' }).end());
    const { host } = new URL(storage.url);
    const token = tokenFor(storage.url);
    const rule = new ConnectionRule({ hosts: [host] });
    await uploadPath({ token, path, sizeBytes: 7, contentType: 'image/jpeg', rule });
    expect(storage.requests).toHaveLength(1);
    await storage.close();
  });
});
