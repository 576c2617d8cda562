import { type Command, Option } from 'commander';
import { DecisionRefusedError, InputInvalidError, TaskOverError } from '../../client/errors';
import type { Longhaul } from '../../client/longhaul';
import { checkedTaskId } from '../../client/start-check';
import type { TaskHandle } from '../../client/task/task-handle';
import { taskCommands } from '../../contract/task-advice';
import { workflowIdOf } from '../../contract/workflow-ids';
import { formatCountOf, printableLine } from '../../core/text';
import { type CommandContext, print, printJson, withLonghaul } from '../command-context';
import { exitCodes } from '../exit-code';
import { readRequestIds, sinceMs } from '../reconcile-options';
import { idArgument } from '../shared-options';
import { statusSoon } from './stop';
import { othersText } from './task-text';

interface ResolveOptions {
  readonly adopt?: string;
  readonly force?: true;
  readonly batch?: string;
  readonly uncertain?: true;
  readonly since?: string;
  readonly from?: string;
  readonly recreate?: true;
  readonly acceptSecondCharge?: true;
  readonly abandon?: true;
  readonly json?: true;
}

const help = `
With --batch or --uncertain it answers for all tasks in CreateUncertain: --from
adopts those whose task is in the file, as the service tells, and leaves what is
ambiguous; --recreate needs --accept-second-charge.

Examples:
  $ longhaul resolve order-17 --adopt 3f0c2a4e-51c5-4a3e-9c40-7a1f1f0b6f11
  $ longhaul resolve --batch spring --from ids.txt
  $ longhaul resolve --uncertain --since 2h --abandon
`;

export function addResolveCommand(program: Command, context: CommandContext): void {
  program
    .command('resolve')
    .description(
      'Answers CreateUncertain (it is uncertain whether the service created the task), and with --abandon ArchiveIncomplete, too.',
    )
    .argument('[id]', 'the task’s key or workflow id', checkedTaskId)
    .addOption(
      new Option('--adopt <request-id>', 'the task exists under this id: follow it').conflicts(['recreate', 'abandon']),
    )
    .option('--force', 'with --adopt: also a task that another create made or may have made')
    .addOption(new Option('--recreate', 'create it once more; may be paid twice').conflicts('abandon'))
    .option('--abandon', 'give it up')
    .addOption(new Option('--batch <id>', 'all rows of this batch that are uncertain').conflicts('uncertain'))
    .option('--uncertain', 'all tasks that are uncertain')
    .option('--since <when>', 'of those only the ones that were started since then: 2h, or 2026-03-01')
    .addOption(
      new Option('--from <file>', 'request ids that the service shows and you do not know').conflicts([
        'adopt',
        'recreate',
        'abandon',
      ]),
    )
    .option('--accept-second-charge', 'each task that exists after all is paid twice')
    .option('--json', 'print one JSON object')
    .addHelpText('after', help)
    .action(async (id: string | undefined, options: ResolveOptions) => {
      if (id === undefined) {
        await resolveMany(context, options);
        return;
      }
      const one = toOne(options);
      await withLonghaul(context, {}, async (longhaul) => {
        const task = longhaul.task(id);
        const view = await statusSoon(task);
        const words = await one(task);
        print(context, options.json, { workflowId: task.workflowId, words }, `${printableLine(words)}\n`);
        const kept = view?.stopRequests.filter(({ outcome }) => outcome === 'waiting') ?? [];
        if (kept.length > 0 && options.abandon !== true) {
          const verbs = [...new Set(kept.map(({ verb }) => verb))].join(' and to ');
          context.stderr.write(
            `It was asked to ${verbs} before, which is kept and applies from now on: ${taskCommands.status(workflowIdOf(id))}\n`,
          );
        }
        const others = view && othersText(view);
        if (others != null) context.stderr.write(`Other creates of its app are ${printableLine(others)}\n`);
      });
    });
}

function toOne(options: ResolveOptions): (task: TaskHandle) => Promise<string> {
  const { adopt, force = false, batch, uncertain, since, from } = options;
  if ([batch, uncertain, since, from].some((option) => option !== undefined)) {
    throw new InputInvalidError(['--batch, --uncertain, --since and --from are for many: give no ID.'], 'arguments');
  }
  if (adopt !== undefined) return (task) => task.adopt(adopt, { force });
  if (options.recreate === true) return (task) => task.recreate();
  if (options.abandon === true) return (task) => task.abandon();
  throw new InputInvalidError(
    ['No decision is given; give one of --adopt REQUEST_ID, --recreate, --abandon.'],
    'arguments',
  );
}

export function addRearchiveCommand(program: Command, context: CommandContext): void {
  program
    .command('rearchive')
    .description('Answers ArchiveIncomplete: tries again to archive what is missing; what is whole is kept.')
    .addArgument(idArgument())
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul rearchive order-17\n')
    .action(async (id: string, { json }: { json?: true }) => {
      await withLonghaul(context, {}, async (longhaul) => {
        const task = longhaul.task(id);
        const words = await task.rearchive();
        print(context, json, { workflowId: task.workflowId, words }, `${printableLine(words)}\n`);
      });
    });
}

interface Answer {
  readonly workflowId: string;
  readonly words: string;
}

/** For all tasks of a batch, or of the namespace, that are in CreateUncertain. */
async function resolveMany(context: CommandContext, options: ResolveOptions): Promise<void> {
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

function checkMany({ batch, uncertain, from, recreate, abandon, acceptSecondCharge }: ResolveOptions): void {
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

async function uncertainTasks(longhaul: Longhaul, { batch, since }: ResolveOptions): Promise<TaskHandle[]> {
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

/** Each workflow asks the service, and refuses an id that is not its own, or may be another's as well. */
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

/** Undefined when the decision was taken. */
async function refusalOf({ workflowId }: TaskHandle, decide: () => Promise<void>): Promise<string | undefined> {
  try {
    await decide();
    return undefined;
  } catch (error) {
    if (!(error instanceof DecisionRefusedError || error instanceof TaskOverError)) throw error;
    return error.message.replace(`${workflowId}: `, '');
  }
}
