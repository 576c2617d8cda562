/** Durations in milliseconds, and what can be said of all of them. */
export class Latencies {
  readonly #values: number[] = [];

  get count(): number {
    return this.#values.length;
  }

  add(durationMs: number): void {
    this.#values.push(durationMs);
  }

  /** The duration that this share of all do not exceed; 0 when there is none. */
  quantile(share: number): number {
    const sorted = this.#values.toSorted((one, other) => one - other);
    return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  }

  /** Median, 95 %, 99 % and the longest, in words. */
  toString(): string {
    const [p50, p95, p99, longest] = [0.5, 0.95, 0.99, 1].map((share) => this.quantile(share).toFixed(1));
    return `p50 ${p50 ?? ''}, p95 ${p95 ?? ''}, p99 ${p99 ?? ''}, longest ${longest ?? ''} ms`;
  }
}
