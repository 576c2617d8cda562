/** The polynomial of ECMA-182, its bits reversed, in two halves. */
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

/** CRC-64 as object storages give it (`x-oss-hash-crc64ecma`). In halves: BigInt would take seconds for a video. */
export class Crc64 {
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
