import { spawnSync } from 'node:child_process';

/** The words that a POSIX shell makes of a command of `longhaul` or `temporal`: what the command gets as its arguments. */
export function shellWords(command: string): string[] {
  const script = `longhaul() { for word in "$@"; do printf '%s\\0' "$word"; done; }; temporal() { longhaul "$@"; }; ${command}`;
  const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
  return stdout.split('\0').slice(0, -1);
}
