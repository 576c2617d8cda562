import { inspect } from 'node:util';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { toApplicationFailure } from '../../../src/activities/to-application-failure';
import {
  ApiKeyUnavailableError,
  InsufficientBalanceError,
  InvalidRequestError,
  NotFoundError,
  OutputGoneError,
  RateLimitedError,
  ServiceApiError,
  ServiceArgumentError,
  ServiceResponseInvalidError,
  ServiceTimeoutError,
  ServiceUnavailableError,
  ServiceUnreachableError,
  UnauthorizedError,
} from '../../../src/service';
import { ArchiveError, DownloadError, SourceError, UploadError } from '../../../src/storage/errors';

const source = { source: 'photo.jpg', problem: 'does not exist', remedy: 'give another' };

const rows: [string, Error, string, 'final' | 'retried'][] = [
  ['a refused key', new UnauthorizedError('no', { httpStatus: 401 }, 'UNAUTHORIZED'), 'AccountRefused', 'retried'],
  ['a key that cannot be read', new ApiKeyUnavailableError('no file'), 'AccountRefused', 'retried'],
  ['an argument that cannot be sent', new ServiceArgumentError('no'), 'ServiceRefused', 'final'],
  ['a wrong request', new InvalidRequestError('no', { httpStatus: 400 }, 'INVALID_REQUEST'), 'ServiceRefused', 'final'],
  [
    'no balance',
    new InsufficientBalanceError('no', { httpStatus: 402 }, 'INSUFFICIENT_BALANCE'),
    'AccountRefused',
    'retried',
  ],
  ['an unknown app', new NotFoundError('no', { httpStatus: 404 }, 'APP_NOT_FOUND'), 'ServiceRefused', 'final'],
  ['an unknown code', new ServiceApiError('no', { httpStatus: 200 }), 'ServiceRefused', 'retried'],
  ['an unknown task', new NotFoundError('no', { httpStatus: 404 }, 'TASK_NOT_FOUND'), 'TaskNotFound', 'retried'],
  [
    'outputs that are gone',
    new OutputGoneError('no', { httpStatus: 410 }, 'OUTPUT_GONE'),
    'OutputUnavailable',
    'retried',
  ],
  [
    'too many requests',
    new RateLimitedError('no', { httpStatus: 429 }, 'RATE_LIMITED'),
    'ServiceUnavailable',
    'retried',
  ],
  ['a full queue', new RateLimitedError('no', { httpStatus: 503 }, 'QUEUE_FULL'), 'ServiceUnavailable', 'retried'],
  [
    'a failing service',
    new ServiceUnavailableError('no', { httpStatus: 502 }, 'SERVICE_UNAVAILABLE'),
    'ServiceUnavailable',
    'retried',
  ],
  ['no connection', new ServiceUnreachableError('ECONNREFUSED'), 'ServiceUnavailable', 'retried'],
  ['no answer in time', new ServiceTimeoutError('slow', { timeoutMs: 5 }), 'ServiceUnavailable', 'retried'],
  ['a missing file', new SourceError('NOT_FOUND', source), 'InputUnusable', 'final'],
  ['a source that failed', new SourceError('FETCH_FAILED', source), 'InputUnusable', 'retried'],
  ['a file whose disk fails', new UploadError('FILE_UNREADABLE', 'no'), 'InputUnusable', 'retried'],
  ['a file that changed', new UploadError('FILE_CHANGED', 'no'), 'InputUnusable', 'final'],
  ['an unavailable storage', new UploadError('UPLOAD_UNAVAILABLE', 'no'), 'StorageUnavailable', 'retried'],
  ['a refusing storage', new UploadError('UPLOAD_REFUSED', 'no'), 'StorageRefused', 'final'],
  ['an expired link', new DownloadError('LINK_EXPIRED', 'no'), 'OutputUnavailable', 'retried'],
  ['a full archive', new ArchiveError('ARCHIVE_FULL', 'no'), 'ArchiveUnavailable', 'retried'],
  ['a name that is no name', new ArchiveError('NAME_INVALID', 'no'), 'ArchiveUnavailable', 'final'],
  ['a bug', new RangeError('no'), 'RangeError', 'retried'],
];

