import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ProcessLog } from './process-log';

/** What to run, and how it is ended. */
export interface SuperviseOptions {
  readonly command: string;
  readonly args?: readonly string[];
  /** Environment of the process, in place of this one's. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** File that its output is appended to; by default a nameless one that is gone with the process. */
  readonly logFile?: string;
  /** Folder that only this process uses: removed when it has ended. */
  readonly temporaryFolder?: string;
  /** How long it may take to end after SIGTERM before it is killed. @default 10000 */
  readonly graceMs?: number;
}

/** How a process ended: its exit code, or the signal that ended it. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that ends when `stop` is called or when this process ends, however that comes about. */
export interface SupervisedProcess {
  readonly pid: number;
  /** Resolves when the process has ended; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  isRunning(): boolean;
  /** The last 256 KiB it wrote, standard output and error together. */
  output(): string;
  /** SIGTERM, then SIGKILL after the grace period; resolves when the process has ended. May be called again. */
  stop(): Promise<void>;
}

/**
 * The process leads a session of its own, so that Ctrl-C in a terminal and a kill of this process's group do not reach
 * it. A watcher in the same session holds the other end of a pipe to this process: the pipe ends when `stop` closes it
 * or when this process dies, even by SIGKILL, and then the watcher ends the whole group. The group cannot be mistaken
 * for another: its number is not given away while the watcher is a member. It also removes the process's own folder.
 */
const script = `
tenths=$1 folder=$2; shift 2
exec 3<&0
(
  trap '' TERM INT HUP
  exec >/dev/null 2>&1
  read -r _ <&3
  kill -TERM -$$
  while [ "$tenths" -gt 0 ] && kill -0 $$; do sleep 0.1; tenths=$((tenths - 1)); done
  [ -z "$folder" ] || { kill -KILL $$; rm -rf "$folder"; }
  kill -KILL -$$
) &
exec "$@" 3<&- </dev/null
`;

/** Starts a process that cannot outlive this one. Rejects only when it cannot be started at all. */
export async function supervise(options: SuperviseOptions): Promise<SupervisedProcess> {
  const { command, args = [], temporaryFolder = '', graceMs = 10_000 } = options;
  const tenths = String(Math.ceil(graceMs / 100));
  const log = new ProcessLog(options.logFile);
  const child = spawn('/bin/sh', ['-c', script, 'supervise', tenths, temporaryFolder, command, ...args], {
    detached: true,
    stdio: ['pipe', log.fd, log.fd],
    cwd: options.cwd,
    env: options.env,
  });
  // The watcher reads nothing but the end, and may be gone by the time the pipe is closed.
  child.stdin?.on('error', () => undefined);
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('exit', (code, signal) => {
      child.stdin?.end();
      log.close();
      resolve({ code, signal });
    });
  });
  try {
    await once(child, 'spawn');
  } catch (error) {
    log.close();
    throw error;
  }
  return {
    pid: child.pid ?? 0,
    ended,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    output: () => log.tail(),
    stop: async () => {
      child.stdin?.end();
      await ended;
    },
  };
}
