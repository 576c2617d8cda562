import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { headBytes, describeMismatch, hasOwnEnd } from './content-check';
import { type Came, DownloadError, UnprovenEndError } from './errors';

export interface BodySum {
  readonly header: string;
  readonly expected: string;
  readonly hash: { update(bytes: Buffer): unknown };
  readonly digest: () => string;
}

export interface BodyFacts {
  readonly shown: string;
  readonly headers: IncomingHttpHeaders;
  /** The length that it must have. */
  readonly bytes: number | undefined;
  readonly name: string;
  /** What an earlier fetch brought, also without a proof of its end. */
  readonly earlier: Came | undefined;
}

/** Checks a body's type, length and checksums. Where nothing proves its end, a second fetch must bring the same. */
export class BodyProof {
  readonly #facts: BodyFacts;
  readonly #isEncoded: boolean;
  readonly #sha256 = createHash('sha256');
  readonly #sum: BodySum | undefined;
  readonly #isFramed: boolean;
  readonly #hasLength: boolean;
  #received = 0;
  #head = Buffer.alloc(0);
  #tail = Buffer.alloc(0);

  constructor(facts: BodyFacts) {
    const { headers, bytes } = facts;
    this.#facts = facts;
    this.#isEncoded = !/^(identity)?$/i.test([headers['content-encoding'] ?? []].flat().join());
    // The checksums of an encoded body may be those of the content.
    this.#sum = this.#isEncoded ? undefined : readSum(headers);
    this.#hasLength = bytes !== undefined;
    this.#isFramed = this.#hasLength || /chunked/i.test(headers['transfer-encoding'] ?? '');
  }

  get receivedBytes(): number {
    return this.#received;
  }

  /** Returns what may be passed on: the first bytes wait until they tell the type. */
  take(chunk: Buffer): Buffer | undefined {
    this.#sum?.hash.update(chunk);
    if (!this.#hasLength) {
      this.#sha256.update(chunk);
      this.#tail = Buffer.concat([this.#tail, chunk.subarray(-headBytes)]).subarray(-headBytes);
    }
    const wasChecked = this.#head.length >= headBytes;
    this.#received += chunk.length;
    if (wasChecked) return chunk;
    this.#head = Buffer.concat([this.#head, chunk]);
    if (this.#head.length < headBytes) return undefined;
    this.#checkType();
    return this.#head;
  }

  /** Returns what is left to pass on; throws DownloadError unless it is proven that all came. */
  end(): Buffer | undefined {
    const { shown, bytes } = this.#facts;
    if (bytes !== undefined && this.#received !== bytes) {
      throw new DownloadError('DOWNLOAD_CUT_SHORT', `${shown} brought ${this.#received} bytes instead of ${bytes}`);
    }
    const isShort = this.#head.length < headBytes;
    if (isShort) this.#checkType();
    this.#checkEnd();
    return isShort && this.#head.length > 0 ? this.#head : undefined;
  }

  #checkType(): void {
    const { headers, name, shown } = this.#facts;
    const mismatch = describeMismatch({
      name,
      head: this.#head.subarray(0, headBytes),
      mediaType: headers['content-type'],
      contentEncoding: this.#isEncoded ? headers['content-encoding'] : undefined,
    });
    if (mismatch !== undefined) throw new DownloadError('CONTENT_WRONG', `${shown} brought no such file: ${mismatch}`);
  }

  #checkEnd(): void {
    const { shown, earlier } = this.#facts;
    const digest = this.#sum?.digest();
    const isEqual = this.#sum === undefined ? undefined : digest === this.#sum.expected;
    if (isEqual === false && this.#sum?.header !== 'etag') {
      throw new DownloadError('CONTENT_WRONG', `${shown} brought other bytes than its ${this.#sum?.header} says`);
    }
    if (isEqual === true) return;
    const ownEnd = this.#hasLength || this.#isEncoded ? undefined : hasOwnEnd(this.#head, this.#tail, this.#received);
    // A gateway whose source ends early may pass on half a file in complete chunks.
    if (isEqual === undefined && this.#isFramed && ownEnd !== false) return;
    if (!this.#isFramed && ownEnd !== undefined) {
      if (ownEnd) return;
      throw new DownloadError('DOWNLOAD_CUT_SHORT', `${shown} brought a file without its end`);
    }
    // Some storages have other tags: an unequal one proves nothing.
    const came: Came =
      digest === undefined
        ? { bytes: this.#received, digest: this.#sha256.digest('hex'), algorithm: 'sha256' }
        : { bytes: this.#received, digest, algorithm: 'md5' };
    if (came.bytes === earlier?.bytes && came.digest === earlier.digest) return;
    throw new UnprovenEndError(`${shown} brought ${came.bytes} bytes, and nothing proves that they are all`, came);
  }
}

/** One is enough: each is of every byte. */
export function readSum(headers: IncomingHttpHeaders): BodySum | undefined {
  const md5 = createHash('md5');
  const text = (header: string): string => [headers[header] ?? ''].flat().join().trim();
  if (/^[A-Za-z0-9+/]{22}==$/.test(text('content-md5'))) {
    const digest = (): string => md5.digest('base64');
    return { header: 'content-md5', expected: text('content-md5'), hash: md5, digest };
  }
  // OSS, COS and TOS.
  const crc = Object.keys(headers).find((header) => /^x-[a-z]+-hash-crc64ecma$/.test(header));
  if (crc !== undefined && /^\d{1,20}$/.test(text(crc))) {
    const hash = new Crc64();
    return { header: crc, expected: text(crc), hash, digest: () => hash.toString() };
  }
  const [, tag] = /^"([0-9a-f]{32})"$/i.exec(text('etag')) ?? [];
  if (tag === undefined) return undefined;
  return { header: 'etag', expected: tag.toLowerCase(), hash: md5, digest: () => md5.digest('hex') };
}

/** ECMA-182, its bits reversed, in two halves. */
const [polynomialHigh, polynomialLow] = [0xc96c5795, 0xd7870f42];
const high = new Int32Array(256);
const low = new Int32Array(256);
for (let byte = 0; byte < 256; byte += 1) {
  let [hi, lo] = [0, byte];
  for (let bit = 0; bit < 8; bit += 1) {
    const isOdd = (lo & 1) === 1;
    lo = (lo >>> 1) | (hi << 31);
    hi >>>= 1;
    if (isOdd) [hi, lo] = [hi ^ polynomialHigh, lo ^ polynomialLow];
  }
  high[byte] = hi;
  low[byte] = lo;
}

/** CRC-64 of object storages, in halves: BigInt would take seconds for a video. */
class Crc64 {
  #high = -1;
  #low = -1;

  update(bytes: Uint8Array): void {
    let [hi, lo] = [this.#high, this.#low];
    for (const byte of bytes) {
      const index = (lo ^ byte) & 0xff;
      lo = ((lo >>> 8) | (hi << 24)) ^ (low[index] ?? 0);
      hi = (hi >>> 8) ^ (high[index] ?? 0);
    }
    [this.#high, this.#low] = [hi, lo];
  }

  /** Decimal. */
  toString(): string {
    return ((BigInt(~this.#high >>> 0) << 32n) | BigInt(~this.#low >>> 0)).toString();
  }
}
