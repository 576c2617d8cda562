import { createServer as createHttpServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { generate } from 'selfsigned';
import { connectionProblem } from '../../../src/client/connection-diagnosis';
import { loadTemporalConnection } from '../../../src/config/temporal-connection';
import { temporaryFolder } from '../../support/temporary-folder';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = temporaryFolder();
const servers: Server[] = [];
let certificate: { private: string; cert: string };
let caFile: string;
let otherCaFile: string;

beforeAll(async () => {
  const ofName = (name: string): ReturnType<typeof generate> =>
    generate([{ name: 'commonName', value: name }], {
      algorithm: 'sha256',
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 2, value: name }] },
      ],
    });
  certificate = await ofName('temporal.example');
  caFile = join(folder.path, 'ca.pem');
  writeFileSync(caFile, certificate.cert);
  otherCaFile = join(folder.path, 'other-ca.pem');
  writeFileSync(otherCaFile, (await ofName('other.example')).cert);
});

afterAll(async () => {
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  folder.remove();
});

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sees that its peer has gone, so that the server can be closed. */
function readToTheEnd(socket: Socket): void {
  socket.on('error', () => undefined);
  socket.resume();
}

function tlsServer(options: TlsOptions = {}): Promise<string> {
  const own = { key: certificate.private, cert: certificate.cert, ALPNProtocols: ['h2'] };
  return listening(createTlsServer({ ...own, ...options }, readToTheEnd));
}

/** A server that understands neither TLS nor anything else. */
function plainServer(): Promise<string> {
  return listening(
    createTcpServer((socket) => {
      readToTheEnd(socket);
      socket.end('no tls here');
    }),
  );
}

function problemAt(address: string, env: NodeJS.ProcessEnv = {}): ReturnType<typeof connectionProblem> {
  return connectionProblem(loadTemporalConnection({ XDG_CONFIG_HOME: '/nowhere', ...env, TEMPORAL_ADDRESS: address }));
}

describe('a connection to Temporal that does not come about', () => {
  it('is nobody who listens', async () => {
    await expect(problemAt('127.0.0.1:1')).resolves.toEqual({ reason: 'nothing listens there (ECONNREFUSED)' });
  });

  it('is a name that does not resolve', async () => {
    const problem = await problemAt('temporal.invalid:7233');
    expect(problem?.reason).toContain('temporal.invalid');
  });

  it('is a server with TLS where none is configured', async () => {
    const problem = await problemAt(await tlsServer());
    expect(problem).toMatchObject({ reason: expect.stringContaining('speaks TLS') as string });
    expect(problem?.remedy).toContain('TEMPORAL_TLS=true');
  });

  it('is the port of the Web UI, or another that speaks HTTP/1.1', async () => {
    const address = await listening(createHttpServer((_request, response) => response.end('<html>')));
    await expect(problemAt(address)).resolves.toEqual({
      reason: 'what listens there speaks HTTP/1.1, not gRPC',
      remedy: expect.stringMatching(/gRPC port \(7233 .*not that of its Web UI/) as string,
    });
  });

  it.each([{ TEMPORAL_TLS: 'true' }, { TEMPORAL_API_KEY: 'a-key-of-the-cloud' }])(
    'is a server without TLS where %p turns it on',
    async (env) => {
      const problem = await problemAt(await plainServer(), env);
      expect(problem?.reason).toContain('does not speak TLS');
      expect(problem?.remedy).toContain('TEMPORAL_TLS=false');
    },
  );

  it.each<[string, () => NodeJS.ProcessEnv]>([
    ['without an authority', () => ({})],
    ['with another authority', () => ({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: otherCaFile })],
  ])('is a certificate that is not known %s', async (_, env) => {
    const problem = await problemAt(await tlsServer(), { TEMPORAL_TLS: 'true', ...env() });
    expect(problem?.remedy).toContain('TEMPORAL_TLS_SERVER_CA_CERT_PATH');
  });

  it('is a certificate for another name', async () => {
    const address = await tlsServer();
    const problem = await problemAt(address, { TEMPORAL_TLS_SERVER_CA_CERT_PATH: caFile });
    expect(problem?.reason).toContain('another name');
    expect(problem?.remedy).toContain('TEMPORAL_TLS_SERVER_NAME');
  });

  it('is a server that wants a certificate of the client', async () => {
    const address = await tlsServer({ requestCert: true, rejectUnauthorized: true });
    const problem = await problemAt(address, {
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: caFile,
      TEMPORAL_TLS_SERVER_NAME: 'temporal.example',
    });
    expect(problem?.remedy).toContain('TEMPORAL_TLS_CLIENT_CERT_PATH');
  });

  it('has no reason here where the server can be reached as configured', async () => {
    const env = { TEMPORAL_TLS_SERVER_CA_CERT_PATH: caFile, TEMPORAL_TLS_SERVER_NAME: 'temporal.example' };
    await expect(problemAt(await tlsServer(), env)).resolves.toBeNull();
    await expect(problemAt(await plainServer())).resolves.toBeNull();
  });
});
