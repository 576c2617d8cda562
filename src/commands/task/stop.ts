import type { Command } from 'commander';
import type { TaskHandle } from '../../client/task/task-handle';
import { TaskOverError } from '../../client/errors';
import type { TaskView } from '../../client/task/task-view';
import { problemText } from '../../contract/problem';
import { isCutOff, taskCommands } from '../../contract/task-advice';
import { adoptionKey, taskWorkflowId } from '../../contract/workflow-ids';
import { shellWord } from '../../core/text';
import { isTerminal, parseServiceStatus } from '../../core/task-state';
import { type CommandContext, printJson, withLonghaul } from '../command-context';
import { exitCodes } from '../exit-code';
import { followToTheEnd } from './follow-task';
import { choiceLines, cutOffText } from './task-text';
import { detachedAnyway, idArgument } from '../shared-options';

/** Problems of a workflow that handles no message now. */
const unreachable: readonly string[] = ['Stuck', 'Overloaded', 'NoWorker', 'Paused'];

type StopVerb = 'cancel' | 'interrupt' | 'stop';

/** A worker that answers does so at once; without one, the request is on record all the same. */
const statusWithinMs = 2_000;

/** Undefined where it is not told soon. */
export async function statusSoon(task: TaskHandle): Promise<TaskView | undefined> {
  return await task.status({ signal: AbortSignal.timeout(statusWithinMs) }).catch(() => undefined);
}

/** Why the request is not sent: no worker answers, the workflow is stuck, or a person has to decide first. */
async function obstacle(task: TaskHandle, verb: StopVerb): Promise<string> {
  const view = await statusSoon(task);
  if (view === undefined) {
    return 'No worker has answered yet. The request is on record, and applies as soon as a worker takes it; "longhaul doctor" says whether one is there.\n';
  }
  if (view.isOver) return '';
  const { problem } = view;
  if (problem !== null && unreachable.includes(problem.code)) return `${problemText(problem)}\n`;
  if (verb === 'stop' || view.status !== 'CreateUncertain') return '';
  return `It is not known whether the service created the task, so the request waits until that is decided:\n${choiceLines(view.status, view.workflowId).join('\n')}\nIt cannot be withdrawn. To keep a task that exists: decide --abandon, and then the status says how to follow it.\n`;
}

/** Set if a person has to decide first, which ending the task would throw away, or if its workflow was cut off. */
async function undecided(task: TaskHandle, verb: StopVerb): Promise<TaskView | undefined> {
  // What keeps the status from being read also keeps the request from being sent, and says so better.
  const view = await task.status().catch(() => undefined);
  if (view === undefined || isUnfollowed(view)) return view;
  if (view.isOver) return undefined;
  if (view.status === 'ArchiveIncomplete') return view;
  return verb === 'stop' && view.status === 'CreateUncertain' ? view : undefined;
}

/** Its workflow takes no request, while its task may run at the service. */
function isUnfollowed({ execution, requestId, serviceStatus }: TaskView): boolean {
  const hasEnded = serviceStatus !== null && isTerminal(parseServiceStatus(serviceStatus));
  return isCutOff(execution) && requestId !== null && !hasEnded;
}

function unfollowedText({ workflowId, execution, adoptedBy, account, requestId }: TaskView, verb: StopVerb): string {
  const over = `Not asked to ${verb}: the workflow ${workflowId} is over${cutOffText(execution)}, and its task may run on at the service, and be paid.`;
  if (adoptedBy !== null)
    return `${over} It is followed by another workflow:\n  ${taskCommands.end(adoptedBy, verb)}\n`;
  const follower = taskWorkflowId(adoptionKey(requestId ?? ''));
  const option = account === null || account === 'default' ? '' : ` --account ${shellWord(account)}`;
  return `${over} Follow it, then ${verb} that:\n  ${taskCommands.adopt(requestId)}${option} --detach\n  ${taskCommands.end(follower, verb)} --wait\n`;
}

function undecidedText(view: TaskView, verb: StopVerb): string {
  if (view.isOver) return unfollowedText(view, verb);
  const why =
    view.status === 'ArchiveIncomplete'
      ? 'The task is over at the service, and paid, so there is nothing to end; some of its outputs are not archived. Decide:'
      : 'Decide first: it is not known whether the service created the task, so a stop cannot be confirmed.';
  const force =
    verb === 'stop' && view.status === 'CreateUncertain'
      ? `Or end it undecided: ${taskCommands.end(view.workflowId, 'stop')} --force (it fails as StopUnconfirmed; a task that exists runs on and is paid)\n`
      : '';
  return `Not asked to ${verb}. ${why}\n${choiceLines(view.status, view.workflowId).join('\n')}\n${force}`;
}

interface StopOptions {
  readonly wait?: true;
  readonly force?: true;
  readonly json?: boolean;
}

function addStopVerb(program: Command, context: CommandContext, verb: StopVerb): Command {
  return program
    .command(verb)
    .description(descriptions[verb])
    .addArgument(idArgument())
    .option('--wait', 'stay until the task has ended and print its result')
    .addOption(detachedAnyway('do not wait until it has ended: only --wait does').conflicts('wait'))
    .option('--json', 'print one JSON object')
    .addHelpText('after', `\nExample:\n  $ longhaul ${verb} order-17 --wait\n`)
    .action(async (id: string, { wait, force, json = false }: StopOptions) => {
      await withLonghaul(context, {}, async (longhaul) => {
        const task = longhaul.task(id);
        const waits = force === true ? undefined : await undecided(task, verb);
        if (waits !== undefined) {
          context.stderr.write(undecidedText(waits, verb));
          if (json) printJson(context, waits);
          context.exitWith(exitCodes.needsPerson);
          return;
        }
        const { workflowId } = task;
        if ((await task[verb]()) === false) throw new TaskOverError(workflowId);
        context.stderr.write(
          `Asked ${workflowId} to ${verb}. What becomes of it: ${taskCommands.status(workflowId)}\n`,
        );
        if (wait !== true) context.stderr.write(await obstacle(task, verb));
        if (wait === true) await followToTheEnd(context, task, json);
        else if (json) printJson(context, { workflowId, asked: verb });
      });
    });
}

const descriptions: Readonly<Record<StopVerb, string>> = {
  cancel:
    'Asks for the service’s own cancel. It applies before the task is created and while it queues, and never becomes an interrupt; to end a task in any state, use "stop".',
  interrupt:
    'Asks for the service’s own interrupt. It applies while the task runs, and is kept for then when it comes earlier; to end a task in any state, use "stop".',
  stop: 'Ends a task with whichever of the service’s verbs applies, and confirms the end with the service. A task that succeeded meanwhile is archived, for it is paid. One that waits for a decision is not ended (exit code 5): decide first.',
};

export function addCancelCommand(program: Command, context: CommandContext): void {
  addStopVerb(program, context, 'cancel');
}

export function addInterruptCommand(program: Command, context: CommandContext): void {
  addStopVerb(program, context, 'interrupt');
}

export function addStopCommand(program: Command, context: CommandContext): void {
  addStopVerb(program, context, 'stop').option(
    '--force',
    'also while it is not known whether the service created it (CreateUncertain): it fails as StopUnconfirmed, and a task that exists runs on and is paid',
  );
}
