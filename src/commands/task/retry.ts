import type { Command } from 'commander';
import { printableLine } from '../../core/text';
import { type CommandContext, type ConnectionOptions, print, withLonghaul } from '../command-context';
import { idArgument } from '../shared-options';
import { type FinishStartOptions, startAndFollow } from './follow-task';

const help = `
What may still run at the service is followed, and what is uncertain stays so:
neither is paid twice. A task that the service ended is paid anew.

Example:
  $ longhaul retry order-17
`;

export function addRetryCommand(program: Command, context: CommandContext): void {
  program
    .command('retry')
    .description('Starts a task that ended without success again, with its own input, and follows it.')
    .addArgument(idArgument())
    .option('--detach', 'do not follow it')
    .option('--json', 'print one JSON object: the result, or the workflow id with --detach')
    .addHelpText('after', help)
    .action(async (id: string, options: FinishStartOptions) => {
      await withLonghaul(context, options, async (longhaul) => {
        await startAndFollow(context, () => longhaul.task(id).retry(), options);
      });
    });
}

export function addRetryNowCommand(program: Command, context: CommandContext): void {
  program
    .command('retry-now')
    .description('Tries at once a step of a task or batch that waits for its next attempt, or that an operator paused.')
    .addArgument(idArgument())
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul retry-now order-17\n')
    .action(async (id: string, { json }: ConnectionOptions & { readonly json?: true }) => {
      await withLonghaul(context, {}, async (longhaul) => {
        const task = longhaul.task(id);
        const { workflowId } = task;
        const steps = await task.retryNow();
        const words = steps.length === 0 ? 'no step waits' : `tried now: ${steps.join(', ')}`;
        print(context, json, { workflowId, steps }, `${printableLine(`${workflowId}  ${words}`)}\n`);
      });
    });
}
