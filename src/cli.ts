#!/usr/bin/env node
import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import type { CommandContext } from './commands/command-context';
import { runCommandLine } from './commands/program';

const signals: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM'];

/** The first signal is the command's; a second one ends the process as usual. */
const context: CommandContext = {
  env: process.env,
  cwd: process.cwd(),
  stdin: () => process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  display: process.stderr,
  onInterrupt: (callback) => {
    const stop = (): void => {
      for (const signal of signals) process.off(signal, listener);
    };
    const listener = (signal: NodeJS.Signals): void => {
      stop();
      callback(signal);
    };
    for (const signal of signals) process.on(signal, listener);
    return stop;
  },
  setUmask: (umask) => {
    process.umask(umask);
  },
  onFault: (callback) => {
    const onException = (error: unknown): void => {
      callback(error, 'uncaughtException');
    };
    const onRejection = (error: unknown): void => {
      callback(error, 'unhandledRejection');
    };
    process.on('uncaughtException', onException).on('unhandledRejection', onRejection);
    return () => {
      process.off('uncaughtException', onException).off('unhandledRejection', onRejection);
    };
  },
  endWithin: (ms) => {
    // Not `process.exit`: it waits for threads that may hang in a file system.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), ms).unref();
  },
  exitWith: (code) => {
    process.exitCode = code;
  },
};

// For libraries that connect, such as sources of AWS credentials: Node gives an address up after 250 ms.
setDefaultAutoSelectFamilyAttemptTimeout(2_000);

// To check 100,000 rows takes some 60 MB; V8 would let the heap grow to several times as much before it collects.
if (process.argv[2] === 'batch') setFlagsFromString('--heap-growing-percent=50');

// The reader of a pipe may go away at any time (`longhaul list | head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});
// Without a reader, or room on the disk, a command goes on: its result goes elsewhere. So does a worker.
process.stderr.on('error', () => undefined);

void runCommandLine(process.argv.slice(2), context);
