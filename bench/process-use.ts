import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** What a process takes of its machine. */
export interface ProcessUse {
  /** Resident memory. */
  readonly rssBytes: number;
  /** Processor time since its start. */
  readonly cpuSeconds: number;
}

/** Looks at a process, by `ps`. */
export async function processUse(pid: number): Promise<ProcessUse> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=,cputimes=', '-p', String(pid)]);
  const [rssKib = Number.NaN, cpuSeconds = Number.NaN] = stdout.trim().split(/\s+/).map(Number);
  return { rssBytes: rssKib * 1024, cpuSeconds };
}

/** Memory in words. */
export function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
}
