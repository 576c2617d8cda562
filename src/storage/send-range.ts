import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { errorCode } from '../domain/text';
import { readRange } from './read-range';
import { TransferMeter } from './transfer-meter';

/** A piece of an open file. */
export interface FileRange {
  readonly file: FileHandle;
  readonly startByte: number;
  readonly sizeBytes: number;
  readonly signal?: AbortSignal | undefined;
  /** Called often, with the bytes of this range that were read so far. */
  readonly onProgress?: ((bytes: number) => void) | undefined;
}

/** A file could not be read, or was shorter than it should be; the system's error, if there was one, is the cause. */
export class FileUnreadableError extends Error {}

/**
 * Streams a range into a request: `send` gets it as a body, with the signal that ends the request. Memory does not grow
 * with the range.
 *
 * @returns what `send` returns, and the SHA-256 (hex) of what was sent.
 * @throws the signal's reason, FileUnreadableError, or what `send` throws.
 */
export async function sendRange<T>(
  range: FileRange,
  send: (body: Readable, signal: AbortSignal) => Promise<T>,
): Promise<{ readonly reply: T; readonly sha256: string }> {
  const { file, startByte, sizeBytes, signal, onProgress } = range;
  signal?.throwIfAborted();
  const isShort = (bytes: number): Error | undefined =>
    bytes === sizeBytes ? undefined : new FileUnreadableError(`${bytes} bytes instead of ${sizeBytes}`);
  const meter = new TransferMeter(isShort, onProgress);
  // The SDK pipes the body into the request and would wait for ever for a body that failed: its end aborts the request.
  const bodyFailure = new AbortController();
  const abort = signal === undefined ? bodyFailure.signal : AbortSignal.any([signal, bodyFailure.signal]);
  const reading = pipeline(readRange(file, startByte, sizeBytes), meter).catch((error: unknown) => {
    // A premature close is the request's doing, or this function's own.
    if (errorCode(error) !== 'ERR_STREAM_PREMATURE_CLOSE') bodyFailure.abort(asUnreadable(error));
  });
  try {
    const reply = await send(meter, abort);
    if (meter.bytes !== sizeBytes) throw new Error('the storage answered before it had everything');
    return { reply, sha256: meter.sha256() };
  } catch (error) {
    signal?.throwIfAborted();
    throw bodyFailure.signal.aborted ? bodyFailure.signal.reason : error;
  } finally {
    // A request that was answered early is still open, and its body still being read.
    bodyFailure.abort();
    meter.destroy();
    await reading;
  }
}

function asUnreadable(error: unknown): FileUnreadableError {
  return error instanceof FileUnreadableError ? error : new FileUnreadableError(errorCode(error), { cause: error });
}
