import type { Command } from 'commander';
import type { CommandContext } from '../command-context';
import { addBatchRunCommand } from './batch-run';
import { addBatchReportCommand, addBatchStatusCommand } from './batch-status';
import { addBatchStopCommand, addBatchVerbs, addSetConcurrencyCommand } from './batch-verbs';

/** `longhaul batch …`: a file of rows, each a task. */
export function addBatchCommand(program: Command, context: CommandContext): void {
  const batch = program
    .command('batch')
    .summary('run a file of rows, each as a task')
    .description('Runs every row of a file as a task, and looks after batches that run.')
    .addHelpText('after', '\nExample:\n  $ longhaul batch run photos.jsonl\n');
  addBatchRunCommand(batch, context);
  addBatchStatusCommand(batch, context);
  addBatchVerbs(batch, context);
  addSetConcurrencyCommand(batch, context);
  addBatchStopCommand(batch, context);
  addBatchReportCommand(batch, context);
}
