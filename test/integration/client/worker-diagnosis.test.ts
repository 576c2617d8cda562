import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import type { ReferenceService } from '../../../reference-service/start-reference-service';
import type { Finding } from '../../../src/client/diagnose';
import { diagnoseWorkerSide } from '../../../src/commands/worker-diagnosis';
import { loadWorkerConfig } from '../../../src/config/worker-config';
import { startHttpServer } from '../../support/start-http-server';
import { startService } from '../../support/start-reference-service';
import { temporaryFolder } from '../../support/temporary-folder';

let service: ReferenceService;
const folder = temporaryFolder();
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service.stop();
  folder.remove();
});

async function look(env: NodeJS.ProcessEnv = {}): Promise<Finding[]> {
  const { config } = loadWorkerConfig({
    LONGHAUL_SERVICE_URL: service.url,
    LONGHAUL_API_KEY: service.apiKey,
    LONGHAUL_ARCHIVE: join(folder.path, 'archive'),
    LONGHAUL_INPUT_ROOTS: folder.path,
    ...env,
  });
  return await diagnoseWorkerSide(config);
}

function wrong(findings: readonly Finding[]): string {
  return JSON.stringify(findings.filter(({ isOk }) => !isOk));
}

describe('what the doctor sees of a worker’s surroundings', () => {
  it('finds service, key, clock, storage, archive and input roots in order, and creates nothing', async () => {
    const findings = await look();

    expect(findings.map(({ check }) => check)).toEqual([
      'Service (account default)',
      'Clock',
      'Object storage (account default)',
      'Archive',
      'Input root',
    ]);
    expect(wrong(findings)).toBe('[]');
    expect(service.ledger.total('create')).toBe(0);
  });

  it('says so when the service refuses the key, without showing it', async () => {
    const findings = await look({ LONGHAUL_API_KEY: 'a-wrong-key-of-ours' });

    expect(wrong(findings)).toMatch(/Service \(account default\).*LONGHAUL_API_KEY/);
    expect(JSON.stringify(findings)).not.toContain('a-wrong-key-of-ours');
  });

  it('says so when nothing answers at the service’s address', async () => {
    expect(wrong(await look({ LONGHAUL_SERVICE_URL: 'http://127.0.0.1:1' }))).toMatch(
      /ECONNREFUSED.*LONGHAUL_SERVICE_URL has its address\.(?!.*LONGHAUL_API_KEY)/,
    );
  });

  it.each([500, 502, 503, 429])('names no key when the service answers %d', async (status) => {
    const server = await startHttpServer((_request, response) => response.writeHead(status).end('<html>'));
    const findings = await look({ LONGHAUL_SERVICE_URL: server.url }).finally(() => server.close());
    const [finding] = findings.filter(({ isOk }) => !isOk);
    expect(finding).toMatchObject({ check: 'Service (account default)' });
    expect(finding?.remedy).not.toMatch(/API_KEY|key/);
  });

  it('says so when the clocks are far apart', async () => {
    const server = await startHttpServer((_request, response) => {
      response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString());
      response.end(JSON.stringify({ code: 20000, message: 'Ok', status: true, data: {} }));
    });
    const findings = await look({ LONGHAUL_SERVICE_URL: server.url }).finally(() => server.close());
    expect(findings).toContainEqual(expect.objectContaining({ check: 'Clock', isOk: false }));
  });

  it('tells a receiver at the callback URL from something else, and from nothing', async () => {
    const callback = { LONGHAUL_CALLBACK_TOKEN: 'a-token-of-the-callbacks' };
    const answers = {
      '/callbacks': [401, 404],
      '/another-token': [401, 401],
      '/dropped-header': [401, 400],
      '/no-temporal': [401, 503],
      '/elsewhere': [404, 404],
    };
    const server = await startHttpServer(({ url, method, headers }, response) => {
      const [without, withToken] = answers[url as keyof typeof answers];
      const isKnown = headers.authorization === `Bearer ${callback.LONGHAUL_CALLBACK_TOKEN}`;
      // As a proxy that lets nothing but calls through.
      response.writeHead(method === 'POST' ? ((isKnown ? withToken : without) ?? 500) : 403).end();
    });
    const [token, header, temporal] = await Promise.all(
      ['another-token', 'dropped-header', 'no-temporal'].map(async (path) =>
        wrong(await look({ ...callback, LONGHAUL_CALLBACK_URL: `${server.url}/${path}` })),
      ),
    );
    const there = await look({ ...callback, LONGHAUL_CALLBACK_URL: `${server.url}/callbacks` });
    const other = await look({ ...callback, LONGHAUL_CALLBACK_URL: `${server.url}/elsewhere` });
    await server.close();
    const gone = await look({ ...callback, LONGHAUL_CALLBACK_URL: `${server.url}/callbacks` });

    expect(wrong(there)).toBe('[]');
    expect(there).toContainEqual(
      expect.objectContaining({ found: `the receiver answers at ${server.url}/callbacks and takes the token` }),
    );
    expect(token).toMatch(/HTTP 401.*LONGHAUL_CALLBACK_TOKEN differs.*callbacks\.md/);
    expect(header).toMatch(/HTTP 400.*LONGHAUL_SERVICE_DIALECT/);
    expect(temporal).toMatch(/HTTP 503.*Temporal does not answer/);
    expect(wrong(other)).toMatch(/Callback URL.*HTTP 404.*longhaul receiver/);
    expect(wrong(gone)).toMatch(/Callback URL.*ECONNREFUSED/);
  });

  it('names NODE_EXTRA_CA_CERTS where no known authority signed a certificate: of the service, or of the receiver', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }]);
    const server = createServer({ key, cert }, (_request, response) => response.end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const url = `https://localhost:${(server.address() as AddressInfo).port}`;
      const callback = { LONGHAUL_CALLBACK_URL: url, LONGHAUL_CALLBACK_TOKEN: 'a-token-of-the-callbacks' };
      const findings = [...(await look({ LONGHAUL_SERVICE_URL: url })), ...(await look(callback))];
      const remedies = findings.filter(({ isOk }) => !isOk).map(({ check, remedy }) => [check, remedy]);
      expect(remedies).toEqual(
        ['Service (account default)', 'Callback URL (from here)'].map((check) => [
          check,
          expect.stringContaining('NODE_EXTRA_CA_CERTS') as string,
        ]),
      );
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it('says so when the archive or an input root cannot be used', async () => {
    const file = join(folder.path, 'a-file');
    writeFileSync(file, '');
    const findings = await look({ LONGHAUL_ARCHIVE: file, LONGHAUL_INPUT_ROOTS: join(folder.path, 'nowhere') });

    expect(wrong(findings)).toMatch(/Archive.*a-file.*LONGHAUL_ARCHIVE/);
    expect(wrong(findings)).toMatch(/Input root.*nowhere.*LONGHAUL_INPUT_ROOTS/);
  });

  it('says so when nothing answers at the archive’s storage, and names the variable of its address', async () => {
    const settings = { AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1', AWS_REGION: 'eu-central-1' };
    const keys = { AWS_ACCESS_KEY_ID: 'an-id', AWS_SECRET_ACCESS_KEY: 'a-secret' };
    const before = { ...process.env };
    Object.assign(process.env, settings, keys);
    try {
      const findings = await look({ LONGHAUL_ARCHIVE: 's3://bucket/prefix' });
      expect(findings.find(({ check }) => check === 'Archive')).toMatchObject({
        isOk: false,
        found: expect.stringContaining('ECONNREFUSED') as string,
        remedy: expect.stringContaining('AWS_ENDPOINT_URL_S3') as string,
      });
    } finally {
      for (const name of Object.keys({ ...settings, ...keys })) {
        if (before[name] === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = before[name];
      }
    }
  });

  it('says so when the archive’s id is an empty file, with which no worker starts, instead of calling it new', async () => {
    const archive = join(folder.path, 'without-id');
    mkdirSync(archive);
    writeFileSync(join(archive, '.archive-id'), '');
    const finding = (await look({ LONGHAUL_ARCHIVE: archive })).find(({ check }) => check === 'Archive');
    expect(finding).toMatchObject({ isOk: false });
    expect(finding?.found).toMatch(/\.archive-id is incomplete: .*Remove the file/);
  });

  it('says so when less is free than the reserve, below which outputs are refused', async () => {
    const findings = await look({ LONGHAUL_ARCHIVE_RESERVE_BYTES: '900000000000000' });

    expect(wrong(findings)).toMatch(
      /Archive.* has [\d.]+ [kMGT]?B free.* reserve of 900\.0 TB .*Make room there, or lower LONGHAUL_ARCHIVE_RESERVE_BYTES/,
    );
    expect((await look()).find(({ check }) => check === 'Archive')?.found).toMatch(
      /can be written; it is new, and has no create record; its disk has .* free, and no output .* leave less than/,
    );
  });
});
