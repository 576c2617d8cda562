import { open } from 'node:fs/promises';
import { HeadBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { redact } from '../../../../src/core/redact';
import { defaultPartPlan, putFile } from '../../../../src/storage/s3/put-object';
import { S3Bucket } from '../../../../src/storage/s3/s3-bucket';
import { createArchiveClient } from '../../../../src/storage/s3/s3-client';
import { UnexpectedAnswerError } from '../../../../src/storage/s3/s3-error';
import { answerUpload } from '../../../support/answer-upload';
import { startHttpServer } from '../../../support/start-http-server';

const credentials = {
  AWS_ACCESS_KEY_ID: 'AKIAOFTHEARCHIVE',
  AWS_SECRET_ACCESS_KEY: 'secret/of+the/archive',
  AWS_SESSION_TOKEN: 'session-token-of-the-archive',
};

type Answer = Parameters<typeof startHttpServer>[0];

/** What the client makes of a storage that answers so; how many requests it made. */
async function clientOf(answer: Answer, use: (client: S3Client) => Promise<unknown>): Promise<number> {
  const server = await startHttpServer(answer);
  Object.assign(process.env, { ...credentials, AWS_REGION: 'r', AWS_ENDPOINT_URL: server.url });
  const client = createArchiveClient(true);
  await use(client);
  client.destroy();
  await server.close();
  return server.requests.length;
}

const signIn: Answer = (_request, response) => response.writeHead(200).end('<html>Sign in</html>');

describe('the archive’s client', () => {
  it('makes the credentials that it signs with known, so that no text that is redacted shows them', async () => {
    const requests = await clientOf(
      (_request, response) => response.writeHead(403).end(),
      (client) => expect(client.send(new HeadBucketCommand({ Bucket: 'b' }))).rejects.toThrow(),
    );

    expect(requests).toBe(1);
    for (const value of Object.values(credentials)) {
      expect(redact(`a ${value} b`)).toBe('a [redacted] b');
      expect(redact(encodeURIComponent(value))).toBe('[redacted]');
    }
  });

  it('takes no success without an ETag for the storage’s word, such as the page of a proxy', async () => {
    await clientOf(signIn, async (client) => {
      const bucket = new S3Bucket(client, 'b');
      const small = { content: 'x', contentType: 'text/plain', metadata: {} };
      const words = /has no ETag, .*; check the endpoint, and that proxies before it pass the header on/;
      await expect(bucket.put('a', small)).rejects.toThrow(words);
      await expect(bucket.put('a', { ...small, isOnlyNew: true })).rejects.toThrow(words);
      await expect(bucket.read('a')).rejects.toThrow(words);
      await expect(bucket.head('a')).rejects.toThrow(words);
      await expect(bucket.open('a', undefined)).rejects.toThrow(words);
      await expect(bucket.list('').next()).rejects.toThrow(
        /is no list of a bucket; check the endpoint and the proxies/,
      );
    });
  });

  it.each([
    ['all of the object', 200, undefined],
    ['another part', 206, 'bytes 0-3/10'],
    ['a part of which it does not say where it begins', 206, undefined],
  ])('takes no answer for a part of an object that brings %s', async (_what, status, range) => {
    const headers = { etag: '"a"', 'content-length': 4, ...(range !== undefined && { 'content-range': range }) };
    const answer: Answer = (_request, response) => response.writeHead(status, headers).end('0123');
    await clientOf(answer, async (client) => {
      const bucket = new S3Bucket(client, 'b');
      await expect(bucket.readRange('a', 5, 10)).rejects.toThrow(
        'the storage answered with another part than was asked for; check the proxies before it, and that it takes Range',
      );
      await expect(bucket.readRange('a', 0, 10)).resolves.toEqual(new Uint8Array(Buffer.from('0123')));
    });
  });

  it.each([
    ['a part', 'PUT', 'partNumber'],
    ['the end', 'POST', 'uploadId'],
  ])('takes no such page for the storage’s word about %s of an upload in parts', async (_what, method, parameter) => {
    const answer: Answer = (request, response) => {
      const { searchParams } = new URL(request.url, 'http://bucket');
      if (request.method === method && searchParams.has(parameter)) signIn(request, response);
      else answerUpload(request, response);
    };
    const file = await open(__filename);
    const put = { bucket: 'b', objectKey: 'a', file, sizeBytes: 20, contentType: 'text/plain' };
    const plan = { ...defaultPartPlan, aboveBytes: 10, partBytes: 10, attempts: 2, pauseMs: 1 };
    await clientOf(answer, (client) => expect(putFile({ ...put, client }, plan)).rejects.toThrow(/has no ETag/));
    await file.close();
  });

  describe('asked for a list', () => {
    /** A page of a list: its keys, whether it is said to be cut off, and the token of the next one. */
    type Page = readonly [keys: readonly string[], isTruncated?: boolean | undefined, next?: string];
    const tag = (name: string, content: unknown): string => `<${name}>${String(content)}</${name}>`;
    const toXml = ([keys, isTruncated, next]: Page): string =>
      tag(
        'ListBucketResult',
        `${tag('Name', 'b')}${keys.map((key) => tag('Contents', `${tag('Key', key)}${tag('Size', 1)}`)).join('')}` +
          `${isTruncated === undefined ? '' : tag('IsTruncated', isTruncated)}${next === undefined ? '' : tag('NextContinuationToken', next)}`,
      );

    /** The keys that a list brings of these pages, the last of them again and again, and how it failed. */
    async function listPages(...pages: Page[]): Promise<{ keys: string[]; failure: unknown; requests: number }> {
      let count = 0;
      const answer: Answer = (_request, response) => {
        const page = pages[Math.min(count, pages.length - 1)] ?? [[]];
        count += 1;
        response.writeHead(200).end(toXml(page));
      };
      const keys: string[] = [];
      let failure: unknown;
      const requests = await clientOf(answer, async (client) => {
        try {
          for await (const { key } of new S3Bucket(client, 'b').list('')) keys.push(key);
        } catch (error) {
          failure = error;
        }
      });
      return { keys, failure, requests };
    }
    const refused = expect.any(UnexpectedAnswerError) as unknown;

    it('goes on from page to page, over one that has none of its keys', async () => {
      const pages: Page[] = [
        [['a', 'b'], true, 's'],
        [[], true, 't'],
        [['c', '\u{ffff}'], true, 'u'],
        [['\u{10000}'], false],
      ];
      const listed = await listPages(...pages);
      expect(listed).toEqual({ keys: ['a', 'b', 'c', '\u{ffff}', '\u{10000}'], failure: undefined, requests: 4 });
    });

    it('ends where pages all name the same next one', async () => {
      expect(await listPages([[], undefined, 't'])).toMatchObject({ failure: refused, requests: 2 });
    });

    it('ends where the tokens of pages alternate, with keys and without', async () => {
      const again: Page[] = [
        [['a'], true, 's'],
        [['b'], true, 't'],
        [['a'], true, 's'],
      ];
      expect(await listPages(...again)).toEqual({ keys: ['a', 'b'], failure: refused, requests: 3 });
      const empty = Array.from({ length: 200 }, (_, index): Page => [[], true, index % 2 === 0 ? 's' : 't']);
      const { failure, requests } = await listPages(...empty);
      expect([failure, requests < 200]).toEqual([refused, true]);
    });

    it('takes no page that is cut off without a token for the last one', async () => {
      expect(await listPages([['a'], true])).toMatchObject({ failure: refused, requests: 1 });
    });
  });
});
