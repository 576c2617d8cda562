import type { FileHandle } from 'node:fs/promises';
import { errorCode } from '../core/text';
import { type ConnectionRule, isAddressNotAllowed } from './connection-rule';
import { safeCause, StorageError, UploadError, type UploadErrorCode } from './errors';
import { hashStream } from './hash';
import { readRange } from './local-file';
import { atMinimumRate, type MinimumRate } from './minimum-rate';
import {
  defaultPartPlan,
  type FileToPut,
  FileUnreadableError,
  type PartPlan,
  MultipartRefusedError,
  putFile,
  putInParts,
} from './s3/put-object';
import { isClockCorrected, type S3Timeouts } from './s3/s3-client';
import { isUnavailable, readS3Error, type S3Error, shownCodes, UnexpectedAnswerError } from './s3/s3-error';
import {
  createUploadClient,
  hasAnswered,
  readUploadEndpoint,
  rememberClock,
  type UploadAccess,
  type UploadEndpoint,
  type UploadLocation,
} from './upload-client';

/** Where one file may be put, and the temporary credentials for it (specification, section 2.6). */
export interface UploadTarget extends UploadLocation, UploadAccess {
  readonly objectKey: string;
}

/** One input file to upload. */
export interface UploadInput {
  readonly token: UploadTarget;
  /** Where the endpoint of the token may be. */
  readonly rule: ConnectionRule;
  /** Stays open. */
  readonly file: FileHandle;
  /** Its size when it was opened as a source; another size now means that it changed. */
  readonly sizeBytes: number;
  readonly contentType: string;
  readonly signal?: AbortSignal;
  /** Called often, with the bytes sent so far. */
  readonly onProgress?: (bytes: number) => void;
  /** The least rate; slower uploads are given up. Absent: any. */
  readonly minimumRate?: MinimumRate | undefined;
  /** @default { connectMs: 5000, idleMs: 60000 } */
  readonly timeouts?: S3Timeouts;
  /** Which files go in parts, and how. @default {@link defaultPartPlan} */
  readonly parts?: PartPlan;
}

