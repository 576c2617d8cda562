import type { NetworkFault } from './faulty-connection';

/** Which requests a fault befalls. */
export interface InjectedFaultOptions {
  /** Every one of these stands in the request: in its line, its headers, or the first 64 KiB of its body. */
  readonly markers: readonly string[];
  readonly fault: NetworkFault;
  /** How many requests; `Infinity` for all that come. @default 1 */
  readonly times?: number;
}

/** A fault that waits for its requests. */
export class InjectedFault {
  readonly #options: InjectedFaultOptions;
  #hits = 0;
  #isLifted = false;

  constructor(options: InjectedFaultOptions) {
    this.#options = options;
  }

  /** How many requests it has met. */
  get hitCount(): number {
    return this.#hits;
  }

  get isOver(): boolean {
    return this.#isLifted || this.#hits >= (this.#options.times ?? 1);
  }

  /** Waits for no more requests; what it holds back stays held back. */
  lift(): void {
    this.#isLifted = true;
  }

  /** The fault, when this request is one of its own. */
  take(request: string): NetworkFault | undefined {
    if (this.isOver || !this.#options.markers.every((marker) => request.includes(marker))) return undefined;
    this.#hits += 1;
    return this.#options.fault;
  }
}
