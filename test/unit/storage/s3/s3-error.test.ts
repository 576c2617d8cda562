import { S3ServiceException } from '@aws-sdk/client-s3';
import { toArchiveError, UnexpectedAnswerError } from '../../../../src/storage/s3/s3-error';

const context = { bucket: 'photos', secrets: ['AKIDSECRET', 'SK-SECRET'] };
const what = 'the archive s3://photos/a cannot keep or give r/0.png';

function refusal(httpStatusCode: number, name: string, message = `quoted ${context.secrets.join(' ')}`): Error {
  return new S3ServiceException({ name, message, $fault: 'client', $metadata: { httpStatusCode } });
}

describe('a failure of an archive in S3', () => {
  it.each<[string, Error, string, RegExp]>([
    ['a storage that is full', refusal(507, 'InsufficientStorage'), 'ARCHIVE_FULL', /no space left.*bucket photos/],
    ['a quota', refusal(403, 'QuotaExceeded'), 'ARCHIVE_FULL', /no space left/],
    ['a storage that is busy', refusal(503, 'SlowDown'), 'ARCHIVE_UNUSABLE', /HTTP 503, SlowDown.*cannot answer now/],
    ['too many requests', refusal(429, 'TooManyRequests'), 'ARCHIVE_UNUSABLE', /HTTP 429.*cannot answer now/],
    ['a missing right', refusal(403, 'AccessDenied'), 'ARCHIVE_UNUSABLE', /s3:PutObject.*s3:ListBucket/],
    [
      'a missing bucket',
      refusal(404, 'NoSuchBucket'),
      'ARCHIVE_UNUSABLE',
      /no bucket photos.*LONGHAUL_ARCHIVE, AWS_REGION/,
    ],
    ['expired credentials', refusal(400, 'ExpiredToken'), 'ARCHIVE_UNUSABLE', /not accepted.*AWS_SECRET_ACCESS_KEY/],
    ['another region', refusal(301, 'PermanentRedirect'), 'ARCHIVE_UNUSABLE', /another region or endpoint.*AWS_REGION/],
    ['what nobody foresaw', refusal(400, 'OddCode', 'odd words'), 'ARCHIVE_UNUSABLE', /HTTP 400, OddCode.*odd words/],
    [
      'an endpoint without a scheme',
      Object.assign(new TypeError('Invalid URL'), { code: 'ERR_INVALID_URL' }),
      'ARCHIVE_UNUSABLE',
      /endpoint is no URL; give AWS_ENDPOINT_URL_S3 .*with https:/,
    ],
    [
      'a reset',
      Object.assign(new Error('reset'), { code: 'ECONNRESET' }),
      'ARCHIVE_UNUSABLE',
      /ECONNRESET.*does not answer.*AWS_ENDPOINT_URL_S3/,
    ],
    [
      'what is no storage’s answer',
      new UnexpectedAnswerError('the answer has no ETag; check the endpoint'),
      'ARCHIVE_UNUSABLE',
      /: the answer has no ETag; check the endpoint$/,
    ],
  ])('by %s is told in words, and may be over later', (_why, error, code, words) => {
    const { message, ...rest } = toArchiveError(error, what, context);
    expect(rest).toMatchObject({ code, isRetryable: true });
    expect(message.startsWith(what)).toBe(true);
    expect(message).toMatch(words);
    expect(context.secrets.filter((secret) => message.includes(secret))).toEqual([]);
  });
});
