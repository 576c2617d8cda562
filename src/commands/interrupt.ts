import type { Command } from 'commander';
import type { CommandContext } from './command-context';
import { addStopVerb } from './stop-verbs';

/** `longhaul interrupt ID`: the service's own interrupt. */
export function addInterruptCommand(program: Command, context: CommandContext): void {
  addStopVerb(program, context, {
    verb: 'interrupt',
    summary: 'interrupt a task while it runs',
    description:
      'Asks for the service’s own interrupt. It applies while the task runs, and is kept for then when it comes earlier; to end a task in any state, use "stop".',
    ask: (task) => task.interrupt(),
  });
}
