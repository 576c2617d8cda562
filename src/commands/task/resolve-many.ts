import { DecisionRefusedError, InputInvalidError, TaskOverError } from '../../client/errors';
import type { Longhaul } from '../../client/longhaul';
import type { TaskHandle } from '../../client/task/task-handle';
import { formatCountOf, printableLine } from '../../domain/text';
import { type CommandContext, printJson, withLonghaul } from '../command-context';
import { exitCodes } from '../exit-code';
import { readRequestIds, sinceMs } from '../reconcile-options';

export interface ResolveManyOptions {
  readonly batch?: string;
  readonly uncertain?: true;
  readonly since?: string;
  readonly from?: string;
  readonly recreate?: true;
  readonly acceptSecondCharge?: true;
  readonly abandon?: true;
  readonly json?: true;
}

interface Answer {
  readonly workflowId: string;
  readonly words: string;
}

/** Answers for all tasks of a batch, or of the namespace, that are in CreateUncertain. */
export async function resolveMany(context: CommandContext, options: ResolveManyOptions): Promise<void> {
  checkMany(options);
  const requestIds = options.from === undefined ? undefined : await readRequestIds(options.from, context);
  await withLonghaul(context, {}, async (longhaul) => {
    const tasks = await uncertainTasks(longhaul, options);
    const resolved: Answer[] = [];
    const tell = (answer: Answer): void => {
      resolved.push(answer);
      if (options.json !== true) context.stdout.write(printableLine(`${answer.workflowId}  ${answer.words}`) + '\n');
    };
    const left =
      requestIds === undefined
        ? await decideAll(tasks, options.recreate === true ? 'recreate' : 'abandon', tell)
        : await adoptAll(tasks, requestIds, tell);
    if (options.json) printJson(context, { resolved, left });
    else {
      for (const { workflowId, words } of left)
        context.stdout.write(printableLine(`${workflowId}  not resolved: ${words}`) + '\n');
      context.stdout.write(`${formatCountOf(resolved.length, 'task')} resolved, ${left.length} left\n`);
    }
    if (left.length > 0) context.exitWith(exitCodes.needsPerson);
  });
}

function checkMany({ batch, uncertain, from, recreate, abandon, acceptSecondCharge }: ResolveManyOptions): void {
  const problems: string[] = [];
  if (batch === undefined && uncertain !== true) {
    problems.push('It is not said for which task; give an ID, or --batch ID, or --uncertain.');
  } else if (from === undefined && recreate !== true && abandon !== true) {
    problems.push('No decision is given; give one of --from FILE, --recreate, --abandon.');
  } else if (recreate === true && acceptSecondCharge !== true) {
    problems.push('--recreate pays each task twice that exists after all; give --accept-second-charge, too.');
  }
  if (problems.length > 0) throw new InputInvalidError(problems, 'arguments');
}

async function uncertainTasks(longhaul: Longhaul, { batch, since }: ResolveManyOptions): Promise<TaskHandle[]> {
  const tasks: TaskHandle[] = [];
  const filter = { status: 'CreateUncertain', running: true, since: new Date(sinceMs(since, Date.now())) } as const;
  for await (const { workflowId } of longhaul.list(batch === undefined ? filter : { ...filter, batch })) {
    tasks.push(longhaul.task(workflowId));
  }
  return tasks;
}

/** Returns those that were not resolved, and why. */
async function decideAll(
  tasks: readonly TaskHandle[],
  decision: 'recreate' | 'abandon',
  tell: (answer: Answer) => void,
): Promise<readonly Answer[]> {
  const left: Answer[] = [];
  for (const task of tasks) {
    const words = await refusalOf(task, async () => {
      tell({ workflowId: task.workflowId, words: await task[decision]() });
    });
    if (words !== undefined) left.push({ workflowId: task.workflowId, words });
  }
  return left;
}

/** Each workflow asks the service about an id and refuses one that is not its own, or may be another's as well. */
async function adoptAll(
  tasks: readonly TaskHandle[],
  requestIds: readonly string[],
  tell: (answer: Answer) => void,
): Promise<readonly Answer[]> {
  const left = new Map(tasks.map((task): [TaskHandle, string] => [task, 'no request id is given']));
  for (const requestId of new Set(requestIds)) {
    for (const task of left.keys()) {
      const words = await refusalOf(task, async () => {
        tell({ workflowId: task.workflowId, words: await task.adopt(requestId) });
        left.delete(task);
      });
      if (words === undefined) break;
      left.set(task, words);
    }
  }
  return [...left].map(([{ workflowId }, words]) => ({ workflowId, words }));
}

/** Why the decision does not apply; undefined when it was taken. */
async function refusalOf({ workflowId }: TaskHandle, decide: () => Promise<void>): Promise<string | undefined> {
  try {
    await decide();
    return undefined;
  } catch (error) {
    if (!(error instanceof DecisionRefusedError || error instanceof TaskOverError)) throw error;
    return error.message.replace(`${workflowId}: `, '');
  }
}
