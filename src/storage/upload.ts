import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { UploadError } from './errors';
import { putObject, type UploadTimeouts } from './put-object';
import { codeOf, safeCause } from './system-error';
import { TransferMeter } from './transfer-meter';
import { readUploadEndpoint, type UploadLocation } from './upload-endpoint';
import { toUploadError } from './upload-failure';

/** Where one file may be put, and the temporary credentials for it (specification, section 2.6). */
export interface UploadTarget extends UploadLocation {
  readonly objectKey: string;
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  readonly securityToken: string;
}

/** One input file to upload. */
export interface UploadInput {
  readonly token: UploadTarget;
  /** Path of the file. */
  readonly body: string;
  /** Its size when it was opened as a source; another size now means that it changed. */
  readonly sizeBytes: number;
  readonly contentType: string;
  readonly signal?: AbortSignal;
  /** Called often, with the bytes sent so far. */
  readonly onProgress?: (bytes: number) => void;
  /** @default { connectMs: 5000, idleMs: 60000 } */
  readonly timeouts?: UploadTimeouts;
}

/** What was uploaded. */
export interface UploadedInput {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/**
 * Uploads a file in one streamed PUT with the token's credentials, sent once: after any failure, a new attempt takes a
 * fresh token and key. Memory does not grow with the file.
 *
 * @throws UploadError, or the abort reason of the caller's signal.
 */
export async function uploadInput(input: UploadInput): Promise<UploadedInput> {
  input.signal?.throwIfAborted();
  const endpoint = readUploadEndpoint(input.token);
  const file = await openFile(input.body);
  try {
    const before = await versionOf(file);
    if (before.size !== BigInt(input.sizeBytes)) throw changed(input);
    const uploaded = await stream(file, input, endpoint);
    const after = await versionOf(file);
    if (after.size !== before.size || after.mtimeNs !== before.mtimeNs) throw changed(input);
    return uploaded;
  } finally {
    await file.close();
  }
}

async function stream(
  file: FileHandle,
  input: UploadInput,
  endpoint: ReturnType<typeof readUploadEndpoint>,
): Promise<UploadedInput> {
  const { token, sizeBytes, signal, contentType, timeouts = { connectMs: 5_000, idleMs: 60_000 } } = input;
  const meter = new TransferMeter((bytes) => (bytes === sizeBytes ? undefined : changed(input)), input.onProgress);
  // The SDK pipes the body into the request and would wait for ever for a body that failed: its end aborts the PUT.
  const bodyFailure = new AbortController();
  const abort = signal === undefined ? bodyFailure.signal : AbortSignal.any([signal, bodyFailure.signal]);
  const chunks = file.createReadStream({
    start: 0,
    end: Math.max(sizeBytes - 1, 0),
    autoClose: false,
    highWaterMark: 1024 * 1024,
  });
  const reading = pipeline(chunks, meter).catch((error: unknown) => {
    // A premature close is the request's doing, or this function's own.
    if (codeOf(error) !== 'ERR_STREAM_PREMATURE_CLOSE') bodyFailure.abort(error);
  });
  try {
    await putObject({ ...token, endpoint, contentType, body: meter, sizeBytes, signal: abort, timeouts });
    if (meter.bytes !== sizeBytes) {
      throw new UploadError('UPLOAD_UNAVAILABLE', `the storage answered before it had all of ${token.objectKey}`);
    }
    return { bytes: meter.bytes, sha256: meter.sha256() };
  } catch (error) {
    signal?.throwIfAborted();
    const context = {
      objectKey: token.objectKey,
      bucketHost: endpoint.bucketHost,
      secrets: [token.accessKeyId, token.accessKeySecret, token.securityToken],
    };
    throw toUploadError(bodyFailure.signal.aborted ? readFailure(bodyFailure.signal.reason) : error, context);
  } finally {
    // A request that was answered early is still open, and its body still being read.
    bodyFailure.abort();
    meter.destroy();
    await reading;
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    // The path was resolved before: a link in its place now leads somewhere that nobody checked.
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    throw new UploadError('FILE_CHANGED', `the file to upload can no longer be opened (${codeOf(error)})`, {
      cause: safeCause(error),
    });
  }
}

async function versionOf(file: FileHandle): Promise<{ size: bigint; mtimeNs: bigint }> {
  const { size, mtimeNs } = await file.stat({ bigint: true });
  return { size, mtimeNs };
}

function changed({ token }: UploadInput): UploadError {
  return new UploadError('FILE_CHANGED', `the file changed while it was uploaded as ${token.objectKey}`);
}

function readFailure(error: unknown): UploadError {
  if (error instanceof UploadError) return error;
  return new UploadError('FILE_CHANGED', `the file to upload can no longer be read (${codeOf(error)})`, {
    cause: safeCause(error),
  });
}
