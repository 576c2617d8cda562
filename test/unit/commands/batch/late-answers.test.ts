import type { ServerResponse } from 'node:http';
import { readKnownFigures } from '../../../../src/commands/batch/file-estimate';
import { RecordLookup } from '../../../../src/commands/batch/record-lookup';
import { layoutText } from '../../../../src/archive/batch-record';
import { FakeContext } from '../../../support/fake-context';
import { startHttpServer, type TestHttpServer } from '../../../support/start-http-server';

const before = { ...process.env };
/** A variable that is not known, of which a command that asks Temporal warns. */
const env = {
  ...{ LONGHAUL_ARCHIVE: 's3://bucket', LONGHAUL_S3_PATH_STYLE: 'true' },
  ...{ TEMPORAL_ADDRESS: '127.0.0.1:1', LONGHAUL_UNKNOWN: 'x' },
};
let bucket: TestHttpServer;
/** Answers that are held back. */
const held: ServerResponse[] = [];
let isAsked: Promise<void>;

beforeEach(async () => {
  let onRequest = (): void => undefined;
  isAsked = new Promise<void>((resolve) => (onRequest = resolve));
  bucket = await startHttpServer((_, response) => {
    held.push(response);
    onRequest();
  });
  Object.assign(process.env, {
    ...{ AWS_ENDPOINT_URL_S3: bucket.url, AWS_REGION: 'here', AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'x' },
  });
});
afterEach(async () => {
  held.length = 0;
  await bucket.close();
});
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, before);
});

describe('an archive that answers after the check has gone on without it', () => {
  it('is not known, and is waited for no longer', async () => {
    const [lookup] = await Promise.all([RecordLookup.open(new FakeContext(env), { id: 'photos' }, 1), isAsked]);
    expect(lookup.result(true)).toEqual({ unknown: 'the archive or Temporal did not answer in time' });
  });

  it('is asked no further, and neither is Temporal: nothing is printed then', async () => {
    const context = new FakeContext(env);
    await Promise.all([RecordLookup.open(context, { id: 'photos' }, 1), isAsked]);
    const layout = layoutText({ id: 'photos', digest: 'd'.repeat(64), rows: 1, pages: 1 });
    held[0]?.writeHead(200, { etag: '"1"', 'content-length': layout.length }).end(layout);

    // A connection of its own for each request: the next one would come before this one.
    await fetch(bucket.url, { signal: AbortSignal.timeout(500) }).catch(() => undefined);
    const asked = bucket.requests.map(({ url }) => url.split('?')[0]).filter((path) => path !== '/');
    expect(asked).toEqual(['/bucket/batches/photos/batch.json']);
    expect(context.stderr.text).toBe('');
  });

  it('is asked for the earlier rows of no further app', async () => {
    const [known] = await Promise.all([readKnownFigures(env, [1, 2, 3], 1), isAsked]);
    expect(known).toEqual({ unknown: 'the archive did not answer in time' });
    const answered = new Promise((resolve) => held[0]?.on('close', resolve));
    held[0]?.writeHead(404).end();
    await answered;
    // A connection of its own for each request: the next one would come before this one.
    await fetch(bucket.url, { signal: AbortSignal.timeout(500) }).catch(() => undefined);
    expect(bucket.requests.filter(({ url }) => url.includes('.estimates')).length).toBe(1);
  });
});
