import type { Command } from 'commander';
import { InputInvalidError, ReplyInvalidError, TaskFailedError } from '../../client/errors';
import { isTaskResult } from '../../contract/task-result';
import type { TaskHandle } from '../../client/task/task-handle';
import type { TaskView } from '../../client/task/task-view';
import { batchIdOf } from '../../contract/workflow-ids';
import { isRecord } from '../../core/json';
import { redact } from '../../core/redact';
import { statesThatWait } from '../../core/task-state';
import { type CommandContext, printJson, withLonghaul } from '../command-context';
import { exitCodes } from '../exit-code';
import { isForPerson } from '../explained-failure';
import { followToTheEnd } from './follow-task';
import { idArgument } from '../shared-options';
import { withSettlement } from './settled-task';
import { outcomeLines, statusText, type TaskOutcome } from './task-text';

interface StatusOptions {
  readonly follow?: true;
  readonly json?: boolean;
}

/** `longhaul status ID`: what a task is doing, also when no worker answers or it is over. */
export function addStatusCommand(program: Command, context: CommandContext): void {
  program
    .command('status')
    .description('Shows what a task is doing, what it waits for, and what became of each request to end it.')
    .addArgument(idArgument())
    .option('--follow', 'stay until it ends and print its result, as "run" does')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul status order-17 --follow\n')
    .action(async (id: string, { follow, json = false }: StatusOptions) => {
      const batch = batchIdOf(id);
      if (batch !== undefined) {
        const problem = `${id} is a batch and no task. See "longhaul batch status ${batch}".`;
        throw new InputInvalidError([problem], 'arguments');
      }
      await withLonghaul(context, {}, async (longhaul) => {
        const task = longhaul.task(id);
        if (follow === true) {
          await followToTheEnd(context, task, json);
          return;
        }
        const { view, isSettled } = await withSettlement(context, longhaul, await task.status());
        const outcome = view.isOver ? afterCutOff(view, await readOutcome(task)) : null;
        if (json) printJson(context, { ...view, ...outcome });
        else {
          // The failure says it, with its type.
          const shown = outcome?.failure == null ? view : { ...view, problem: null, note: null };
          context.stdout.write(
            `${[statusText(shown, Date.now()), ...(outcome === null ? [] : outcomeLines(outcome))].join('\n')}\n`,
          );
        }
        if (!isSettled && isLeftToPerson(view, outcome)) context.exitWith(exitCodes.needsPerson);
      });
    });
}

/** Null for a task that another program ended: its state is printed all the same. */
async function readOutcome(task: TaskHandle): Promise<TaskOutcome | null> {
  try {
    return { result: await task.result(), failure: null };
  } catch (error) {
    if (error instanceof ReplyInvalidError) return null;
    if (!(error instanceof TaskFailedError)) throw error;
    const { details, failureType: type, message, requestId } = error;
    const found: unknown = isRecord(details) ? details['result'] : undefined;
    return { result: isTaskResult(found) ? found : { requestId }, failure: { type, message: redact(message) } };
  }
}

/** What became of a task whose workflow was cut off is in the note: the failure knows only that it was. */
function afterCutOff({ note }: TaskView, outcome: TaskOutcome | null): TaskOutcome | null {
  if (note === null || outcome?.failure == null) return outcome;
  return { ...outcome, failure: { ...outcome.failure, message: note } };
}

/** Whether it waits for a decision, is stuck, or ended so that a person should check. */
function isLeftToPerson({ status, isOver, stuck }: TaskView, outcome: TaskOutcome | null): boolean {
  if (!isOver) return stuck !== null || statesThatWait.some((state) => state === status);
  return outcome?.failure != null && isForPerson(outcome.failure.type);
}
