import { errorCode } from '../domain/text';
import { ArchiveError } from './errors';
import { isAboutCredentials, isElsewhere, readS3Error, type S3Error } from './s3-error';
import { safeCause } from './system-error';

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

/** The error that a failed request to the archive becomes: what happened, in words, and what to do about it. */
export function toArchiveError(error: unknown, context: S3ArchiveContext): ArchiveError {
  if (error instanceof ArchiveError) return error;
  const { isFull, words } = bucketTrouble(error, { ...context, variable: 'LONGHAUL_ARCHIVE' });
  const cause = safeCause(error, context.secrets);
  const message = `the archive ${context.location} cannot keep or give ${context.name}${words}`;
  return new ArchiveError(isFull ? 'ARCHIVE_FULL' : 'ARCHIVE_UNUSABLE', message, { cause });
}

/** A bucket of the operator's, and which variable names it. */
export interface BucketContext {
  readonly bucket: string;
  readonly variable: 'LONGHAUL_ARCHIVE' | 'LONGHAUL_STAGING';
  readonly secrets: readonly string[];
}

/** Why a request to a bucket failed, as the end of a sentence, with what to do about it. */
export function bucketTrouble(error: unknown, context: BucketContext): { isFull: boolean; words: string } {
  const said = readS3Error(error, context.secrets);
  const { httpStatus, storageCode, message } = said;
  const codes = [httpStatus === undefined ? errorCode(error) : `HTTP ${httpStatus}`, storageCode];
  const shown = codes.filter(Boolean).join(', ');
  const isFull = httpStatus === 507 || fullCodes.includes(storageCode);
  const words = isFull
    ? `the storage has no space left; make room in the bucket ${context.bucket}`
    : wordsFor(said, error, context) || message || 'the connection failed';
  return { isFull, words: `${shown && ` (${shown})`}: ${words}` };
}

function wordsFor(said: S3Error, error: unknown, { bucket, variable }: BucketContext): string {
  const { httpStatus, storageCode, message } = said;
  if (httpStatus === undefined) return wordsWithoutReply(error, message);
  if (storageCode === 'NoSuchBucket') {
    return `there is no bucket ${bucket}; make it, or correct ${variable} and the AWS_* settings`;
  }
  if (isAboutCredentials(said)) {
    return `its credentials are not accepted; correct the AWS_* settings${ofWorker(variable)}`;
  }
  if (isElsewhere(said)) {
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

function ofWorker(variable: BucketContext['variable']): string {
  return variable === 'LONGHAUL_ARCHIVE' ? ' of the worker' : '';
}

/** Without a reply: no request was sent, or nobody answered. */
function wordsWithoutReply(error: unknown, message: string): string {
  const name = error instanceof Error ? error.name : '';
  if (name === 'CredentialsProviderError') {
    return 'there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role';
  }
  if (message.startsWith('Region is missing')) return 'no region is set; set AWS_REGION';
  return `the storage does not answer${message === '' ? '' : ` (${message})`}`;
}
