import { Transform, type TransformCallback } from 'node:stream';

/** Passes bytes on until its allowance is used up; what comes then waits, and so does whoever sends it. */
export class Valve extends Transform {
  #allowance = Number.POSITIVE_INFINITY;
  #passHeld: (() => void) | undefined;
  #onShut: () => void = () => undefined;

  get isHolding(): boolean {
    return this.#passHeld !== undefined && !this.destroyed;
  }

  /** @param onShut - called when the first byte is held back. */
  shutAfter(bytes: number, onShut = (): void => undefined): void {
    this.#allowance = bytes;
    this.#onShut = onShut;
  }

  open(): void {
    this.#allowance = Number.POSITIVE_INFINITY;
    this.#passHeld?.();
    this.#passHeld = undefined;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const passed = chunk.subarray(0, this.#allowance);
    const rest = chunk.subarray(passed.length);
    this.#allowance -= passed.length;
    if (rest.length === 0) {
      done(null, passed);
      return;
    }
    if (passed.length > 0) this.push(passed);
    this.#passHeld = () => {
      done(null, rest);
    };
    this.#onShut();
  }
}
