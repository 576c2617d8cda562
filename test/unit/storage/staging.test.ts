import { Readable } from 'node:stream';
import fc from 'fast-check';
import { errorMessage } from '../../../src/core/text';
import { parseS3Uri, s3Uri } from '../../../src/core/uri';
import { createArchiveClient } from '../../../src/storage/s3/s3-client';
import { Staging, stagedKey } from '../../../src/storage/staging';
import { startHttpServer } from '../../support/start-http-server';

const sha256 = 'ab'.repeat(32);

/** The URI under which a storage that answers so has a content staged, or why it has not. */
async function stage(answer: Parameters<typeof startHttpServer>[0], name: string): Promise<string> {
  const server = await startHttpServer(answer);
  const keys = { accessKeyId: 'AKIAOFTHESTAGING', secretAccessKey: 'the secret' };
  const client = createArchiveClient(true, { region: 'r', endpoint: server.url, keys });
  const staging = new Staging({ client, bucket: 'photos', prefix: 'staging' });
  const staged = await staging.keepContent(Readable.from(['bytes']), name).catch(errorMessage);
  client.destroy();
  await server.close();
  return staged;
}

describe('the key of a staged file', () => {
  it.each([
    ['team/staging', '/home/ada/my photo.jpg', `team/staging/${sha256}/my photo.jpg`],
    ['', '/photo.jpg', `${sha256}/photo.jpg`],
    ['s', '/a/b\\c?#\u0007\u202e.png', `s/${sha256}/b_c____.png`],
    ['s', `/${'n'.repeat(200)}.jpeg`, `s/${sha256}/${'n'.repeat(100)}.jpeg`],
  ])('in %j of %j is %s', (prefix, path, key) => {
    expect(stagedKey(prefix, sha256, path)).toBe(key);
  });

  it('is one that a worker can read, whatever the file is called', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 255 }), (name) => {
        const key = stagedKey('staging', sha256, `/photos/${name.replaceAll('/', '')}x`);
        expect(parseS3Uri(s3Uri({ bucket: 'photos', key }))).toEqual({ bucket: 'photos', key });
        expect(Buffer.byteLength(key)).toBeLessThan(1_000);
      }),
    );
  });

  it.each([
    [`/${'n'.repeat(99)}😀.jpeg`, `${'n'.repeat(99)}.jpeg`],
    [`/photo.${'n'.repeat(18)}😀`, `photo.${'n'.repeat(18)}`],
    ['/a\ud83d.png', 'a_.png'],
  ])('has no half of a character, which no storage takes: %j', (path, name) => {
    expect(stagedKey('s', sha256, path)).toBe(`s/${sha256}/${name}`);
  });

  it('lets a content be staged whose name is cut within a character', async () => {
    const uri = await stage(
      ({ method }, response) => {
        response.writeHead(method === 'HEAD' ? 404 : 200, { etag: '"a"' }).end();
      },
      `${'n'.repeat(99)}😀.png`,
    );

    expect(uri).toMatch(/^s3:\/\/photos\/staging\/[0-9a-f]{64}\/n{99}\.png$/);
  });
});

describe('a bucket that refuses what is looked for there', () => {
  /** What the staging says; the refusal of a HEAD has no body, as with every storage. */
  async function refusalOf(status: number, code: string): Promise<string> {
    return await stage(({ method }, response) => {
      response.writeHead(status, { 'Content-Type': 'application/xml' });
      response.end(method === 'HEAD' ? '' : `<Error><Code>${code}</Code><Message>No.</Message></Error>`);
    }, 'a.png');
  }

  it.each([
    [403, 'SignatureDoesNotMatch'],
    [403, 'InvalidAccessKeyId'],
    [400, 'ExpiredToken'],
    [401, 'Unauthorized'],
  ])('with HTTP %i and %s has wrong credentials, and no missing right', async (status, code) => {
    const message = await refusalOf(status, code);
    expect(message).toMatch(/credentials are not accepted: the access key or its secret is wrong.*AWS_ACCESS_KEY_ID/);
    expect(message).toContain(`HTTP ${status}, ${code}`);
    expect(message).not.toContain('s3:GetObject');
  });

  it('with AccessDenied misses a right, which the message names', async () => {
    expect(await refusalOf(403, 'AccessDenied')).toMatch(
      /may not do this; allow s3:GetObject, s3:PutObject, s3:DeleteO/,
    );
  });
});
