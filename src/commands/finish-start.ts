import type { TaskHandle } from '../client/task-handle';
import { type CommandContext, printJson } from './command-context';
import { followToTheEnd } from './finish-following';

/** What a command that starts a task does once it has. */
export interface FinishStartOptions {
  /** Print the workflow id and let the task go on. */
  readonly detach?: true;
  readonly json?: true;
}

/** Tells what a start led to, then follows the task to its end unless that is not wanted. */
export async function finishStart(
  context: CommandContext,
  task: TaskHandle,
  { detach, json }: FinishStartOptions,
): Promise<void> {
  const { workflowId, origin, url } = task;
  const what = origin === 'started' ? 'Started' : 'Following, for it exists already:';
  context.stderr.write(`${what} ${workflowId}\n${url === null ? '' : `  ${url}\n`}`);
  if (detach !== true) await followToTheEnd(context, task, json ?? false);
  else if (json) printJson(context, { workflowId, origin, url });
  else context.stdout.write(`${workflowId}\n`);
}
