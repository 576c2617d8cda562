import { execFileSync } from 'node:child_process';

/** Whether a process of that number runs; one that has ended and is only kept for its parent does not. */
export function isProcessAlive(pid: number): boolean {
  try {
    return !execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).startsWith('Z');
  } catch {
    return false;
  }
}
