import type { Command } from 'commander';
import type { TaskHandle } from '../../client/task/task-handle';
import { operatorChoices } from '../../contract/operator-choices';
import { taskKeyOf } from '../../contract/workflow-ids';
import { type CommandContext, printJson, withLonghaul } from '../command-context';
import { followToTheEnd } from './follow-task';
import { detachedAnyway, idArgument } from '../shared-options';

/** One way to end a task. */
export interface StopVerbCommand {
  readonly verb: 'cancel' | 'interrupt' | 'stop';
  readonly description: string;
  ask(task: TaskHandle): Promise<void>;
}

/** A worker that answers does so at once; without one, the request is on record all the same. */
const statusWithinMs = 2_000;

/** What keeps the request from being sent now: that no worker answers, or that a person has to decide first. */
async function obstacle(task: TaskHandle, verb: StopVerbCommand['verb']): Promise<string> {
  const view = await task.status({ signal: AbortSignal.timeout(statusWithinMs) }).catch(() => undefined);
  if (view === undefined) {
    return 'No worker has answered yet. The request is on record, and applies as soon as a worker takes it; "longhaul doctor" says whether one is there.\n';
  }
  if (view.isOver) return '';
  if (verb === 'stop' || view.status !== 'CreateUncertain') return view.note === null ? '' : `${view.note}\n`;
  const choices = operatorChoices(view.status, view.workflowId);
  return [
    'It is not known whether the service created the task, so the request waits until that is decided:',
    ...choices.map(({ command, meaning }) => `  ${command} (${meaning})`),
    '',
  ].join('\n');
}

/** Adds a command that asks a task to end, and prints how to see the outcome. */
function addStopVerb(program: Command, context: CommandContext, command: StopVerbCommand): void {
  const { verb, description } = command;
  program
    .command(verb)
    .description(description)
    .addArgument(idArgument())
    .option('--wait', 'stay until the task has ended and print its result')
    .addOption(detachedAnyway('do not wait until it has ended: only --wait does').conflicts('wait'))
    .option('--json', 'print one JSON object')
    .addHelpText('after', `\nExample:\n  $ longhaul ${verb} order-17 --wait\n`)
    .action(async (id: string, { wait, json = false }: { wait?: true; json?: boolean }) => {
      await withLonghaul(context, {}, async (longhaul) => {
        const task = longhaul.task(id);
        await command.ask(task);
        const { workflowId } = task;
        const key = taskKeyOf(workflowId) ?? workflowId;
        context.stderr.write(`Asked ${workflowId} to ${verb}. What becomes of it: longhaul status ${key}\n`);
        if (wait !== true) context.stderr.write(await obstacle(task, verb));
        if (wait === true) await followToTheEnd(context, task, json);
        else if (json) printJson(context, { workflowId, asked: verb });
      });
    });
}

/** `longhaul cancel ID`: the service's own cancel. */
export function addCancelCommand(program: Command, context: CommandContext): void {
  addStopVerb(program, context, {
    verb: 'cancel',
    description:
      'Asks for the service’s own cancel. It applies before the task is created and while it queues, and never becomes an interrupt; to end a task in any state, use "stop".',
    ask: (task) => task.cancel(),
  });
}

/** `longhaul interrupt ID`: the service's own interrupt. */
export function addInterruptCommand(program: Command, context: CommandContext): void {
  addStopVerb(program, context, {
    verb: 'interrupt',
    description:
      'Asks for the service’s own interrupt. It applies while the task runs, and is kept for then when it comes earlier; to end a task in any state, use "stop".',
    ask: (task) => task.interrupt(),
  });
}

/** `longhaul stop ID`: ends a task, whichever of the service's verbs applies. */
export function addStopCommand(program: Command, context: CommandContext): void {
  addStopVerb(program, context, {
    verb: 'stop',
    description:
      'Ends a task with whichever of the service’s verbs applies, and confirms the end with the service. A task that succeeded meanwhile is archived, for it is paid.',
    ask: (task) => task.stop(),
  });
}
