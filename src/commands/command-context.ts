import path from 'node:path';
import type { Longhaul } from '../client/longhaul';
import type { TracesConfig } from '../config/traces-config';
import { workflowTaskQueue } from '../contract/task-queues';
import { printableText } from '../core/text';
import type { OpenTraces, OpenTracesOptions } from '../client/traces/open-traces';
import { type ExitCode, exitCodes } from './exit-code';

/** A stream that a command writes to; `columns` is the width of a terminal. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

/** The event of an uncaught error. */
export type FaultOrigin = 'uncaughtException' | 'unhandledRejection';

/** The process that a command runs in; tests pass their own. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Asked for when it is needed: to touch it opens it. */
  readonly stdin: () => NodeJS.ReadableStream;
  /** Results only. */
  readonly stdout: Output;
  /** Progress, notes and failures. */
  readonly stderr: Output;
  /** Standard error for lines that are redrawn: the only stream to which commands write control sequences. */
  readonly display: Output & NodeJS.WritableStream;
  /** Calls back at the first Ctrl-C or `kill`, instead of ending the process; returns how to stop listening. */
  readonly onInterrupt: (callback: (signal: NodeJS.Signals) => void) => () => void;
  readonly setUmask: (umask: number) => void;
  /** Calls back for each uncaught error, instead of ending the process; returns how to stop listening. */
  readonly onFault: (callback: (error: unknown, origin: FaultOrigin) => void) => () => void;
  /** Kills the process after this time, if it still runs. */
  readonly endWithin: (ms: number) => void;
  readonly exitWith: (code: ExitCode) => void;
}

/**
 * The same context, but control characters in the output are escaped: printed texts come from services, files and
 * histories. `display` is unchanged.
 */
export function withPrintableOutput(context: CommandContext): CommandContext {
  return { ...context, stdout: printable(context.stdout), stderr: printable(context.stderr) };
}

function printable(output: Output): Output {
  return {
    write: (text) => output.write(printableText(text)),
    get isTTY() {
      return output.isTTY;
    },
    get columns() {
      return terminalColumns(output);
    },
  };
}

/** The width of a terminal; undefined where there is none, and of a pseudo-terminal to which nobody gave a size: that says 0. */
export function terminalColumns({ columns = 0 }: Pick<Output, 'columns'>): number | undefined {
  return columns > 0 ? columns : undefined;
}

/** Options of every command that talks to Temporal. */
export interface ConnectionOptions {
  readonly taskQueue?: string;
}

/** Runs a function with a connected client, and closes the client afterwards. */
export async function withLonghaul<Result>(
  context: CommandContext,
  { taskQueue }: ConnectionOptions,
  use: (longhaul: Longhaul) => Promise<Result>,
): Promise<Result> {
  // Loaded on demand, as all that is slow to load: the help of a command does without.
  const [{ loadClientConfig }, { Longhaul }] = await Promise.all([
    import('../config/client-config.js'),
    import('../client/longhaul.js'),
  ]);
  const { config, warnings } = loadClientConfig(context.env);
  const warn = (text: string): void => void context.stderr.write(`warning: ${text}\n`);
  for (const warning of warnings) warn(warning);
  const traces = await openProgramTraces(config.traces, 'longhaul', (isWorking, reason) => {
    if (!isWorking) warn(`The collector of traces takes no spans: ${reason}`);
  });
  try {
    const longhaul = await Longhaul.connect({ env: context.env, taskQueue });
    const run = (): Promise<Result> => use(longhaul).finally(() => longhaul.close());
    return await (traces?.within(config.traceParent, run) ?? run());
  } finally {
    await traces?.close();
  }
}

/** Opens the traces of a program; without any, nothing of OpenTelemetry is loaded. */
export async function openProgramTraces(
  config: TracesConfig | null,
  program: string,
  onChange: NonNullable<OpenTracesOptions['onChange']>,
): Promise<OpenTraces | undefined> {
  if (config === null) return undefined;
  const { openTraces } = await import('../client/traces/open-traces.js');
  return openTraces(config, { program, onChange });
}

/** Prints the one JSON object of `--json`. */
export function printJson({ stdout }: CommandContext, value: object): void {
  stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Prints a result: with `--json` as its one object, else as the text for a person. */
export function print(context: CommandContext, isJson: boolean | undefined, value: object, text: string): void {
  if (isJson) printJson(context, value);
  else context.stdout.write(text);
}

/** Fetches files until Ctrl-C, which aborts its signal; `undefined` when that ended it, of which the command tells then. */
export async function untilInterrupted<Result>(
  context: CommandContext,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const interrupted = new AbortController();
  const stopListening = context.onInterrupt(() => {
    interrupted.abort();
  });
  try {
    return await run(interrupted.signal);
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    context.stderr.write('Interrupted. The same command goes on: complete files are kept.\n');
    context.exitWith(exitCodes.detached);
    return undefined;
  } finally {
    stopListening();
  }
}

/**
 * Starts what may be paid, and tells whether Ctrl-C came meanwhile. The interrupt takes effect once Temporal has
 * answered: otherwise the command would end silently while what it started goes on. A second one ends the process.
 */
export async function untilStarted<Result>(
  context: Pick<CommandContext, 'onInterrupt' | 'stderr'>,
  start: () => Promise<Result>,
): Promise<{ readonly started: Result; readonly isInterrupted: boolean }> {
  let isInterrupted = false;
  const stopListening = context.onInterrupt(() => {
    isInterrupted = true;
    context.stderr.write(
      'Waiting for Temporal to say whether it was started; another Ctrl-C ends the command at once.\n',
    );
  });
  try {
    const started = await start();
    return { started, isInterrupted };
  } finally {
    stopListening();
  }
}

interface PageFile {
  /** Absolute. */
  readonly file: string;
  /** Of the namespace in Temporal's Web UI; null when its address is not configured. */
  readonly webUi: string | null;
  readonly now: Date;
}

/** The file of `--html`, and what every page says of this moment and this namespace. */
export async function pageFile({ env, cwd }: CommandContext, html: string): Promise<PageFile> {
  const [{ loadClientConfig, namespaceUrl }, { loadTemporalConnection }] = await Promise.all([
    import('../config/client-config.js'),
    import('../config/temporal-connection.js'),
  ]);
  const { webUiUrl } = loadClientConfig(env).config;
  const { namespace } = loadTemporalConnection(env);
  return { file: path.resolve(cwd, html), webUi: namespaceUrl(webUiUrl, namespace), now: new Date() };
}

/**
 * Says on standard error which of the task queues no worker polls: what was started or asked there waits, and nothing else
 * would tell. Says nothing where Temporal does not tell.
 *
 * @param taskQueues - undefined: the one that commands have without an option.
 */
export async function warnOfMissingWorkers(
  { env, stderr }: CommandContext,
  taskQueues: Iterable<string | undefined>,
): Promise<void> {
  const [{ loadTemporalConnection }, { findUnservedQueues }, { noPollerWords }] = await Promise.all([
    import('../config/temporal-connection.js'),
    import('../client/workers.js'),
    import('../client/errors.js'),
  ]);
  const names = [...taskQueues].map((name) => name ?? workflowTaskQueue);
  const unserved = await findUnservedQueues(loadTemporalConnection(env), names).catch(() => []);
  for (const name of unserved) stderr.write(`warning: ${noPollerWords(name)}\n`);
}
