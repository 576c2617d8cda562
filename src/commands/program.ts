import { Command, CommanderError } from 'commander';
import { printableLine } from '../core/text';
import { longhaulVersion } from '../core/version';
import { type CommandContext, withPrintableOutput } from './command-context';

const exitCodeHelp = `
Exit codes:
  0    done; for "run": every output is archived; for "batch run": that of every
       good row
  1    unexpected
  2    the command line, the input or the configuration cannot be used
  3    the task failed, or the service rejected it; rows of the batch failed;
       files could not be fetched
  4    the task was canceled; the batch was stopped, or drained early
  5    the task waits for a person, or needs one to look at it; "list
       --needs-person" or "list --problem" found one; "stop" was refused until
       somebody decides; for "reconcile", "sweep run" and "sweep status":
       something is not safe; for "replay": this build cannot go on with it
  6    Temporal cannot be reached or is not ready; for "doctor": a check failed;
       for "sweep status": no sweep runs by itself, or none has ended well
  7    the task succeeded, and some of its outputs failed at the service
  130  detached by Ctrl-C; the task goes on

Temporal is found by TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and temporal.toml.
`;

type AddCommand = (program: Command, context: CommandContext) => void;

/** Loaded when it is named: `--help` and other commands need name and summary only. */
type CommandEntry = readonly [name: string, summary: string, load: () => AddCommand | Promise<AddCommand>];

const commands: readonly CommandEntry[] = [
  ['run', 'start a task and follow it to its end', async () => (await import('./task/run.js')).addRunCommand],
  [
    'adopt',
    'follow a task that was made elsewhere, or archive one again',
    async () => (await import('./task/run.js')).addAdoptCommand,
  ],
  ['batch', 'run a file of rows, each as a task', async () => (await import('./batch/batch.js')).addBatchCommand],
  [
    'status',
    'show what a task is doing, or follow it to its end',
    async () => (await import('./task/status.js')).addStatusCommand,
  ],
  ['list', 'list tasks, those that run first', async () => (await import('./task/list.js')).addListCommand],
  [
    'download',
    'fetch the outputs of a task from the archive',
    async () => (await import('./task/download.js')).addDownloadCommand,
  ],
  ['costs', 'sum what tasks cost', async () => (await import('./costs.js')).addCostsCommand],
  [
    'budget',
    'show what is spent of an account’s daily budget',
    async () => (await import('./costs.js')).addBudgetCommand,
  ],
  ['open', 'show the page of a task or batch in the Web UI', async () => (await import('./open.js')).addOpenCommand],
  ['cancel', 'cancel a task that is not running yet', async () => (await import('./task/stop.js')).addCancelCommand],
  ['interrupt', 'interrupt a task while it runs', async () => (await import('./task/stop.js')).addInterruptCommand],
  ['stop', 'end a task in whatever state it is', async () => (await import('./task/stop.js')).addStopCommand],
  [
    'resolve',
    'decide about a task that waits for a person',
    async () => (await import('./task/resolve.js')).addResolveCommand,
  ],
  [
    'rearchive',
    'fetch again what is missing in the archive',
    async () => (await import('./task/resolve.js')).addRearchiveCommand,
  ],
  ['retry', 'start a task that failed again', async () => (await import('./task/retry.js')).addRetryCommand],
  ['retry-now', 'try at once a step that waits', async () => (await import('./task/retry.js')).addRetryNowCommand],
  [
    'reconcile',
    'find what was paid for and is not safe',
    async () => (await import('./reconcile.js')).addReconcileCommand,
  ],
  ['sweep', 'look for what is not safe on a schedule', async () => (await import('./sweep.js')).addSweepCommand],
  ['worker', 'run a worker', async () => (await import('./worker.js')).addWorkerCommand],
  ['receiver', 'take the service’s callbacks', async () => (await import('./servers.js')).addReceiverCommand],
  [
    'codec-server',
    'decode payloads for Temporal’s own tools',
    async () => (await import('./servers.js')).addCodecServerCommand,
  ],
  ['doctor', 'check that everything is ready for tasks', async () => (await import('./doctor.js')).addDoctorCommand],
  [
    'replay',
    'check that this build can go on with open tasks',
    async () => (await import('./replay.js')).addReplayCommand,
  ],
  [
    'completion',
    'print a script that completes commands in a shell',
    async () => (await import('./completion.js')).completionCommand(buildWholeProgram),
  ],
  ['help', 'show the help of a command', () => addHelpCommand],
];

