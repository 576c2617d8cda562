import type { Command } from 'commander';
import type { CommandContext } from './command-context';
import { addStopVerb } from './stop-verbs';

/** `longhaul cancel ID`: the service's own cancel. */
export function addCancelCommand(program: Command, context: CommandContext): void {
  addStopVerb(program, context, {
    verb: 'cancel',
    summary: 'cancel a task that is not running yet',
    description:
      'Asks for the service’s own cancel. It applies before the task is created and while it queues, and never becomes an interrupt; to end a task in any state, use "stop".',
    ask: (task) => task.cancel(),
  });
}
