import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { TaskFailedError } from '../client/errors';
import { readUmask } from '../config/environment';
import { printableLine } from '../domain/text';
import { addAdoptCommand } from './adopt';
import { addBatchCommand } from './batch/batch';
import { addBudgetCommand } from './budget';
import { addCodecServerCommand } from './codec-server';
import { type CommandContext, withPrintableOutput } from './command-context';
import { addCostsCommand } from './costs';
import { addDoctorCommand } from './doctor';
import { addDownloadCommand } from './download';
import { explainFailure } from './exit-code';
import { addListCommand } from './list';
import { addReceiverCommand } from './receiver';
import { addReconcileCommand } from './reconcile';
import { addReplayCommand } from './replay';
import { addRearchiveCommand, addResolveCommand } from './resolve';
import { addRunCommand } from './run';
import { addStatusCommand } from './status';
import { addSweepCommand } from './sweep';
import { addCancelCommand, addInterruptCommand, addStopCommand } from './stop';
import { addWorkerCommand } from './worker';

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
       --needs-person" found one; for "reconcile" and "sweep": something is not
       safe; for "replay": this build cannot go on with it
  6    Temporal cannot be reached or is not ready
  130  detached by Ctrl-C; the task goes on

Temporal is found by TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and temporal.toml.
`;

const commands = [
  ...[
    addRunCommand,
    addAdoptCommand,
    addBatchCommand,
    addStatusCommand,
    addListCommand,
    addDownloadCommand,
    addCostsCommand,
    addBudgetCommand,
  ],
  ...[addCancelCommand, addInterruptCommand, addStopCommand],
  ...[addResolveCommand, addRearchiveCommand, addReconcileCommand, addSweepCommand],
  ...[addWorkerCommand, addReceiverCommand, addCodecServerCommand, addDoctorCommand, addReplayCommand, addHelpCommand],
];

/**
 * Runs one command line (without `node` and the script's name). Never throws: a failure is printed and sets the exit
 * code.
 */
export async function runCommandLine(args: readonly string[], process: CommandContext): Promise<void> {
  const context = withPrintableOutput(process);
  // Files are private to the user, unless LONGHAUL_UMASK says otherwise.
  context.setUmask(readUmask(context.env));
  try {
    await buildProgram(context).parseAsync(args, { from: 'user' });
  } catch (error) {
    const { exitCode, message, details } = explainFailure(error);
    context.exitWith(exitCode);
    if (message === '') return;
    // A message of the service must not look like several lines of output.
    context.stderr.write(`${error instanceof TaskFailedError ? printableLine(message) : message}\n`);
    // A program that reads standard output gets its one object in this case, too; on one line, as events are.
    if (args.includes('--json')) {
      context.stdout.write(`${JSON.stringify({ error: { ...details, message, exitCode } })}\n`);
    }
  }
}

function buildProgram(context: CommandContext): Command {
  const program = new Command('longhaul')
    .description('Runs tasks of a hosted service durably: each is created once, followed to its end, and archived.')
    .version(packageVersion())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => context.stdout.write(text),
      writeErr: (text) => context.stderr.write(text),
      getOutHelpWidth: () => context.stdout.columns ?? 80,
      getErrHelpWidth: () => context.stderr.columns ?? 80,
    })
    .showSuggestionAfterError()
    .addHelpText('after', exitCodeHelp);
  for (const add of commands) add(program, context);
  return program;
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(__dirname, '../../package.json'), 'utf8'));
  const isManifest = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return isManifest ? String(manifest.version) : 'unknown';
}

/** `longhaul help COMMAND…`: the help of a command, and of one within another. */
function addHelpCommand(program: Command): void {
  program
    .command('help')
    .summary('show the help of a command')
    .description('Shows the help of a command.')
    .argument('[command...]', 'its name, such as "batch run"')
    .addHelpText('after', '\nExample:\n  $ longhaul help batch run\n')
    .action((names: readonly string[]) => {
      commandAt(program, names).help();
    });
}

function commandAt(program: Command, names: readonly string[]): Command {
  return names.reduce((parent, name) => {
    const found = parent.commands.find((command) => command.name() === name);
    return found ?? parent.error(`error: unknown command '${name}'`);
  }, program);
}
