import path from 'node:path';
import type { Longhaul } from '../client/longhaul';
import type { TracesConfig } from '../config/traces-config';
import { workflowTaskQueue } from '../contract/task-queues';
import { printableText } from '../core/text';
import type { OpenTraces, OpenTracesOptions } from '../client/traces/open-traces';
import { type ExitCode, exitCodes } from './exit-code';

/** `columns`: the width of a terminal. */
export interface Output {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export type FaultOrigin = 'uncaughtException' | 'unhandledRejection';

/** Tests pass their own. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Called when needed: to touch the stream opens it. */
  readonly stdin: () => NodeJS.ReadableStream;
  /** Results only. */
  readonly stdout: Output;
  /** Progress, notes and failures. */
  readonly stderr: Output;
  /** Standard error for redrawn lines: the only stream that gets control sequences. */
  readonly display: Output & NodeJS.WritableStream;
  /** At the first Ctrl-C or `kill`, which then does not end the process; returns how to stop listening. */
  readonly onInterrupt: (callback: (signal: NodeJS.Signals) => void) => () => void;
  readonly setUmask: (umask: number) => void;
  /** At each uncaught error, which then does not end the process; returns how to stop listening. */
  readonly onFault: (callback: (error: unknown, origin: FaultOrigin) => void) => () => void;
  /** Kills the process after this time, if it still runs. */
  readonly endWithin: (ms: number) => void;
  readonly exitWith: (code: ExitCode) => void;
}

/** Escapes control characters: output quotes services, files and histories. `display` is unchanged. */
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

/** Undefined without a terminal, and for a pseudo-terminal without a size, which says 0. */
export function terminalColumns({ columns = 0 }: Pick<Output, 'columns'>): number | undefined {
  return columns > 0 ? columns : undefined;
}

export interface ConnectionOptions {
  readonly taskQueue?: string;
}

/** Closes the client afterwards. */
export async function withLonghaul<Result>(
  context: CommandContext,
  { taskQueue }: ConnectionOptions,
  use: (longhaul: Longhaul) => Promise<Result>,
): Promise<Result> {
  // Commands load on demand what is slow to load (Temporal's SDK, the storage): the help does without.
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

/** Without a config, nothing of OpenTelemetry is loaded. */
export async function openProgramTraces(
  config: TracesConfig | null,
  program: string,
  onChange: NonNullable<OpenTracesOptions['onChange']>,
): Promise<OpenTraces | undefined> {
  if (config === null) return undefined;
  const { openTraces } = await import('../client/traces/open-traces.js');
  return openTraces(config, { program, onChange });
}

export function printJson({ stdout }: CommandContext, value: object): void {
  stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function print(context: CommandContext, isJson: boolean | undefined, value: object, text: string): void {
  if (isJson) printJson(context, value);
  else context.stdout.write(text);
}

/** Ctrl-C aborts the signal; `undefined` when that ended it. */
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

/** Ctrl-C waits for Temporal's answer: what was started may be paid, and is reported. A second one ends the process. */
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
  /** Of the namespace; null when the address of the Web UI is not configured. */
  readonly webUi: string | null;
  readonly now: Date;
}

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
 * Warns of task queues that no worker polls: what was started there waits. Silent where Temporal does not tell.
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
