import { once } from 'node:events';
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { openArchive, type OpenStaging, openStaging } from '../../../src/files';
import { Longhaul } from '../../../src/index';
import { asOperator } from '../../../src/operator';
import { ServiceClient } from '../../../src/service';

const secrets = {
  temporal: 'temporal-secret-5c1d9f',
  service: 'service-secret-77a0e2',
  storage: 'storage-secret-93bb41',
  session: 'session-secret-0e51aa',
};
const before = { ...process.env };

let refusing: Http2Server;
let connection: Connection;
let longhaul: Longhaul;
let staging: OpenStaging;
let service: ServiceClient;

/** A server of gRPC that refuses every request. */
async function startRefusing(): Promise<Http2Server> {
  const server = createServer().on('stream', (stream) => {
    stream.respond(
      {
        ':status': 200,
        'content-type': 'application/grpc',
        'grpc-status': '16',
        'grpc-message': 'no such key',
      },
      { endStream: true },
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

beforeAll(async () => {
  refusing = await startRefusing();
  const { port } = refusing.address() as AddressInfo;
  connection = Connection.lazy({ address: `127.0.0.1:${port}`, tls: false, apiKey: secrets.temporal });
  const storage = {
    AWS_ACCESS_KEY_ID: 'AKIAEXAMPLE',
    AWS_SECRET_ACCESS_KEY: secrets.storage,
    AWS_SESSION_TOKEN: secrets.session,
    AWS_REGION: 'eu-central-1',
    AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1',
    AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: 'true',
  };
  Object.assign(process.env, storage);
  staging = openStaging({ place: 's3://bucket-of-tests/staging' });
  longhaul = new Longhaul({
    ...{ client: new Client({ connection }), webUiUrl: 'https://temporal.example' },
    ...{ staging, archive: openArchive({ place: 's3://bucket-of-tests/archive' }) },
  });
  service = new ServiceClient({ baseUrl: 'http://127.0.0.1:1', apiKey: () => secrets.service });
});
afterAll(async () => {
  staging.close();
  await service.close();
  await connection.close();
  refusing.close();
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, before);
});

/** Every way in which a logger or a debugger writes an object. */
function written(value: unknown): string {
  const everything = { depth: 20, showHidden: true, getters: true, maxArrayLength: null, maxStringLength: null };
  return [
    JSON.stringify(value),
    inspect(value, { depth: 20 }),
    inspect(value, everything),
    inspect(value, { ...everything, customInspect: false }),
  ].join('\n');
}

async function errorOf(act: Promise<unknown>): Promise<unknown> {
  return await act.then(
    () => {
      throw new Error('It did not throw.');
    },
    (error: unknown) => error,
  );
}

const publicObjects: readonly (readonly [string, () => unknown])[] = [
  ['the client', () => longhaul],
  ['the handle of a task', () => longhaul.task('order-17')],
  ['the handle of a batch', () => longhaul.batch('spring')],
  ['the sweeps', () => asOperator(longhaul).sweeps],
  ['the events of a task', () => longhaul.task('order-17').events()],
  ['a list', () => longhaul.list()],
  ['a staging place', () => openStaging({ place: 's3://bucket-of-tests/staging' })],
  ['an archive', () => openArchive({ place: 's3://bucket-of-tests/archive' })],
  ['the client of the service', () => service],
  ['an error of Temporal', () => errorOf(longhaul.task('order-17').isOver())],
  ['an error of a start', () => errorOf(longhaul.start({ webAppId: 1, inputs: {} }))],
  ['an error of the service', () => errorOf(service.getUserMetadata())],
  ['an error of the staging place', () => errorOf(staging.keep(Readable.from([Buffer.from('x')]), 'x.png'))],
  [
    'an error of the archive',
    () =>
      errorOf(
        openArchive({ place: 's3://bucket-of-tests/archive' }).outputs({
          ...{ workflowId: 'task:order-17', requestId: 'r-17', manifest: null },
        }),
      ),
  ],
];

describe('what a backend may log', () => {
  it.each(publicObjects)('has no secret in %s, however deeply it is written', async (_what, make) => {
    const text = written(await make());
    expect(Object.values(secrets).filter((secret) => text.includes(secret))).toEqual([]);
  });

  it('has the id and the page of a task or a batch in its handle', () => {
    const shown = [longhaul.task('order-17'), longhaul.batch('spring')].map((handle) => ({
      json: JSON.parse(JSON.stringify(handle)) as unknown,
      text: inspect(handle),
    }));

    expect(shown.map(({ json }) => json)).toEqual([
      expect.objectContaining({
        workflowId: 'task:order-17',
        url: expect.stringContaining('task%3Aorder-17') as unknown,
      }),
      expect.objectContaining({ workflowId: 'batch:spring', id: 'spring' }),
    ]);
    expect(shown[0]?.text).toContain("workflowId: 'task:order-17'");
  });
});
