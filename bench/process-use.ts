import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What a process takes of its machine. */
export interface ProcessUse {
  /** Resident memory. */
  readonly rssBytes: number;
  /** Processor time since its start. */
  readonly cpuSeconds: number;
}

/** Measures a process, by `ps`. */
export async function processUse(pid: number): Promise<ProcessUse> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=,cputimes=', '-p', String(pid)]);
  const [rssKib = Number.NaN, cpuSeconds = Number.NaN] = stdout.trim().split(/\s+/).map(Number);
  return { rssBytes: rssKib * 1024, cpuSeconds };
}

/** Memory in words. */
export function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
}

/** What a process takes between two moments. */
export interface MeteredUse {
  readonly cpuSeconds: number;
  /** Resident memory at the start, and the most there was. */
  readonly idleBytes: number;
  readonly mostBytes: number;
}

const LOOK_EVERY_MS = 1_000;

/** Measures a process once a second. */
export class ProcessMeter {
  readonly #pid: number;
  #first: ProcessUse = { rssBytes: 0, cpuSeconds: 0 };
  #mostBytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(pid: number) {
    this.#pid = pid;
  }

  async start(): Promise<void> {
    this.#first = await processUse(this.#pid);
    this.#timer = setInterval(() => {
      void this.#measure();
    }, LOOK_EVERY_MS);
  }

  async stop(): Promise<MeteredUse> {
    clearInterval(this.#timer);
    const { cpuSeconds } = await this.#measure();
    const { rssBytes } = this.#first;
    return { cpuSeconds: cpuSeconds - this.#first.cpuSeconds, idleBytes: rssBytes, mostBytes: this.#mostBytes };
  }

  async #measure(): Promise<ProcessUse> {
    const use = await processUse(this.#pid);
    this.#mostBytes = Math.max(this.#mostBytes, use.rssBytes);
    return use;
  }
}
