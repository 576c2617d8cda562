import type { FileHandle } from 'node:fs/promises';
import { errorCode } from '../core/text';
import { type ConnectionRule, isAddressNotAllowed } from './connection-rule';
import { safeCause, StorageError, UploadError, type UploadErrorCode } from './errors';
import { hashOpenFile, type Measure } from './hash';
import { atMinimumRate, type MinimumRate } from './minimum-rate';
import { FileUnreadableError, type PartPlan, putFile } from './s3/put-object';
import type { Timeouts } from './connections';
import { isClockCorrected } from './s3/s3-client';
import { isUnavailable, readS3Error, type S3Error, shownCodes, UnexpectedAnswerError } from './s3/s3-error';
import {
  allowHost,
  createUploadClient,
  hasAnswered,
  readUploadEndpoint,
  rememberClock,
  type UploadEndpoint,
  type UploadToken,
} from './upload-client';

export interface UploadInput {
  readonly token: UploadToken;
  readonly rule: ConnectionRule;
  /** Stays open. */
  readonly file: FileHandle;
  /** When it was opened; another size now means that it changed. */
  readonly sizeBytes: number;
  readonly contentType: string;
  readonly signal?: AbortSignal;
  /** Called often, with the bytes sent so far. */
  readonly onProgress?: (bytes: number) => void;
  /** Slower uploads are given up. Absent: any rate. */
  readonly minimumRate?: MinimumRate;
  /** @default { connectMs: 5000, idleMs: 60000 } */
  readonly timeouts?: Timeouts;
  /** @default {@link defaultPartPlan} */
  readonly parts?: PartPlan;
}

/**
 * After any failure, a new attempt takes a fresh token and key. Memory does not grow with the file.
 * @throws UploadError, or the abort reason of the caller's signal.
 */
export async function uploadInput(input: UploadInput): Promise<Measure> {
  const { file, sizeBytes, minimumRate: rate, signal, token } = input;
  signal?.throwIfAborted();
  const endpoint = readUploadEndpoint(token, input.rule);
  const changed = new UploadError('FILE_CHANGED', `the file changed while it was uploaded as ${token.objectKey}`);
  const before = await file.stat({ bigint: true });
  if (before.size !== BigInt(sizeBytes)) throw changed;
  const tooSlow = (rates: string): UploadError => {
    const what = `the upload of ${token.objectKey} to ${endpoint.bucketHost} is too slow`;
    return new UploadError('UPLOAD_TOO_SLOW', `${what}: ${rates}; check the network to the storage`);
  };
  const sha256 = await atMinimumRate({ rate, totalBytes: sizeBytes, signal, tooSlow }, async (either, onBytes) => {
    const onProgress = (bytes: number): void => {
      onBytes(bytes);
      input.onProgress?.(bytes);
    };
    return await send({ ...input, onProgress, signal: either }, endpoint).catch((error: unknown) => {
      either?.throwIfAborted();
      if (!(error instanceof FileUnreadableError)) throw error;
      if (error.cause === undefined) throw changed;
      const words = `the file to upload cannot be read any more (${errorCode(error.cause)}); it is tried again: check its disk`;
      throw new UploadError('FILE_UNREADABLE', words, { cause: safeCause(error.cause) });
    });
  });
  const after = await file.stat({ bigint: true });
  if (after.size !== before.size || after.mtimeNs !== before.mtimeNs) throw changed;
  return { bytes: sizeBytes, sha256 };
}

async function send(input: UploadInput, endpoint: UploadEndpoint): Promise<string> {
  const { token, file, sizeBytes, signal, timeouts = { connectMs: 5_000, idleMs: 60_000 } } = input;
  const client = createUploadClient(token, endpoint, { timeouts, rule: input.rule });
  const put = { ...input, client, bucket: token.bucket, objectKey: token.objectKey };
  try {
    const sent = await putFile(put, input.parts).catch(async (error: unknown) => {
      if (!isClockCorrected(error)) throw error;
      return await putFile(put, input.parts);
    });
    rememberClock(client, endpoint);
    if (sent !== undefined) return sent;
    return (
      await hashOpenFile(file, sizeBytes, signal).catch((error: unknown) => {
        throw new FileUnreadableError(errorCode(error), { cause: error });
      })
    ).sha256;
  } catch (error) {
    signal?.throwIfAborted();
    if (readS3Error(error).httpStatus !== undefined) rememberClock(client, endpoint);
    throw error instanceof FileUnreadableError ? error : toUploadError(error, token, endpoint);
  } finally {
    client.destroy();
  }
}

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

function toUploadError(error: unknown, token: UploadToken, endpoint: UploadEndpoint): StorageError {
  if (error instanceof StorageError) return error;
  const { bucketHost } = endpoint;
  if (isAddressNotAllowed(error)) {
    const problem = `the storage endpoint of the upload token, ${bucketHost}, is not at a public address`;
    return new UploadError('ENDPOINT_UNUSABLE', `${problem}; ${allowHost}`);
  }
  const secrets = [token.accessKeyId, token.accessKeySecret, token.securityToken];
  const said = readS3Error(error, secrets);
  const { httpStatus, storageCode, fineCode, message } = said;
  const words = messageByFineCode[fineCode] ?? (message || errorCode(error) || 'the connection failed');
  const codes = httpStatus === undefined ? '' : shownCodes(error, said);
  const isNoStorage = error instanceof UnexpectedAnswerError || (httpStatus === undefined && !hasAnswered(endpoint));
  const remedy = isNoStorage
    ? '; check the network of the worker, and with the service’s provider the endpoint and bucket of its upload tokens'
    : '';
  return new UploadError(
    isNoStorage ? 'NO_STORAGE' : toErrorCode(said),
    `upload of ${token.objectKey} to ${bucketHost} failed${codes}: ${words}${remedy}`,
    { cause: safeCause(error, secrets), httpStatus, storageCode: storageCode || undefined },
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
