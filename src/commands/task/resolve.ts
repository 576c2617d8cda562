import { type Command, Option } from 'commander';
import { InputInvalidError } from '../../client/errors';
import type { TaskHandle } from '../../client/task/task-handle';
import { taskKeyOf } from '../../contract/workflow-ids';
import { printableLine } from '../../domain/text';
import { type CommandContext, printJson, withLonghaul } from '../command-context';
import { idArgument } from '../shared-options';

interface ResolveOptions {
  readonly adopt?: string;
  readonly recreate?: true;
  readonly abandon?: true;
  readonly json?: true;
}

/** `longhaul resolve ID`: a person's answer to what Longhaul does not decide by itself. */
export function addResolveCommand(program: Command, context: CommandContext): void {
  program
    .command('resolve')
    .description(
      'Answers CreateUncertain (it is uncertain whether the service created the task), and with --abandon ArchiveIncomplete, too.',
    )
    .addArgument(idArgument())
    .addOption(
      new Option('--adopt <request-id>', 'the task exists under this id: follow it').conflicts(['recreate', 'abandon']),
    )
    .addOption(new Option('--recreate', 'create it once more; may be paid twice').conflicts('abandon'))
    .option('--abandon', 'give it up')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul resolve order-17 --adopt 3f0c2a4e-51c5-4a3e-9c40-7a1f1f0b6f11\n')
    .action(async (id: string, options: ResolveOptions) => {
      const decide = toDecision(options);
      await withLonghaul(context, {}, async (longhaul) => {
        const task = longhaul.task(id);
        const asked = options.abandon === true ? [] : await askedBefore(task);
        const words = await decide(task);
        if (options.json) printJson(context, { workflowId: task.workflowId, words });
        else context.stdout.write(`${printableLine(words)}\n`);
        if (asked.length > 0) context.stderr.write(askedText(asked, id));
      });
    });
}

/** A worker that answers does so at once. */
const statusWithinMs = 2_000;

/** The requests to end the task that were kept until the decision. */
async function askedBefore(task: TaskHandle): Promise<readonly string[]> {
  const view = await task.status({ signal: AbortSignal.timeout(statusWithinMs) }).catch(() => undefined);
  const kept = view?.stopRequests.filter(({ outcome }) => outcome === 'waiting') ?? [];
  return [...new Set(kept.map(({ verb }) => verb))];
}

function askedText(verbs: readonly string[], id: string): string {
  return `It was asked to ${verbs.join(' and to ')} before, which is kept and applies from now on: longhaul status ${taskKeyOf(id) ?? id}\n`;
}

function toDecision({ adopt, recreate, abandon }: ResolveOptions): (task: TaskHandle) => Promise<string> {
  if (adopt !== undefined) return (task) => task.adopt(adopt);
  if (recreate === true) return (task) => task.recreate();
  if (abandon === true) return (task) => task.abandon();
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
