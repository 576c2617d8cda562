import type { FileHandle } from 'node:fs/promises';
import { errorCode } from '../domain/text';
import type { ConnectionRule } from './connection-rule';
import { UploadError } from './errors';
import { hashStream } from './hash-file';
import { atMinimumRate, type MinimumRate, TooSlowError } from './minimum-rate';
import { putFile, type FileToPut } from './put-file';
import { defaultPartPlan, type PartPlan, PartsRefusedError, putParts } from './put-parts';
import { readRange } from './read-range';
import { isClockCorrected, type S3Timeouts } from './s3-settings';
import { FileUnreadableError } from './send-range';
import { safeCause } from './system-error';
import { createUploadClient, rememberClock, type UploadAccess } from './upload-client';
import { readUploadEndpoint, type UploadEndpoint, type UploadLocation } from './upload-endpoint';
import { toUploadError } from './upload-failure';

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
  const before = await versionOf(file);
  if (before.size !== BigInt(sizeBytes)) throw changed(input);
  const sha256 = await sendInTime(input, endpoint);
  const after = await versionOf(file);
  if (after.size !== before.size || after.mtimeNs !== before.mtimeNs) throw changed(input);
  return { bytes: sizeBytes, sha256 };
}

async function sendInTime(input: UploadInput, endpoint: UploadEndpoint): Promise<string> {
  const { minimumRate: rate, sizeBytes: totalBytes, signal, token } = input;
  try {
    return await atMinimumRate({ rate, totalBytes, signal }, (either, onBytes) => {
      const onProgress = (bytes: number): void => {
        onBytes(bytes);
        input.onProgress?.(bytes);
      };
      return send({ ...input, onProgress, ...(either !== undefined && { signal: either }) }, endpoint);
    });
  } catch (error) {
    if (!(error instanceof TooSlowError) || rate === undefined) throw error;
    const remedy = 'look for what slows the way there, or lower LONGHAUL_MIN_INPUT_BYTES_PER_SECOND of the worker';
    throw new UploadError(
      'UPLOAD_TOO_SLOW',
      `the upload of ${token.objectKey} to ${endpoint.bucketHost} is too slow: ${error.toText(rate)}; ${remedy}`,
    );
  }
}

async function send(input: UploadInput, endpoint: UploadEndpoint): Promise<string> {
  const { token, timeouts = { connectMs: 5_000, idleMs: 60_000 }, parts = defaultPartPlan } = input;
  const client = createUploadClient(token, endpoint, { timeouts, rule: input.rule });
  try {
    const put = { ...input, client, bucket: token.bucket, objectKey: token.objectKey };
    const attempt = (): Promise<string> =>
      input.sizeBytes > parts.aboveBytes ? sendInParts(put, parts) : putFile(put);
    return await attempt().catch((error: unknown) => {
      if (!isClockCorrected(error)) throw error;
      return attempt();
    });
  } catch (error) {
    input.signal?.throwIfAborted();
    if (error instanceof FileUnreadableError) throw unreadable(error, input);
    throw toUploadError(error, {
      objectKey: token.objectKey,
      bucketHost: endpoint.bucketHost,
      secrets: [token.accessKeyId, token.accessKeySecret, token.securityToken],
    });
  } finally {
    rememberClock(client, endpoint);
    client.destroy();
  }
}

async function sendInParts(put: FileToPut, plan: PartPlan): Promise<string> {
  try {
    await putParts(put, plan);
  } catch (error) {
    // Nothing is known about what a service lets its credentials do; one PUT they can.
    if (error instanceof PartsRefusedError) return await putFile(put);
    throw error;
  }
  // The parts passed in no order, so the hash has a reading of its own.
  try {
    return (await hashStream(readRange(put.file, 0, put.sizeBytes), put.signal)).sha256;
  } catch (error) {
    throw new FileUnreadableError(errorCode(error), { cause: error });
  }
}

async function versionOf(file: FileHandle): Promise<{ size: bigint; mtimeNs: bigint }> {
  const { size, mtimeNs } = await file.stat({ bigint: true });
  return { size, mtimeNs };
}

function changed({ token }: UploadInput): UploadError {
  return new UploadError('FILE_CHANGED', `the file changed while it was uploaded as ${token.objectKey}`);
}

function unreadable({ cause }: FileUnreadableError, input: UploadInput): UploadError {
  if (cause === undefined) return changed(input);
  return new UploadError('FILE_CHANGED', `the file to upload can no longer be read (${errorCode(cause)})`, {
    cause: safeCause(cause),
  });
}
