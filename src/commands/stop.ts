import type { Command } from 'commander';
import type { CommandContext } from './command-context';
import { addStopVerb } from './stop-verbs';

/** `longhaul stop ID`: ends a task, whichever of the service's verbs applies. */
export function addStopCommand(program: Command, context: CommandContext): void {
  addStopVerb(program, context, {
    verb: 'stop',
    summary: 'end a task in whatever state it is',
    description:
      'Ends a task with whichever of the service’s verbs applies, and confirms the end with the service. A task that succeeded meanwhile is archived, for it is paid.',
    ask: (task) => task.stop(),
  });
}
