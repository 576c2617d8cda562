import { safeText, errorCode } from '../../domain/text';
import { ArchiveError, safeCause } from '../errors';

/** A success that no storage answers so, such as the page of a proxy in its place; the message is for people. */
export class UnexpectedAnswerError extends Error {}

/** What an S3 server, or the SDK in its place, said of a request that failed. */
export interface S3Error {
  /** Undefined when no reply came: what became of the request is not known. */
  readonly httpStatus: number | undefined;
  /** The server's error code; empty without a reply. */
  readonly storageCode: string;
  /** OSS's finer code (`EC`); empty elsewhere. */
  readonly fineCode: string;
  readonly message: string;
}

const unavailableCodes: readonly string[] = [
  'InternalError',
  'RequestTimeTooSkewed',
  'RequestTimeout',
  'ServiceUnavailable',
  'SlowDown',
  'TimeoutError',
];

/**
 * Reads what the SDK threw, without the given secrets. The SDK's own error must not be passed on: it can contain the
 * access key, the string to sign and the request.
 */
export function readS3Error(error: unknown, secrets: readonly string[] = []): S3Error {
  const fields = new Map(typeof error === 'object' && error !== null ? Object.entries(error) : []);
  const name = typeof error === 'object' && error !== null && 'name' in error ? error.name : '';
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : '';
  const metadata: unknown = fields.get('$metadata');
  const status =
    typeof metadata === 'object' && metadata !== null && 'httpStatusCode' in metadata ? metadata.httpStatusCode : null;
  const httpStatus = typeof status === 'number' ? status : undefined;
  return {
    httpStatus,
    // Without a reply the name is the SDK's generic one for a network error, whose code says more.
    storageCode: httpStatus !== undefined && typeof name === 'string' ? safeText(name, secrets) : '',
    fineCode: safeText(textOrEmpty(fields.get('EC')), secrets),
    message: safeText(textOrEmpty(message).replace(/^AWS SDK error wrapper for Error: /, ''), secrets),
  };
}

const credentialCodes: readonly string[] = [
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidSecurityToken',
  'InvalidToken',
  'SecurityTokenExpired',
  'SignatureDoesNotMatch',
];
const regionCodes: readonly string[] = [
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
  'PermanentRedirect',
];

/** Whether it is the credentials that were not accepted, rather than what they may do. */
export function isAboutCredentials({ storageCode, httpStatus }: S3Error): boolean {
  return credentialCodes.includes(storageCode) || httpStatus === 401;
}

/** Whether the bucket is elsewhere: in another region, or at another endpoint. */
export function isElsewhere({ storageCode, httpStatus }: S3Error): boolean {
  return regionCodes.includes(storageCode) || httpStatus === 301;
}

/** Whether the same request may succeed a moment later: no reply came, or one that speaks of the moment. */
export function isUnavailable({ httpStatus, storageCode }: S3Error): boolean {
  if (httpStatus === undefined || httpStatus >= 500 || httpStatus === 408 || httpStatus === 429) return true;
  return unavailableCodes.includes(storageCode);
}

function textOrEmpty(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** What the message of a failed archive request names, and the secrets that it must not. */
export interface S3ArchiveContext {
  /** Where the archive is, for people. */
  readonly location: string;
  /** The file's name. */
  readonly name: string;
  readonly bucket: string;
  readonly secrets: readonly string[];
}

const fullCodes: readonly string[] = ['InsufficientStorage', 'QuotaExceeded', 'StorageFull', 'XMinioStorageFull'];

/** The error that a failed request to the archive becomes: what happened and what to do. */
export function toArchiveError(error: unknown, context: S3ArchiveContext): ArchiveError {
  if (error instanceof ArchiveError) return error;
  const { isFull, words } = describeBucketFailure(error, { ...context, variable: 'LONGHAUL_ARCHIVE' });
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
export function describeBucketFailure(error: unknown, context: BucketContext): { isFull: boolean; words: string } {
  const said = readS3Error(error, context.secrets);
  const { httpStatus, storageCode, message } = said;
  const codes = [httpStatus === undefined ? errorCode(error) : `HTTP ${httpStatus}`, storageCode];
  const shown = codes.filter(Boolean).join(', ');
  const isFull = httpStatus === 507 || fullCodes.includes(storageCode);
  const words = isFull
    ? `the storage has no space left; make room in the bucket ${context.bucket}`
    : describe(said, error, context) || message || 'the connection failed';
  return { isFull, words: `${shown && ` (${shown})`}: ${words}` };
}

function describe(said: S3Error, error: unknown, { bucket, variable }: BucketContext): string {
  const { httpStatus, storageCode, message } = said;
  if (httpStatus === undefined) return describeWithoutReply(error, message);
  if (storageCode === 'NoSuchBucket') {
    return `there is no bucket ${bucket}; make it, or correct ${variable}, AWS_REGION or AWS_ENDPOINT_URL_S3`;
  }
  if (isAboutCredentials(said)) {
    const settings = `AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY${workerSuffix(variable)}`;
    return `its credentials are not accepted: the access key or its secret is wrong, or they have expired; correct ${settings}`;
  }
  if (isElsewhere(said)) {
    return `the bucket ${bucket} belongs to another region or endpoint; correct AWS_REGION, or AWS_ENDPOINT_URL_S3 (${message})`;
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

function workerSuffix(variable: BucketContext['variable']): string {
  return variable === 'LONGHAUL_ARCHIVE' ? ' of the worker' : '';
}

/** Without a reply: no request was sent, none was answered, or what answered is no storage. */
function describeWithoutReply(error: unknown, message: string): string {
  if (error instanceof UnexpectedAnswerError) return message;
  const name = error instanceof Error ? error.name : '';
  if (name === 'CredentialsProviderError') {
    return 'there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role';
  }
  if (/^Region (is missing|not accepted: region="")/.test(message)) return 'no region is set; set AWS_REGION';
  if (message.startsWith('Region not accepted')) return 'AWS_REGION is no name of a region; correct it';
  if (errorCode(error) === 'ERR_INVALID_URL' || message.startsWith('Custom endpoint')) {
    return 'its endpoint is no URL; give AWS_ENDPOINT_URL_S3 (or AWS_ENDPOINT_URL) with https:// or http:// before the host';
  }
  const said = message === '' ? '' : ` (${message})`;
  return `the storage does not answer${said}; if it should, correct AWS_ENDPOINT_URL_S3, or AWS_REGION without it`;
}
