import type { Command } from 'commander';
import { askForOtherArchive } from '../client/archive-of-tasks';
import { loadTemporalConnection } from '../config/temporal-connection';
import { loadWorkerConfig } from '../config/worker-config';
import { workflowTaskQueue } from '../contract/task-queues';
import { findingView, reconciliationText } from '../reconcile/finding-view';
import {
  type CommandContext,
  type ConnectionOptions,
  print,
  warnOfMissingWorkers,
  withLonghaul,
} from './command-context';
import { exitCodes } from './exit-code';
import { parseSettlement, readRequestIds, sinceMs } from './reconcile-options';
import { repeatable, taskQueueOption } from './shared-options';

interface ReconcileCommandOptions extends ConnectionOptions {
  readonly from?: string;
  readonly account?: string;
  readonly since?: string;
  readonly verify?: true;
  readonly settle?: readonly string[];
  readonly force?: true;
  readonly json?: true;
}

const help = `
Run it with a worker's environment. It asks Temporal, the archive and, about
tasks that are neither followed nor archived, the service; it changes nothing
but the create records that --settle names. Each thing that was paid for and is
not safe gets a line and the command that makes it safe. Exit code: 0 when all
is safe, else 5.

The file of --from has a request id a line, or is JSON Lines or CSV with a
field "requestId"; "-" is standard input.

Example:
  $ longhaul reconcile --from ids.txt --since 30d
`;

export function addReconcileCommand(program: Command, context: CommandContext): void {
  program
    .command('reconcile')
    .description('Compares Temporal, the archive, the service and a list of request ids with each other.')
    .option('--from <file>', 'request ids from anywhere, such as the service’s own list')
    .option('--account <name>', 'whom to ask about a task of no known account (default: each)')
    .option('--since <when>', 'only what began since then: 30d, or 2026-03-01')
    .option('--verify', 'also hash every archived file, which reads all of them')
    .addOption(repeatable('--settle <answer>', 'WORKFLOW_ID/NUMBER=REQUEST_ID, or =none: which task a create made'))
    .option('--force', 'with --settle: also a task that another create made or may have made')
    .option('--json', 'print one JSON object')
    .addOption(taskQueueOption())
    .addHelpText('after', help)
    .action((options: ReconcileCommandOptions) => runReconcile(context, options));
}

async function runReconcile(context: CommandContext, options: ReconcileCommandOptions): Promise<void> {
  const { from, account = null, verify = false, settle = [], force = false, taskQueue = null } = options;
  const since = sinceMs(options.since, Date.now());
  const settlements = settle.map((value) => parseSettlement(value, force));
  const requestIds = from === undefined ? [] : await readRequestIds(from, context);
  const { config } = loadWorkerConfig(context.env);
  const temporal = loadTemporalConnection(context.env);
  const { withWorkerSide } = await import('./storage-access.js');
  const { requireArchiveOfTasks } = await import('../storage/archive/archive-identity.js');
  const { reconcile } = await import('../reconcile/reconcile.js');
  const onProgress = (words: string): void => {
    context.stderr.write(`${words}\n`);
  };
  await withLonghaul(context, options, async (longhaul) => {
    const { safe, findings, taskQueues } = await withWorkerSide(config, async (parts) => {
      await requireArchiveOfTasks(parts.archive, (identity) => {
        const known = { identity, replaces: config.replacesArchive };
        return askForOtherArchive(temporal, taskQueue ?? workflowTaskQueue, known);
      });
      return await reconcile(
        { ...parts, longhaul },
        { requestIds, account, sinceMs: since, changes: null, taskQueue, verify, settlements, onProgress },
      );
    });
    const views = findings.map((finding) => findingView(finding, taskQueue));
    const facts = { isSafe: views.length === 0, safe, findings: views };
    print(context, options.json, facts, reconciliationText({ safe }, views));
    const isAnyAsked = views.length > 0 || settlements.length > 0;
    await warnOfMissingWorkers(context, [...taskQueues, ...(isAnyAsked ? [options.taskQueue] : [])]);
    if (views.length > 0) context.exitWith(exitCodes.needsPerson);
  });
}
