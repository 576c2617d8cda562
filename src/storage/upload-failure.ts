import { errorCode } from '../domain/text';
import { isAddressNotAllowed } from './connection-rule';
import { StorageError, UploadError, type UploadErrorCode } from './errors';
import { isUnavailable, readS3Error, type S3Error } from './s3-error';
import { safeCause } from './system-error';

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

/** OSS's finer codes (`EC`) that deserve plainer words than its message has. */
const wordsOfFineCode: Readonly<Record<string, string>> = {
  '0002-00000031': 'the storage account does not accept S3-compatible V4 signatures',
  '0002-00000033': 'the storage account does not accept S3-compatible V4 signatures',
};

/** The error that a failed upload becomes. */
export function toUploadError(error: unknown, context: UploadContext): StorageError {
  if (error instanceof StorageError) return error;
  if (isAddressNotAllowed(error)) {
    const problem = `the storage endpoint of the upload token, ${context.bucketHost}, is not at a public address`;
    const remedy = 'add the host to LONGHAUL_STORAGE_HOSTS of the worker if that is right';
    return new UploadError('ENDPOINT_UNUSABLE', `${problem}; ${remedy}`);
  }
  const said = readS3Error(error, context.secrets);
  const { httpStatus, storageCode, fineCode, message } = said;
  const words = wordsOfFineCode[fineCode] ?? (message || errorCode(error) || 'the connection failed');
  const codes = [httpStatus === undefined ? '' : `HTTP ${httpStatus}`, storageCode, fineCode]
    .filter(Boolean)
    .join(', ');
  return new UploadError(
    meaningOf(said),
    `upload of ${context.objectKey} to ${context.bucketHost} failed${codes === '' ? '' : ` (${codes})`}: ${words}`,
    {
      cause: safeCause(error, context.secrets),
      ...(httpStatus !== undefined && { httpStatus }),
      ...(storageCode !== '' && { storageCode }),
    },
  );
}

function meaningOf(said: S3Error): UploadErrorCode {
  if (expiredCodes.includes(said.storageCode)) return 'CREDENTIALS_EXPIRED';
  if (existsCodes.includes(said.storageCode) || said.httpStatus === 409 || said.httpStatus === 412) {
    return 'OBJECT_EXISTS';
  }
  // Without a reply, what became of the object is not known.
  return isUnavailable(said) ? 'UPLOAD_UNAVAILABLE' : 'UPLOAD_REFUSED';
}
