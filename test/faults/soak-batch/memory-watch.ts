import { mebibytes, processUse } from '../../../bench/process-use';

const pollEveryMs = 1_000;

/** The most memory that each of some processes took; a process may be replaced by another while it is watched. */
export class MemoryWatch {
  readonly #pids: Readonly<Record<string, () => number>>;
  readonly #most = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(pids: Readonly<Record<string, () => number>>) {
    this.#pids = pids;
    this.#timer = setInterval(() => void this.#measure(), pollEveryMs);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#measure();
  }

  /** Such as `worker 210 MiB, Temporal 180 MiB`. */
  toString(): string {
    return [...this.#most].map(([name, bytes]) => `${name} ${mebibytes(bytes)}`).join(', ');
  }

  async #measure(): Promise<void> {
    for (const [name, pid] of Object.entries(this.#pids)) {
      // A process that was killed just now has no memory.
      const { rssBytes } = await processUse(pid()).catch(() => ({ rssBytes: 0 }));
      this.#most.set(name, Math.max(this.#most.get(name) ?? 0, rssBytes));
    }
  }
}
