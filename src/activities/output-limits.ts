import { formatBytes } from '../core/text';
import type { Archive, ArchivedFile } from '../storage/archive/archive';
import { ArchiveError, DownloadError } from '../storage/errors';
import type { MinimumRate } from '../storage/minimum-rate';
import type { Output } from './manifest';

export interface OutputLimits {
  readonly maxOutputBytes: number;
  readonly maxTaskBytes: number;
  /** Free space that stays on the archive's disk. */
  readonly reserveBytes: number;
  readonly minimumRate?: MinimumRate;
}

export const noOutputLimits: OutputLimits = { maxOutputBytes: Infinity, maxTaskBytes: Infinity, reserveBytes: 0 };

const checkEveryBytes = 16 * 1024 * 1024;

export interface RunningTransfer {
  bytes: number;
  totalBytes: number | null;
}

export class OutputAllowance {
  readonly #limits: OutputLimits;
  readonly #archive: Archive;
  readonly #running: ReadonlyMap<Output, RunningTransfer>;
  #archivedBytes = 0;

  constructor(limits: OutputLimits, archive: Archive, running: ReadonlyMap<Output, RunningTransfer>) {
    this.#limits = limits;
    this.#archive = archive;
    this.#running = running;
  }

  add(file: ArchivedFile): void {
    this.#archivedBytes += file.bytes;
  }

  /** Throws DownloadError `OUTPUT_TOO_LARGE` or ArchiveError `ARCHIVE_FULL` when the output may not be fetched. */
  async check(output: Output, sizeBytes: number | undefined): Promise<void> {
    const bytes = sizeBytes ?? (output.atLeastBytes ?? 0) + 1;
    this.#checkLimits(output, bytes);
    await this.#checkRoom(output, bytes);
  }

  watch(output: Output, stop: (error: Error) => void): (bytes: number) => void {
    let checkAtBytes = checkEveryBytes;
    return (bytes) => {
      try {
        this.#checkLimits(output, bytes);
      } catch (error) {
        stop(error as Error);
      }
      if (bytes < checkAtBytes) return;
      checkAtBytes = bytes + checkEveryBytes;
      this.#checkRoom(output, 0).catch((error: unknown) => {
        output.atLeastBytes = bytes;
        stop(error as Error);
      });
    };
  }

  #checkLimits(output: Output, bytes: number): void {
    const { maxOutputBytes, maxTaskBytes } = this.#limits;
    const onTheirWay = this.#ofOthers(output, ({ bytes, totalBytes }) => Math.max(bytes, totalBytes ?? 0));
    const others = this.#archivedBytes + onTheirWay;
    if (bytes <= maxOutputBytes && others + bytes <= maxTaskBytes) return;
    output.atLeastBytes = Math.max(output.atLeastBytes ?? 0, bytes - 1);
    const ofOutput = `it has ${formatBytes(bytes)} or more, and LONGHAUL_MAX_OUTPUT_BYTES of the worker is ${maxOutputBytes}`;
    const ofTask = `with ${formatBytes(others)} of other outputs, it has ${formatBytes(bytes)} or more, and LONGHAUL_MAX_TASK_BYTES of the worker is ${maxTaskBytes}`;
    const words = bytes > maxOutputBytes ? ofOutput : ofTask;
    throw new DownloadError('OUTPUT_TOO_LARGE', `${words}; raise it and archive the task again`);
  }

  async #checkRoom(output: Output, bytes: number): Promise<void> {
    const { reserveBytes } = this.#limits;
    const freeBytes = await this.#archive.freeBytes();
    const promised = this.#ofOthers(output, (transfer) => Math.max(0, (transfer.totalBytes ?? 0) - transfer.bytes));
    if (freeBytes === undefined || freeBytes - promised - bytes >= reserveBytes) return;
    const words = `${this.#archive.disk} has ${formatBytes(freeBytes)} left, which is too little for this output beside the reserve of ${formatBytes(reserveBytes)} (LONGHAUL_ARCHIVE_RESERVE_BYTES); make room on its disk`;
    throw new ArchiveError('ARCHIVE_FULL', words);
  }

  #ofOthers(output: Output, figure: (transfer: RunningTransfer) => number): number {
    return [...this.#running].reduce((sum, [other, transfer]) => sum + (other === output ? 0 : figure(transfer)), 0);
  }
}

/** Refused for its size: only a higher limit helps. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof DownloadError && error.code === 'OUTPUT_TOO_LARGE';
}