/** `args`: without `node` and the script's name. Never throws: a failure is printed and sets the exit code. */
export async function runCommandLine(args: readonly string[], process: CommandContext): Promise<void> {
  const context = withPrintableOutput(process);
  try {
    // The words that may name the command to load.
    const [name, asked] = args.filter((arg) => !arg.startsWith('-'));
    const program = await buildProgram(context, name === 'help' ? [name, asked] : [name]);
    await program.parseAsync(optionsFirst(program, args), { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return;
    const [{ explainFailure }, { TaskFailedError }] = await Promise.all([
      import('./explained-failure.js'),
      import('../client/errors.js'),
    ]);
    const { exitCode, message, details } = explainFailure(error);
    context.exitWith(exitCode);
    if (message === '') return;
    // A message of the service must not look like several lines of output.
    context.stderr.write(`${error instanceof TaskFailedError ? printableLine(message) : message}\n`);
    // A program that reads standard output gets its one object here, too; on one line, as events are.
    if (args.includes('--json')) {
      context.stdout.write(`${JSON.stringify({ error: { ...details, message, exitCode } })}\n`);
    }
  }
}

/** Puts options first where an id or a file begins with `-`: `longhaul stop -5` stops the task `-5`. */
function optionsFirst(program: Command, args: readonly string[]): readonly string[] {
  let command = program;
  let depth = 0;
  for (; depth < args.length; depth += 1) {
    const found = command.commands.find((one) => one.name() === args[depth]);
    if (found === undefined) break;
    command = found;
  }
  const [options, operands]: [string[], string[]] = [[], []];
  for (let index = depth; index < args.length; index += 1) {
    const text = args[index] ?? '';
    const option = command.options.find(({ short, long }) => text === long || (short && text.startsWith(short)));
    if (text === '--') return args;
    if (option === undefined && text !== '-h' && !text.startsWith('--')) operands.push(text);
    else options.push(text);
    const takesNext = option?.required === true && (text === option.long || text === option.short);
    if (takesNext && index + 1 < args.length) options.push(args[(index += 1)] ?? '');
  }
  const isNeeded = operands.some((text) => /^-./.test(text)) && command.registeredArguments.length > 0;
  return isNeeded ? [...args.slice(0, depth), ...options, '--', ...operands] : args;
}

/** Commands that are not named have only a name and a summary. */
async function buildProgram(context: CommandContext, named: readonly (string | undefined)[]): Promise<Command> {
  const program = new Command('longhaul')
    .description('Runs tasks of a hosted service durably: each is created once, followed to its end, and archived.')
    .version(longhaulVersion)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHelpWidth: () => context.stdout.columns ?? 80,
      getErrHelpWidth: () => context.stderr.columns ?? 80,
    })
    .showSuggestionAfterError()
    .addHelpText('after', exitCodeHelp);
  for (const [name, summary, load] of commands) {
    if (named.includes(name)) {
      const add = await load();
      add(program, context);
    } else {
      program.command(name);
    }
    program.commands.at(-1)?.summary(summary);
  }
  // Files are private to the user, unless LONGHAUL_UMASK says otherwise.
  program.hook('preAction', async () => {
    const { readUmask } = await import('../config/environment.js');
    context.setUmask(readUmask(context.env));
  });
  return program;
}

/** With every command loaded. @internal */
export async function buildWholeProgram(context: CommandContext): Promise<Command> {
  return await buildProgram(
    context,
    commands.map(([name]) => name),
  );
}

function addHelpCommand(program: Command): void {
  program
    .command('help')
    .description('Shows the help of a command.')
    .argument('[command...]', 'its name, such as "batch run"')
    .addHelpText('after', '\nExample:\n  $ longhaul help batch run\n')
    .action((names: readonly string[]) => {
      const named = names.reduce((parent, name) => {
        const found = parent.commands.find((command) => command.name() === name);
        return found ?? parent.error(`error: unknown command '${name}'`);
      }, program);
      named.help();
    });
}
