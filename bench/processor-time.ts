import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

const lib = join(__dirname, '../lib');
/** How long processes are left alone, to know what they take then. */
const idleMs = 5_000;

/** Builds `lib/`, as `npm run build` does. */
export async function build(): Promise<void> {
  process.stderr.write('building\n');
  const args = ['--import', require.resolve('tsx'), join(__dirname, '../tools/build.ts')];
  await promisify(execFile)(process.execPath, args);
}

/** The command line of the build. */
export function builtCommand(args: readonly string[]): { readonly command: string; readonly args: string[] } {
  return { command: process.execPath, args: [join(lib, 'cli.js'), ...args] };
}

/** User and system time of a process so far, in milliseconds: the kernel counts in hundredths of a second. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** What each of the processes takes while it waits for something to do, in ms per ms. */
export async function idleCpu(pids: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const before = pids.map(cpuMs);
  const startedAtMs = performance.now();
  await delay(idleMs);
  const tookMs = performance.now() - startedAtMs;
  return new Map(pids.map((pid, index) => [pid, (cpuMs(pid) - (before[index] ?? 0)) / tookMs]));
}

/** The processor time of processes while something runs, without what they take when idle, in milliseconds. */
export async function cpuDuring<Result>(
  pids: readonly number[],
  idle: ReadonlyMap<number, number>,
  run: () => Promise<Result>,
): Promise<{ readonly cpuMs: readonly number[]; readonly result: Result }> {
  const before = pids.map(cpuMs);
  const startedAtMs = performance.now();
  const result = await run();
  const tookMs = performance.now() - startedAtMs;
  const spent = pids.map((pid, index) => cpuMs(pid) - (before[index] ?? 0) - (idle.get(pid) ?? 0) * tookMs);
  return { cpuMs: spent, result };
}

/** The median. */
export function middle(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? NaN)) / 2;
}

/** The median, with the least and the greatest. */
export function withSpread(values: readonly number[]): string {
  return `${middle(values).toFixed(2)} (${Math.min(...values).toFixed(2)}-${Math.max(...values).toFixed(2)})`;
}
