import type { Command } from 'commander';
import { type CommandContext, printJson, withLonghaul } from './command-context';
import { followToTheEnd } from './follow-task';
import { idArgument } from './shared-options';
import { statusText } from './task-text';

interface StatusOptions {
  readonly follow?: true;
  readonly json?: boolean;
}

/** `longhaul status ID`: what a task is doing, also when no worker answers or it is over. */
export function addStatusCommand(program: Command, context: CommandContext): void {
  program
    .command('status')
    .summary('show what a task is doing, or follow it to its end')
    .description('Shows what a task is doing, what it waits for, and what became of each request to end it.')
    .addArgument(idArgument())
    .option('--follow', 'stay until it ends and print its result, as "run" does')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul status order-17 --follow\n')
    .action(async (id: string, { follow, json = false }: StatusOptions) => {
      await withLonghaul(context, {}, async (longhaul) => {
        const task = longhaul.task(id);
        if (follow === true) {
          await followToTheEnd(context, task, json);
          return;
        }
        const view = await task.status();
        if (json) printJson(context, view);
        else context.stdout.write(`${statusText(view, Date.now())}\n`);
      });
    });
}
