import type { TaskHandle } from '../client/task-handle';
import type { TaskView } from '../client/task-view';
import type { TaskResult } from '../contract/task-result';
import { taskKeyOf } from '../contract/workflow-ids';
import { type CommandContext, printJson } from './command-context';
import { exitCodes } from './exit-code';
import { follow } from './follow';
import { resultText } from './result-text';
import { statusText } from './status-text';

/** Follows a task to its end, prints the result, and sets the exit code; says how to go on when it has not ended. */
export async function followToTheEnd(context: CommandContext, task: TaskHandle, json: boolean): Promise<void> {
  const followed = await follow(context, task);
  switch (followed.kind) {
    case 'ended':
      printResult(context, followed.result, json);
      break;
    case 'detached':
      context.stderr.write(detachedText(task.workflowId));
      if (json) printJson(context, { workflowId: task.workflowId, detached: true });
      context.exitWith(exitCodes.detached);
      break;
    case 'parked':
      context.stderr.write(parkedText(followed.view));
      if (json) printJson(context, followed.view);
      else context.stdout.write(`${statusText(followed.view, Date.now())}\n`);
      context.exitWith(exitCodes.needsPerson);
      break;
  }
}

function printResult(context: CommandContext, result: TaskResult, json: boolean): void {
  if (json) printJson(context, result);
  else context.stdout.write(`${resultText(result)}\n`);
  if (result.status !== 'Success') context.exitWith(exitCodes.canceled);
  else if (result.failedOutputCount > 0) context.exitWith(exitCodes.outputsFailed);
}

function detachedText(workflowId: string): string {
  const id = taskKeyOf(workflowId) ?? workflowId;
  return [
    `Detached: the task ${workflowId} goes on without this command.`,
    `  follow it: longhaul status ${id} --follow`,
    `  stop it:   longhaul stop ${id}`,
    '',
  ].join('\n');
}

function parkedText({ workflowId, status, stuck }: TaskView): string {
  if (stuck !== null) return `The task ${workflowId} is stuck. ${stuck.message}\n`;
  const id = taskKeyOf(workflowId) ?? workflowId;
  const choices =
    status === 'CreateUncertain'
      ? [
          'Nobody knows whether the service created the task, and Longhaul does not pay twice by itself. Decide:',
          `  it exists:            longhaul resolve ${id} --adopt REQUEST_ID`,
          `  create it once more:  longhaul resolve ${id} --recreate   (may be paid twice)`,
          `  give it up:           longhaul resolve ${id} --abandon`,
        ]
      : [
          'The task succeeded, but not every output could be archived. Decide while the service still has them:',
          `  fetch them again:     longhaul rearchive ${id}`,
          `  give them up:         longhaul resolve ${id} --abandon`,
        ];
  return [...choices, 'The task waits for that.', ''].join('\n');
}
