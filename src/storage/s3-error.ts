import { safeText } from '../domain/text';

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
 * Reads what the SDK threw, without the given secrets. The SDK's own error must go no further: it can carry the access
 * key, the string to sign and the request.
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
    // Without a reply the name is only the SDK's word for a network error, whose code says more.
    storageCode: httpStatus !== undefined && typeof name === 'string' ? safeText(name, secrets) : '',
    fineCode: safeText(textOf(fields.get('EC')), secrets),
    message: safeText(textOf(message).replace(/^AWS SDK error wrapper for Error: /, ''), secrets),
  };
}

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

/** Whether it is the credentials that were not accepted, rather than what they may do. */
export function isAboutCredentials({ storageCode }: S3Error): boolean {
  return credentialCodes.includes(storageCode);
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

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
