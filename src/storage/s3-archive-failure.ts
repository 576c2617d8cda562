import { ArchiveError, type ArchiveErrorCode } from './errors';
import { readS3Error, type S3Error } from './s3-error';
import { codeOf, safeCause } from './system-error';

/** What a failure of an archive in S3 is told about, and what must not be told. */
export interface S3ArchiveContext {
  /** Where the archive is, for people. */
  readonly location: string;
  /** The file's name. */
  readonly name: string;
  readonly bucket: string;
  readonly secrets: readonly string[];
}

const fullCodes: readonly string[] = ['InsufficientStorage', 'QuotaExceeded', 'StorageFull', 'XMinioStorageFull'];
const credentialCodes: readonly string[] = [
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidSecurityToken',
  'InvalidToken',
  'SignatureDoesNotMatch',
];
const regionCodes: readonly string[] = [
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
  'PermanentRedirect',
];

/** The error that a failed request to the archive becomes: what happened, in words, and what to do about it. */
export function toArchiveError(error: unknown, context: S3ArchiveContext): ArchiveError {
  if (error instanceof ArchiveError) return error;
  const said = readS3Error(error, context.secrets);
  const { code, words } = meaningOf(said, error, context.bucket);
  const codes = [said.httpStatus === undefined ? codeOf(error) : `HTTP ${said.httpStatus}`, said.storageCode];
  const shown = codes.filter(Boolean).join(', ');
  return new ArchiveError(
    code,
    `the archive ${context.location} cannot keep or give ${context.name}${shown && ` (${shown})`}: ${words}`,
    { cause: safeCause(error, context.secrets) },
  );
}

function meaningOf(said: S3Error, error: unknown, bucket: string): { code: ArchiveErrorCode; words: string } {
  const { httpStatus, storageCode, message } = said;
  if (httpStatus === 507 || fullCodes.includes(storageCode)) {
    return { code: 'ARCHIVE_FULL', words: `the storage has no space left; make room in the bucket ${bucket}` };
  }
  return { code: 'ARCHIVE_UNUSABLE', words: wordsFor(said, error, bucket) || message || 'the connection failed' };
}

function wordsFor({ httpStatus, storageCode, message }: S3Error, error: unknown, bucket: string): string {
  if (httpStatus === undefined) return wordsWithoutReply(error, message);
  if (storageCode === 'NoSuchBucket') {
    return `there is no bucket ${bucket}; make it, or correct LONGHAUL_ARCHIVE and the AWS_* settings`;
  }
  if (credentialCodes.includes(storageCode)) {
    return `its credentials are not accepted; correct the AWS_* settings of the worker`;
  }
  if (regionCodes.includes(storageCode) || httpStatus === 301) {
    return `the bucket ${bucket} belongs to another region or endpoint; correct the AWS_* settings (${message})`;
  }
  if (httpStatus === 403) {
    return (
      `the credentials may not do this; allow s3:GetObject, s3:PutObject, s3:DeleteObject and ` +
      `s3:AbortMultipartUpload in the bucket ${bucket}, and s3:ListBucket on it`
    );
  }
  if (httpStatus >= 500 || httpStatus === 429) return `the storage cannot answer now (${message})`;
  return '';
}

/** Without a reply: no request was sent, or nobody answered. */
function wordsWithoutReply(error: unknown, message: string): string {
  const name = error instanceof Error ? error.name : '';
  if (name === 'CredentialsProviderError') {
    return 'there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give the worker a role';
  }
  if (message.startsWith('Region is missing')) return 'no region is set; set AWS_REGION';
  return `the storage does not answer${message === '' ? '' : ` (${message})`}`;
}
