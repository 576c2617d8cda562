import { type Command, Option } from 'commander';
import { InputInvalidError } from '../../client/errors';
import { checkedTaskId } from '../../client/start-check';
import type { TaskHandle } from '../../client/task/task-handle';
import type { TaskView } from '../../client/task/task-view';
import { taskCommands } from '../../contract/task-advice';
import { workflowIdOf } from '../../contract/workflow-ids';
import { printableLine } from '../../domain/text';
import { type CommandContext, printJson, withLonghaul } from '../command-context';
import { idArgument } from '../shared-options';
import { resolveMany, type ResolveManyOptions } from './resolve-many';
import { othersText } from './task-text';

interface ResolveOptions extends ResolveManyOptions {
  readonly adopt?: string;
  readonly force?: true;
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

/** `longhaul resolve ID`: a person's answer to what Longhaul does not decide by itself. */
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
        const view = await viewBefore(task);
        const words = await one(task);
        if (options.json) printJson(context, { workflowId: task.workflowId, words });
        else context.stdout.write(`${printableLine(words)}\n`);
        const asked = options.abandon === true ? [] : askedBefore(view);
        if (asked.length > 0) context.stderr.write(askedText(asked, id));
        const others = view && othersText(view);
        if (others != null) context.stderr.write(`Other creates of its app are ${printableLine(others)}\n`);
      });
    });
}

/** A worker that answers does so at once. */
const statusWithinMs = 2_000;

async function viewBefore(task: TaskHandle): Promise<TaskView | undefined> {
  return await task.status({ signal: AbortSignal.timeout(statusWithinMs) }).catch(() => undefined);
}

/** The requests to end the task that were kept until the decision. */
function askedBefore(view: TaskView | undefined): readonly string[] {
  const kept = view?.stopRequests.filter(({ outcome }) => outcome === 'waiting') ?? [];
  return [...new Set(kept.map(({ verb }) => verb))];
}

function askedText(verbs: readonly string[], id: string): string {
  return `It was asked to ${verbs.join(' and to ')} before, which is kept and applies from now on: ${taskCommands.status(workflowIdOf(id))}\n`;
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

/** `longhaul rearchive ID`: answers `ArchiveIncomplete`. */
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
        if (json) printJson(context, { workflowId: task.workflowId, words });
        else context.stdout.write(`${printableLine(words)}\n`);
      });
    });
}
