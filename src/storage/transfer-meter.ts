import { createHash } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';

/** Counts and hashes bytes in passing, and ends with an error when they are not as many as expected. */
export class TransferMeter extends Transform {
  readonly #hash = createHash('sha256');
  readonly #check: (bytes: number) => Error | undefined;
  readonly #onProgress: ((bytes: number) => void) | undefined;
  #bytes = 0;

  /**
   * @param check - called at the end with the number of bytes; what it returns becomes the stream's error.
   * @param onProgress - called after each chunk with the number of bytes so far.
   */
  constructor(check: (bytes: number) => Error | undefined, onProgress?: (bytes: number) => void) {
    super({ readableHighWaterMark: 1024 * 1024, writableHighWaterMark: 1024 * 1024 });
    this.#check = check;
    this.#onProgress = onProgress;
  }

  /** Bytes that passed so far. */
  get bytes(): number {
    return this.#bytes;
  }

  /** SHA-256 of everything that passed, in hex. Can be asked once, at the end. */
  sha256(): string {
    return this.#hash.digest('hex');
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    this.#onProgress?.(this.#bytes);
    done(null, chunk);
  }

  override _flush(done: TransformCallback): void {
    done(this.#check(this.#bytes) ?? null);
  }
}
