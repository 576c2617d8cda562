import { safeText } from '../domain/safe-text';
import { StorageError, UploadError, type UploadErrorCode } from './errors';
import { codeOf, safeCause } from './system-error';

/** What an upload failure is told about, and what must not be told. */
export interface UploadContext {
  readonly objectKey: string;
  readonly bucketHost: string;
  readonly secrets: readonly string[];
}

/** Codes of S3 servers and of OSS for credentials that ended, or never were: fetch new ones. */
const expiredCodes: readonly string[] = [
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidAccessKeyId',
  'InvalidSecurityToken',
  'InvalidToken',
  'SecurityTokenExpired',
  'TokenRefreshRequired',
];
const existsCodes: readonly string[] = ['FileAlreadyExists', 'ObjectAlreadyExists', 'PreconditionFailed'];
const unavailableCodes: readonly string[] = [
  'InternalError',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
  'TimeoutError',
];

/** OSS's finer codes (`EC`) that deserve plainer words than its message has. */
const wordsOfFineCode: Readonly<Record<string, string>> = {
  '0002-00000031': 'the storage account does not accept S3-compatible V4 signatures',
  '0002-00000033': 'the storage account does not accept S3-compatible V4 signatures',
};

/**
 * The error that a failed PUT becomes. The SDK's own error goes no further: it can carry the access key, the string to
 * sign and the request.
 */
export function toUploadError(error: unknown, context: UploadContext): StorageError {
  if (error instanceof StorageError) return error;
  const { httpStatus, storageCode, fineCode, message } = readSdkError(error, context.secrets);
  const words =
    wordsOfFineCode[fineCode] ?? (safeText(message, context.secrets) || codeOf(error) || 'the connection failed');
  const said = [httpStatus === undefined ? '' : `HTTP ${httpStatus}`, storageCode, fineCode].filter(Boolean).join(', ');
  return new UploadError(
    meaningOf(httpStatus, storageCode),
    `upload of ${context.objectKey} to ${context.bucketHost} failed${said === '' ? '' : ` (${said})`}: ${words}`,
    {
      cause: safeCause(error, context.secrets),
      ...(httpStatus !== undefined && { httpStatus }),
      ...(storageCode !== '' && { storageCode }),
    },
  );
}

function meaningOf(httpStatus: number | undefined, storageCode: string): UploadErrorCode {
  if (expiredCodes.includes(storageCode)) return 'CREDENTIALS_EXPIRED';
  if (existsCodes.includes(storageCode) || httpStatus === 409 || httpStatus === 412) return 'OBJECT_EXISTS';
  // Without an HTTP status the connection failed: what became of the object is not known.
  if (httpStatus === undefined || httpStatus >= 500 || httpStatus === 408 || httpStatus === 429) {
    return 'UPLOAD_UNAVAILABLE';
  }
  return unavailableCodes.includes(storageCode) ? 'UPLOAD_UNAVAILABLE' : 'UPLOAD_REFUSED';
}

interface SdkError {
  readonly httpStatus: number | undefined;
  readonly storageCode: string;
  readonly fineCode: string;
  readonly message: string;
}

function readSdkError(error: unknown, secrets: readonly string[]): SdkError {
  const fields = new Map(typeof error === 'object' && error !== null ? Object.entries(error) : []);
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : '';
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : '';
  const metadata: unknown = fields.get('$metadata');
  const status =
    typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata ? metadata.httpStatusCode : null;
  const httpStatus = typeof status === 'number' ? status : undefined;
  return {
    httpStatus,
    // Without a reply the name is only the SDK's word for a network error, whose code says more.
    storageCode: httpStatus !== undefined && typeof name === 'string' ? safeText(name, secrets) : '',
    fineCode: safeText(textOf(fields.get('EC')), secrets),
    message: textOf(message),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
