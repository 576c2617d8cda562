import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { readRange } from './local-file';

/** What a content is known by. */
export interface Measure {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** Size and SHA-256 of a file's content, read in a stream. Throws the system's error. */
export async function hashFile(path: string, signal?: AbortSignal): Promise<Measure> {
  return await hashStream(createReadStream(path, { highWaterMark: 1024 * 1024 }), signal);
}

/** The same of a file that is open. Throws the system's error. */
export async function hashOpenFile(file: FileHandle, sizeBytes: number, signal?: AbortSignal): Promise<Measure> {
  return await hashStream(readRange(file, 0, sizeBytes), signal);
}

/** Size and SHA-256 of a stream. Throws the stream's error. */
export async function hashStream(content: AsyncIterable<Buffer>, signal?: AbortSignal): Promise<Measure> {
  const hash = createHash('sha256');
  let bytes = 0;
  await pipeline(
    content,
    async (chunks: AsyncIterable<Buffer>) => {
      for await (const chunk of chunks) {
        hash.update(chunk);
        bytes += chunk.length;
      }
    },
    { signal },
  );
  return { bytes, sha256: hash.digest('hex') };
}

/** Values that wait in a stream of objects, which counts them and not their bytes. */
const waitingValues = 16;

/** A transform that counts and hashes its bytes, and ends with an error when the count is wrong. */
export class TransferMeter extends Transform {
  readonly #hash = createHash('sha256');
  readonly #check: (bytes: number) => Error | undefined;
  readonly #onProgress: ((bytes: number) => void) | undefined;
  #bytes = 0;

  /**
   * @param check - called at the end with the number of bytes; what it returns becomes the stream's error.
   * @param onProgress - called after each chunk with the number of bytes so far.
   * @param source - what is piped into it. A stream of objects may bring anything; a value that is no bytes would otherwise
   * be thrown where nothing catches it, and end the process.
   */
  constructor(
    check: (bytes: number) => Error | undefined,
    onProgress?: (bytes: number) => void,
    source?: { readonly readableObjectMode: boolean },
  ) {
    const isOfObjects = source?.readableObjectMode === true;
    super({
      readableHighWaterMark: 1024 * 1024,
      writableObjectMode: isOfObjects,
      writableHighWaterMark: isOfObjects ? waitingValues : 1024 * 1024,
    });
    this.#check = check;
    this.#onProgress = onProgress;
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** SHA-256 of all bytes, in hex. May be called once, at the end. */
  sha256(): string {
    return this.#hash.digest('hex');
  }

  override _transform(chunk: unknown, _encoding: BufferEncoding, done: TransformCallback): void {
    let bytes: Buffer | undefined;
    if (Buffer.isBuffer(chunk)) bytes = chunk;
    else if (typeof chunk === 'string') bytes = Buffer.from(chunk);
    else if (ArrayBuffer.isView(chunk)) bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (bytes === undefined) {
      done(new TypeError(`the stream brought a value that is no bytes (${typeof chunk}); give bytes or text`));
      return;
    }
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    this.#onProgress?.(this.#bytes);
    done(null, bytes);
  }

  override _flush(done: TransformCallback): void {
    done(this.#check(this.#bytes) ?? null);
  }
}