/** What was uploaded. */
export interface UploadedInput {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/**
 * Uploads a file with the token's credentials: in one streamed PUT, or in parts when it is large. After any failure, a
 * new attempt takes a fresh token and key. Memory does not grow with the file.
 *
 * @throws UploadError, or the abort reason of the caller's signal.
 */
export async function uploadInput(input: UploadInput): Promise<UploadedInput> {
  input.signal?.throwIfAborted();
  const endpoint = readUploadEndpoint(input.token, input.rule);
  const { file, sizeBytes } = input;
  const readVersion = async (): Promise<{ size: bigint; mtimeNs: bigint }> => await file.stat({ bigint: true });
  const before = await readVersion();
  if (before.size !== BigInt(sizeBytes)) throw changed(input);
  const { minimumRate: rate, signal, token } = input;
  const tooSlow = (rates: string): UploadError => {
    const what = `the upload of ${token.objectKey} to ${endpoint.bucketHost} is too slow`;
    return new UploadError('UPLOAD_TOO_SLOW', `${what}: ${rates}; check the network to the storage`);
  };
  const sha256 = await atMinimumRate({ rate, totalBytes: sizeBytes, signal, tooSlow }, (either, onBytes) => {
    const onProgress = (bytes: number): void => {
      onBytes(bytes);
      input.onProgress?.(bytes);
    };
    return send({ ...input, onProgress, signal: either }, endpoint);
  });
  const after = await readVersion();
  if (after.size !== before.size || after.mtimeNs !== before.mtimeNs) throw changed(input);
  return { bytes: sizeBytes, sha256 };
}

async function send(input: UploadInput, endpoint: UploadEndpoint): Promise<string> {
  const { token, timeouts = { connectMs: 5_000, idleMs: 60_000 }, parts = defaultPartPlan } = input;
  const client = createUploadClient(token, endpoint, { timeouts, rule: input.rule });
  try {
    const put = { ...input, client, bucket: token.bucket, objectKey: token.objectKey };
    const attempt = (): Promise<string> =>
      input.sizeBytes > parts.aboveBytes ? sendInParts(put, parts) : putFile(put);
    const sha256 = await attempt().catch((error: unknown) => {
      if (!isClockCorrected(error)) throw error;
      return attempt();
    });
    rememberClock(client, endpoint);
    return sha256;
  } catch (error) {
    input.signal?.throwIfAborted();
    if (readS3Error(error).httpStatus !== undefined) rememberClock(client, endpoint);
    if (error instanceof FileUnreadableError) {
      if (error.cause === undefined) throw changed(input);
      const words = `the file to upload cannot be read any more (${errorCode(error.cause)}); it is tried again: check its disk`;
      throw new UploadError('FILE_UNREADABLE', words, { cause: safeCause(error.cause) });
    }
    const secrets = [token.accessKeyId, token.accessKeySecret, token.securityToken];
    throw toUploadError(error, { objectKey: token.objectKey, endpoint, secrets });
  } finally {
    client.destroy();
  }
}

async function sendInParts(put: FileToPut, plan: PartPlan): Promise<string> {
  try {
    await putInParts(put, plan);
  } catch (error) {
    // The rights of the credentials are not known, but they allow one PUT.
    if (error instanceof MultipartRefusedError) return await putFile(put);
    throw error;
  }
  // The parts were sent in any order, so the file is read once more for its hash.
  try {
    return (await hashStream(readRange(put.file, 0, put.sizeBytes), put.signal)).sha256;
  } catch (error) {
    throw new FileUnreadableError(errorCode(error), { cause: error });
  }
}

function changed({ token }: UploadInput): UploadError {
  return new UploadError('FILE_CHANGED', `the file changed while it was uploaded as ${token.objectKey}`);
}

/** What the message of an upload failure names, and the secrets that it must not. */
export interface UploadContext {
  readonly objectKey: string;
  readonly endpoint: UploadEndpoint;
  readonly secrets: readonly string[];
}

/** Codes of S3 servers and of OSS for expired or unknown credentials: fetch new ones. */
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

/** OSS's finer codes (`EC`) whose own message is unclear. */
const messageByFineCode: Readonly<Record<string, string>> = {
  '0002-00000031': 'the storage account does not accept S3-compatible V4 signatures',
  '0002-00000033': 'the storage account does not accept S3-compatible V4 signatures',
};

/** The error that a failed upload becomes. */
function toUploadError(error: unknown, context: UploadContext): StorageError {
  if (error instanceof StorageError) return error;
  const { bucketHost } = context.endpoint;
  if (isAddressNotAllowed(error)) {
    const problem = `the storage endpoint of the upload token, ${bucketHost}, is not at a public address`;
    const remedy =
      'add the host to LONGHAUL_STORAGE_HOSTS of the worker, or to storageHosts of a ServiceClient, if that is right';
    return new UploadError('ENDPOINT_UNUSABLE', `${problem}; ${remedy}`);
  }
  const said = readS3Error(error, context.secrets);
  const { httpStatus, storageCode, fineCode, message } = said;
  const words = messageByFineCode[fineCode] ?? (message || errorCode(error) || 'the connection failed');
  const codes = httpStatus === undefined ? '' : shownCodes(error, said);
  const isNoStorage =
    error instanceof UnexpectedAnswerError || (httpStatus === undefined && !hasAnswered(context.endpoint));
  const remedy = isNoStorage
    ? '; check the network of the worker, and with the service’s provider the endpoint and bucket of its upload tokens'
    : '';
  return new UploadError(
    isNoStorage ? 'NO_STORAGE' : toErrorCode(said),
    `upload of ${context.objectKey} to ${bucketHost} failed${codes}: ${words}${remedy}`,
    { cause: safeCause(error, context.secrets), httpStatus, storageCode: storageCode || undefined },
  );
}

function toErrorCode(said: S3Error): UploadErrorCode {
  if (expiredCodes.includes(said.storageCode)) return 'CREDENTIALS_EXPIRED';
  if (existsCodes.includes(said.storageCode) || said.httpStatus === 409 || said.httpStatus === 412) {
    return 'OBJECT_EXISTS';
  }
  if (said.httpStatus === 501) return 'UPLOAD_REFUSED';
  // Without a reply, what became of the object is not known.
  return isUnavailable(said) ? 'UPLOAD_UNAVAILABLE' : 'UPLOAD_REFUSED';
}
