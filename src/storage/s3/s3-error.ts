import { isRecord } from '../../core/json';
import { safeText, errorCode } from '../../core/text';
import { safeCause } from '../errors';

/** A success that is not a storage's, such as the page of a proxy; the message is for people. */
export class UnexpectedAnswerError extends Error {}

export interface S3Error {
  /** Undefined when no reply came: what became of the request is not known. */
  readonly httpStatus: number | undefined;
  /** Empty without a reply. */
  readonly storageCode: string;
  /** OSS's finer code (`EC`); empty elsewhere. */
  readonly fineCode: string;
  readonly message: string;
}

/** Without the secrets. The SDK's own error must not be passed on: it can contain the access key and the request. */
export function readS3Error(error: unknown, secrets: readonly string[] = []): S3Error {
  const { name, message, EC, $metadata }: Partial<Record<string, unknown>> = isRecord(error) ? error : {};
  const status = isRecord($metadata) ? $metadata['httpStatusCode'] : undefined;
  const httpStatus = typeof status === 'number' ? status : undefined;
  const text = (value: unknown): string => safeText(typeof value === 'string' ? value : '', secrets);
  return {
    httpStatus,
    // Without a reply the name is a generic one of the SDK's.
    storageCode: httpStatus === undefined ? '' : text(name),
    fineCode: text(EC),
    message: text(message).replace(/^AWS SDK error wrapper for Error: /, ''),
  };
}

export type S3Problem =
  | 'badEndpoint'
  | 'badRegion'
  | 'elsewhere'
  | 'forbidden'
  | 'full'
  | 'missing'
  | 'noBucket'
  | 'noCredentials'
  | 'noReply'
  | 'noRegion'
  | 'refused'
  | 'refusedCredentials'
  | 'unavailable'
  | 'unexpected';

const problemByCode: Readonly<Record<string, S3Problem>> = {
  AuthorizationHeaderMalformed: 'elsewhere',
  ExpiredToken: 'refusedCredentials',
  IllegalLocationConstraintException: 'elsewhere',
  InsufficientStorage: 'full',
  InternalError: 'unavailable',
  InvalidAccessKeyId: 'refusedCredentials',
  InvalidSecurityToken: 'refusedCredentials',
  InvalidToken: 'refusedCredentials',
  NoSuchBucket: 'noBucket',
  PermanentRedirect: 'elsewhere',
  QuotaExceeded: 'full',
  RequestTimeTooSkewed: 'unavailable',
  RequestTimeout: 'unavailable',
  SecurityTokenExpired: 'refusedCredentials',
  ServiceUnavailable: 'unavailable',
  SignatureDoesNotMatch: 'refusedCredentials',
  SlowDown: 'unavailable',
  StorageFull: 'full',
  TimeoutError: 'unavailable',
  XMinioStorageFull: 'full',
};
const problemByStatus: Readonly<Record<number, S3Problem>> = {
  301: 'elsewhere',
  401: 'refusedCredentials',
  403: 'forbidden',
  404: 'missing',
  408: 'unavailable',
  429: 'unavailable',
  507: 'full',
};

/** By the storage's code, then by the HTTP status; without a reply by the SDK's words. */
function s3Problem(error: unknown, { httpStatus, storageCode, message }: S3Error): S3Problem {
  if (httpStatus !== undefined) {
    const byStatus = problemByStatus[httpStatus] ?? (httpStatus >= 500 ? 'unavailable' : 'refused');
    return Object.hasOwn(problemByCode, storageCode) ? (problemByCode[storageCode] ?? byStatus) : byStatus;
  }
  if (error instanceof UnexpectedAnswerError) return 'unexpected';
  if (error instanceof Error && error.name === 'CredentialsProviderError') return 'noCredentials';
  if (/^Region (is missing|not accepted: region="")/.test(message)) return 'noRegion';
  if (message.startsWith('Region not accepted')) return 'badRegion';
  const isBadEndpoint = errorCode(error) === 'ERR_INVALID_URL' || message.startsWith('Custom endpoint');
  return isBadEndpoint ? 'badEndpoint' : 'noReply';
}

/** Whether the same request may soon succeed: no reply came, or a temporary one. */
export function isUnavailable(said: S3Error): boolean {
  const { httpStatus } = said;
  return httpStatus === undefined || httpStatus >= 500 || s3Problem(undefined, said) === 'unavailable';
}

/** Such as ` (HTTP 403, AccessDenied)`. */
export function shownCodes(error: unknown, { httpStatus, storageCode, fineCode }: S3Error): string {
  const codes = [httpStatus === undefined ? errorCode(error) : `HTTP ${httpStatus}`, storageCode, fineCode];
  const shown = codes.filter(Boolean).join(', ');
  return shown === '' ? '' : ` (${shown})`;
}

export type BucketVariable = 'LONGHAUL_ARCHIVE' | 'LONGHAUL_STAGING' | 'LONGHAUL_INPUT_BUCKETS';

interface BucketContext {
  readonly bucket: string;
  readonly variable: BucketVariable;
  readonly secrets: readonly string[];
}

export interface BucketFailure {
  readonly problem: S3Problem;
  /** The end of a sentence. */
  readonly words: string;
  /** May be shown. */
  readonly cause: Error;
}

export function explainBucketFailure(error: unknown, context: BucketContext): BucketFailure {
  const said = readS3Error(error, context.secrets);
  const problem = s3Problem(error, said);
  const words = explain(problem, said, context) || 'the connection failed';
  return {
    problem,
    words: `${shownCodes(error, { ...said, fineCode: '' })}: ${words}`,
    cause: safeCause(error, context.secrets),
  };
}

function explain(problem: S3Problem, { message }: S3Error, { bucket, variable }: BucketContext): string {
  const isRead = variable === 'LONGHAUL_INPUT_BUCKETS';
  const whose = variable === 'LONGHAUL_STAGING' ? '' : ' of the worker';
  switch (problem) {
    case 'full':
      return `the storage has no space left; make room in the bucket ${bucket}`;
    case 'noBucket':
      return `there is no bucket ${bucket}; make it, or correct ${variable}, AWS_REGION or AWS_ENDPOINT_URL_S3`;
    case 'refusedCredentials':
      return `its credentials are not accepted: the access key or its secret is wrong, or they have expired; correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY${whose}`;
    case 'elsewhere':
      return `the bucket ${bucket} belongs to another region or endpoint; correct AWS_REGION, or AWS_ENDPOINT_URL_S3 (${message})`;
    case 'forbidden': {
      const rights = isRead ? '' : ', s3:PutObject, s3:DeleteObject and s3:AbortMultipartUpload';
      return `the credentials may not do this; allow s3:GetObject${rights} in the bucket ${bucket}, and s3:ListBucket on it`;
    }
    case 'unavailable':
      return `the storage cannot answer now (${message})`;
    case 'noCredentials':
      return 'there are no credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role';
    case 'noRegion':
      return 'no region is set; set AWS_REGION';
    case 'badRegion':
      return 'AWS_REGION is no name of a region; correct it';
    case 'badEndpoint':
      return 'its endpoint is no URL; give AWS_ENDPOINT_URL_S3 (or AWS_ENDPOINT_URL) with https:// or http:// before the host';
    case 'noReply':
      return `the storage does not answer${message === '' ? '' : ` (${message})`}; if it should, correct AWS_ENDPOINT_URL_S3, or AWS_REGION without it`;
    case 'missing':
    case 'refused':
    case 'unexpected':
      return message;
  }
}
