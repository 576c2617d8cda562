import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { readAwsSettings } from '../../../src/config/aws-settings';
import { openArchive, openStaging } from '../../../src/files';
import { createArchiveClient } from '../../../src/storage/s3/s3-client';
import { type TestHttpServer, startHttpServer } from '../../support/start-http-server';
import { temporaryFolder } from '../../support/temporary-folder';

const secret = 'not-a-secret-of-any-account';
const before = { ...process.env };
const folder = temporaryFolder();
const profiles = join(folder.path, 'credentials');
let ofTheProcess: TestHttpServer;
let given: TestHttpServer;

beforeAll(() => {
  const account = (name: string, key: string): string =>
    `[${name}]\naws_access_key_id = ${key}\naws_secret_access_key = ${secret}\n`;
  writeFileSync(profiles, account('default', 'AKIADEFAULT') + account('other', 'AKIAOTHER'));
});
beforeEach(async () => {
  const refuse = (): Promise<TestHttpServer> => startHttpServer((_request, response) => response.writeHead(403).end());
  [ofTheProcess, given] = await Promise.all([refuse(), refuse()]);
  Object.assign(process.env, {
    ...{ AWS_ENDPOINT_URL_S3: ofTheProcess.url, AWS_REGION: 'of-the-process' },
    ...{ AWS_ACCESS_KEY_ID: 'AKIAPROCESS', AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: 'token-of-the-process' },
    ...{ AWS_SHARED_CREDENTIALS_FILE: profiles, AWS_CONFIG_FILE: join(folder.path, 'none') },
    ...{ AWS_EC2_METADATA_DISABLED: 'true', LONGHAUL_S3_PATH_STYLE: 'true' },
  });
});
afterEach(async () => {
  await Promise.all([ofTheProcess.close(), given.close()]);
});
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) Reflect.deleteProperty(process.env, name);
  Object.assign(process.env, before);
  folder.remove();
});

/** What an archive asks of its bucket, and what a staging does, with this environment. */
const places: readonly (readonly [string, (env?: NodeJS.ProcessEnv) => Promise<unknown>])[] = [
  [
    'an archive',
    (env) => {
      const archive = openArchive({ place: 's3://bucket', ...(env && { env }) });
      return archive.outputs({ workflowId: 'task:a', requestId: 'r', manifest: null });
    },
  ],
  [
    'a staging',
    (env) => openStaging({ place: 's3://bucket', ...(env && { env }) }).keep(Readable.from(['x']), 'a.png'),
  ],
];

describe.each(places)('the client of %s', (_name, use) => {
  /** Whose key signs, for which region, with which token. */
  const signed = (server: TestHttpServer): readonly unknown[] =>
    server.requests
      .slice(0, 1)
      .map(({ headers }) => [
        /Credential=(\w+)\/\d+\/([^/]+)\//.exec(headers.authorization ?? '')?.slice(1),
        headers['x-amz-security-token'],
      ]);
  const path = { LONGHAUL_S3_PATH_STYLE: 'true' };

  it('goes by the environment of the process where no other is given', async () => {
    await expect(use()).rejects.toThrow(/403/);
    expect(signed(ofTheProcess)).toEqual([[['AKIAPROCESS', 'of-the-process'], 'token-of-the-process']]);
  });

  it('takes endpoint, region and keys from the environment that is given, and nothing from the process', async () => {
    const env = {
      ...{ ...path, AWS_ENDPOINT_URL: given.url, AWS_DEFAULT_REGION: 'given', AWS_PROFILE: 'other' },
      ...{ AWS_REGION: '', AWS_SESSION_TOKEN: '', AWS_ACCESS_KEY_ID: 'AKIAGIVEN', AWS_SECRET_ACCESS_KEY: secret },
    };
    await expect(use(env)).rejects.toThrow(/403/);
    expect(signed(given)).toEqual([[['AKIAGIVEN', 'given'], undefined]]);
    expect(ofTheProcess.requests).toEqual([]);
  });

  it.each([
    ['default', {}, 'AKIADEFAULT'],
    ['named', { AWS_PROFILE: 'other' }, 'AKIAOTHER'],
  ])('takes the %s profile of the shared files where the environment has no keys', async (_which, profile, key) => {
    await expect(use({ ...path, ...profile, AWS_ENDPOINT_URL_S3: given.url, AWS_REGION: 'given' })).rejects.toThrow(
      /403/,
    );
    expect(signed(given)).toEqual([[[key, 'given'], undefined]]);
  });

  it('has no region where the environment has none, or an empty one', async () => {
    const region = { ...process.env, AWS_REGION: '' };
    for (const env of [{ ...path, AWS_ENDPOINT_URL_S3: given.url }, region]) {
      await expect(use(env)).rejects.toThrow(/no region is set; set AWS_REGION/);
    }
    process.env['AWS_REGION'] = '';
    await expect(use()).rejects.toThrow(/no region is set; set AWS_REGION/);
    expect([...given.requests, ...ofTheProcess.requests]).toEqual([]);
  });

  it('says that a region cannot be one, and that an endpoint is no URL', async () => {
    await expect(use({ ...process.env, AWS_REGION: 'not a region' })).rejects.toThrow(/AWS_REGION is no name of a/);
    await expect(use({ ...process.env, AWS_ENDPOINT_URL_S3: '127.0.0.1:9' })).rejects.toThrow(/endpoint is no URL/);
  });
});

describe('a place with an option that is not known', () => {
  it.each([
    ['an archive', openArchive],
    ['a staging', openStaging],
  ])('is refused for %s, with the one that was meant', (_name, open) => {
    const misspelt = { plce: 's3://bucket' };
    expect(() => open(misspelt as object)).toThrow(
      /Unknown option "plce"; did you mean place\? Known are place, isPathStyle/,
    );
  });
});

describe('the client of an environment without an endpoint', () => {
  it('asks Amazon, and not the storage of the process', async () => {
    const env = { ...process.env, AWS_ENDPOINT_URL_S3: '', AWS_REGION: 'eu-west-1' };
    const client = createArchiveClient(true, readAwsSettings(env));
    const link = await getSignedUrl(client, new GetObjectCommand({ Bucket: 'bucket', Key: 'a.png' }));
    client.destroy();
    expect(new URL(link).host).toBe('s3.eu-west-1.amazonaws.com');
  });
});
