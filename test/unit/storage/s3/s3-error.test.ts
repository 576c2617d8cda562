import { S3ServiceException } from '@aws-sdk/client-s3';
import { S3Archive } from '../../../../src/storage/archive/s3-archive';
import { createArchiveClient } from '../../../../src/storage/s3/s3-client';
import { UnexpectedAnswerError } from '../../../../src/storage/s3/s3-error';

const keys = { accessKeyId: 'AKIDSECRET', secretAccessKey: 'SK-SECRET' };

function refusal(httpStatusCode: number, name: string, message = `quoted ${Object.values(keys).join(' ')}`): Error {
  return new S3ServiceException({ name, message, $fault: 'client', $metadata: { httpStatusCode } });
}

function fault(code: string, error = new Error(code)): Error {
  return Object.assign(error, { code });
}

describe('a failure of an archive in S3', () => {
  it.each<[string, Error, RegExp, string?]>([
    ['a storage that is full', refusal(507, 'InsufficientStorage'), /no space left.*bucket photos/, 'ARCHIVE_FULL'],
    ['a quota', refusal(403, 'QuotaExceeded'), /no space left/, 'ARCHIVE_FULL'],
    ['a storage that is busy', refusal(503, 'SlowDown'), /HTTP 503, SlowDown.*cannot answer now/],
    ['too many requests', refusal(429, 'TooManyRequests'), /HTTP 429.*cannot answer now/],
    ['a missing right', refusal(403, 'AccessDenied'), /s3:PutObject.*s3:ListBucket/],
    ['a missing bucket', refusal(404, 'NoSuchBucket'), /no bucket photos.*LONGHAUL_ARCHIVE, AWS_REGION/],
    ['expired credentials', refusal(400, 'ExpiredToken'), /not accepted.*AWS_SECRET_ACCESS_KEY/],
    ['another region', refusal(301, 'PermanentRedirect'), /another region or endpoint.*AWS_REGION/],
    ['an unknown code', refusal(400, 'OddCode', 'odd words'), /HTTP 400, OddCode.*odd words/],
    ['an endpoint without a scheme', fault('ERR_INVALID_URL'), /is no URL; give AWS_ENDPOINT_URL_S3 .*with https:/],
    ['a reset', fault('ECONNRESET'), /ECONNRESET.*does not answer.*AWS_ENDPOINT_URL_S3/],
    ['what is no storage’s answer', new UnexpectedAnswerError('has no ETag; check it'), /: has no ETag; check it$/],
  ])('by %s is told in words, and may be over later', async (_why, error, words, code = 'ARCHIVE_UNUSABLE') => {
    const client = createArchiveClient(true, { region: 'r', endpoint: 'http://127.0.0.1:1', keys });
    client.middlewareStack.add(() => () => Promise.reject(error), { step: 'initialize' });
    const archive = new S3Archive({ client, bucket: 'photos', prefix: 'a', spoolFolder: '/nowhere' });
    const failure: unknown = await archive.read('r/0.png').catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ code, isRetryable: true, message: expect.stringMatching(words) as string });
    expect(String(failure)).toContain('the archive s3://photos/a cannot keep or give r/0.png');
    expect(String(failure)).not.toMatch(/AKIDSECRET|SK-SECRET/);
  });
});