describe('what an error means to Temporal', () => {
  it.each(rows)('%s', (_what, error, type, expected) => {
    const failure = toApplicationFailure(error, { account: 'default' });

    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({ type, nonRetryable: expected === 'final' });
  });

  const rubbish = new ServiceResponseInvalidError('no JSON', { httpStatus: 200 });
  it.each<[string, Error, string, string]>([
    ['rubbish', rubbish, 'ServiceReplyInvalid', 'ServiceReplyInvalid'],
    ['expired credentials', new UploadError('CREDENTIALS_EXPIRED', 'no'), 'StorageUnavailable', 'StorageRefused'],
    ['keys that are taken', new UploadError('OBJECT_EXISTS', 'no'), 'StorageUnavailable', 'StorageRefused'],
    ['an endpoint without a storage', new UploadError('NO_STORAGE', 'no'), 'StorageUnavailable', 'StorageRefused'],
  ])('%s: final only once that has lasted', (_what, error, atFirst, later) => {
    expect(toApplicationFailure(error, null, () => false)).toMatchObject({ type: atFirst, nonRetryable: false });
    expect(toApplicationFailure(error, null, () => true)).toMatchObject({ type: later, nonRetryable: true });
  });

  it('names the setting that has the refused key, where it is known', () => {
    const refused = new UnauthorizedError('no', { httpStatus: 401 }, 'UNAUTHORIZED');
    const setting = 'apiKeyFile of account "studio" in LONGHAUL_ACCOUNTS_FILE';
    expect(toApplicationFailure(refused, { account: 'studio', setting }).message).toContain(
      `the API key of the account "studio" is not accepted: correct it in ${setting} of the worker`,
    );
    expect(toApplicationFailure(refused, { account: 'studio' }).message).toContain(
      'correct it in LONGHAUL_API_KEY, LONGHAUL_API_KEY_FILE or LONGHAUL_ACCOUNTS_FILE of the worker',
    );
  });

  it('waits as long as the service asked to', () => {
    const error = new RateLimitedError('no', { httpStatus: 429, retryAfterMs: 7_000 }, 'RATE_LIMITED');
    expect(toApplicationFailure(error, { account: 'default' })).toMatchObject({ nextRetryDelay: 7_000 });
  });

  it('leaves the pause to Temporal where the service asked for none, for a pause of 0 would end the activity', () => {
    const error = new RateLimitedError('no', { httpStatus: 429, retryAfterMs: 0 }, 'RATE_LIMITED');
    expect(toApplicationFailure(error)).toMatchObject({ nonRetryable: false, nextRetryDelay: undefined });
  });

  it('passes a cancellation through as it is', () => {
    const cancelled = new CancelledFailure('WORKER_SHUTDOWN');
    expect(toApplicationFailure(cancelled, { account: 'default' })).toBe(cancelled);
  });

  it('cuts the message of a failure that an activity made itself, and keeps its type and details', () => {
    const given = { type: 'ServiceUnavailable', details: ['one'] };
    const failure = toApplicationFailure(ApplicationFailure.create({ ...given, message: 'x'.repeat(100_000) }));
    expect(failure).toMatchObject(given);
    expect(failure.message.length).toBeLessThan(5_000);
  });

  it('lets no URL of the service into the history, and keeps the host', () => {
    const error = new ServiceUnreachableError('cannot reach https://service.example/w/v1/x?requestId=1&token=abc');
    const failure = toApplicationFailure(error, { account: 'default' });

    expect(failure.message).toContain('service.example');
    expect(inspect(failure)).not.toMatch(/https:|\/w\/v1|token/);
  });
});
