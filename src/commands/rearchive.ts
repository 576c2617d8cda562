import type { Command } from 'commander';
import { printableLine } from '../domain/text';
import { type CommandContext, printJson, withLonghaul } from './command-context';
import { idArgument } from './shared-options';

/** `longhaul rearchive ID`: answers `ArchiveIncomplete`. */
export function addRearchiveCommand(program: Command, context: CommandContext): void {
  program
    .command('rearchive')
    .summary('fetch again what is missing in the archive')
    .description('Answers ArchiveIncomplete: tries again to archive what is missing; what is whole is kept.')
    .addArgument(idArgument())
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul rearchive order-17\n')
    .action(async (id: string, { json }: { json?: true }) => {
      await withLonghaul(context, {}, async (longhaul) => {
        const task = longhaul.task(id);
        const words = await task.rearchive();
        if (json) printJson(context, { workflowId: task.workflowId, words });
        else context.stdout.write(`${printableLine(words)}\n`);
      });
    });
}
