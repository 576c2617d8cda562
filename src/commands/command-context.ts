import { Longhaul } from '../client/longhaul';
import { loadClientConfig } from '../config/client-config';
import { printableText } from '../domain/text';
import type { ExitCode } from './exit-code';

/** A stream that a command writes to; a terminal tells its width. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** Where an error surfaced that no code caught. */
export type FaultOrigin = 'uncaughtException' | 'unhandledRejection';

/** What a command knows of the process it runs in; tests give their own. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  /** Relative file names start here. */
  readonly cwd: string;
  /** For what a command reads by the name `-`. */
  readonly stdin: NodeJS.ReadableStream;
  /** Results only. */
  readonly stdout: Output;
  /** Progress, notes and failures. */
  readonly stderr: Output;
  /** Standard error for lines that renew themselves: the one place where a command itself writes control sequences. */
  readonly display: Output & NodeJS.WritableStream;
  /** Calls back at the first Ctrl-C or `kill`, instead of ending the process; returns how to stop listening. */
  onInterrupt(callback: (signal: NodeJS.Signals) => void): () => void;
  /** Sets which rights the process leaves out of files and folders that it makes. */
  setUmask(umask: number): void;
  /** Calls back for each error that no code caught, instead of ending the process; returns how to stop listening. */
  onFault(callback: (error: unknown, origin: FaultOrigin) => void): () => void;
  /** Ends the process by force after this time, should it still be there. */
  endWithin(ms: number): void;
  /** Sets what the process ends with; without a call it is success. */
  exitWith(code: ExitCode): void;
}

/**
 * The same process, whose output shows every control character of a text instead of acting on it: what a command
 * prints comes from services, files and histories. `display` stays as it is.
 */
export function withPrintableOutput(context: CommandContext): CommandContext {
  return {
    env: context.env,
    cwd: context.cwd,
    get stdin() {
      return context.stdin;
    },
    stdout: printable(context.stdout),
    stderr: printable(context.stderr),
    display: context.display,
    onInterrupt: (callback) => context.onInterrupt(callback),
    setUmask: (umask) => {
      context.setUmask(umask);
    },
    onFault: (callback) => context.onFault(callback),
    endWithin: (ms) => {
      context.endWithin(ms);
    },
    exitWith: (code) => {
      context.exitWith(code);
    },
  };
}

function printable(output: Output): Output {
  return {
    write: (text) => output.write(printableText(text)),
    get isTTY() {
      return output.isTTY;
    },
    get columns() {
      return output.columns;
    },
  };
}

/** Options of every command that talks to Temporal. */
export interface ConnectionOptions {
  readonly taskQueue?: string;
}

/** Runs something with a connected client, and closes it whatever happens. */
export async function withLonghaul<Result>(
  context: CommandContext,
  { taskQueue }: ConnectionOptions,
  use: (longhaul: Longhaul) => Promise<Result>,
): Promise<Result> {
  const { warnings } = loadClientConfig(context.env);
  for (const warning of warnings) context.stderr.write(`warning: ${warning}\n`);
  const longhaul = await Longhaul.connect({ env: context.env, ...(taskQueue !== undefined && { taskQueue }) });
  try {
    return await use(longhaul);
  } finally {
    await longhaul.close();
  }
}

/** Prints the one JSON object of `--json`. */
export function printJson({ stdout }: CommandContext, value: object): void {
  stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
