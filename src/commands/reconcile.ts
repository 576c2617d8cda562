import type { Command } from 'commander';
import { loadWorkerConfig } from '../config/worker-config';
import { printableLine } from '../domain/text';
import { type Finding, type FindingKind, findingKinds, type Remedy } from '../domain/reconcile';
import type { Reconciliation } from '../reconcile/reconcile';
import { type CommandContext, type ConnectionOptions, printJson, withLonghaul } from './command-context';
import { exitCodes } from './exit-code';
import { parseSettlement, readRequestIds, sinceMs } from './reconcile-options';
import { repeatable, taskQueueOption } from './shared-options';

interface ReconcileCommandOptions extends ConnectionOptions {
  readonly from?: string;
  readonly account?: string;
  readonly since?: string;
  readonly verify?: true;
  readonly settle?: readonly string[];
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

/** `longhaul reconcile`: what was paid for and is not safe, and the command that makes it safe. */
export function addReconcileCommand(program: Command, context: CommandContext): void {
  program
    .command('reconcile')
    .summary('find what was paid for and is not safe')
    .description('Compares Temporal, the archive, the service and a list of request ids with each other.')
    .option('--from <file>', 'request ids from anywhere, such as the service’s own list')
    .option('--account <name>', 'whom to ask about a task of no known account (default: each)')
    .option('--since <when>', 'only what began since then: 30d, or 2026-03-01')
    .option('--verify', 'also hash every archived file, which reads all of them')
    .addOption(repeatable('--settle <answer>', 'WORKFLOW_ID/NUMBER=REQUEST_ID, or =none: which task a create made'))
    .option('--json', 'print one JSON object')
    .addOption(taskQueueOption())
    .addHelpText('after', help)
    .action((options: ReconcileCommandOptions) => runReconcile(context, options));
}

async function runReconcile(context: CommandContext, options: ReconcileCommandOptions): Promise<void> {
  const { from, account = null, verify = false, settle = [], taskQueue = null } = options;
  const since = sinceMs(options.since, Date.now());
  const settlements = settle.map(parseSettlement);
  const requestIds = from === undefined ? [] : await readRequestIds(from, context);
  const { config } = loadWorkerConfig(context.env);
  // Loaded on demand: the service client and the storage would slow the start of every other command.
  const { withWorkerSide } = await import('./worker-side.js');
  const { reconcile } = await import('../reconcile/reconcile.js');
  const onProgress = (words: string): void => {
    context.stderr.write(`${words}\n`);
  };
  await withLonghaul(context, options, async (longhaul) => {
    const { safe, findings } = await withWorkerSide(config, (parts) =>
      reconcile(
        { ...parts, longhaul },
        { requestIds, account, sinceMs: since, taskQueue, verify, settlements, onProgress },
      ),
    );
    const views = findings.map((finding) => findingView(finding, taskQueue));
    if (options.json) printJson(context, { isSafe: views.length === 0, safe, findings: views });
    else context.stdout.write(reconciliationText({ safe }, views));
    if (views.length > 0) context.exitWith(exitCodes.needsPerson);
  });
}

/** A command that makes something safe, ready for a shell. */
export interface RemedyCommand {
  /** In which case it is the right one; null where there is no choice. */
  readonly when: string | null;
  /** Words in capitals are for the person to fill in. */
  readonly command: string;
}

/** A finding as `--json` prints it. */
export interface FindingView extends Omit<Finding, 'remedies'> {
  readonly commands: readonly RemedyCommand[];
}

const titles: Record<FindingKind, string> = {
  running: 'Running, and followed by no workflow',
  notArchived: 'Succeeded, and not archived',
  damaged: 'Archived, and damaged since',
  archiveIncomplete: 'Archive incomplete',
  unanswered: 'State unknown',
  uncertain: 'Uncertain whether created',
  unknownId: 'Unknown to the service',
  lost: 'Lost',
};

const placeholder = 'REQUEST_ID';

/**
 * A finding with its commands. `taskQueue` is that of the workers, when it is not the usual one.
 *
 * @internal exported for tests
 */
export function findingView({ remedies, ...finding }: Finding, taskQueue: string | null): FindingView {
  return { ...finding, commands: remedies.map((remedy) => remedyCommand(remedy, taskQueue)) };
}

/**
 * The whole comparison for a person: what is safe is counted, everything else has a line and its commands.
 *
 * @internal exported for tests
 */
export function reconciliationText({ safe }: Pick<Reconciliation, 'safe'>, findings: readonly FindingView[]): string {
  const blocks = findingKinds.flatMap((kind) => {
    const ofKind = findings.filter((finding) => finding.kind === kind);
    return ofKind.length === 0 ? [] : [`${titles[kind]} (${ofKind.length}):`, ...ofKind.flatMap(findingLines), ''];
  });
  const total = Object.values(safe).reduce((sum, count) => sum + count, 0);
  const parts = [
    `${safe.archived} archived`,
    `${safe.followed} followed`,
    `${safe.nothingToSave} without a result`,
    ...(safe.superseded === 0 ? [] : [`${safe.superseded} created again in their place`]),
  ];
  const verdict = findings.length === 0 ? 'All safe' : `${findings.length} not safe`;
  return [...blocks, `${verdict}. Safe: ${total} (${parts.join(', ')}).`, ''].join('\n');
}

function findingLines({ requestId, workflowId, account, reason, commands }: FindingView): string[] {
  const names = [requestId, workflowId, account === null || account === 'default' ? null : `account ${account}`];
  return [
    printableLine(`  ${names.filter((name) => name !== null).join(', ')}: ${reason}`),
    ...commands.map(({ when, command }) => `    ${command}${when === null ? '' : `   # ${when}`}`),
  ];
}

function remedyCommand(remedy: Remedy, taskQueue: string | null): RemedyCommand {
  switch (remedy.do) {
    case 'adopt': {
      const { requestId, account, folder } = remedy;
      return { when: null, command: adoptCommand(requestId, { account, folder, taskQueue }) };
    }
    case 'rearchive':
      return { when: null, command: words('rearchive', remedy.workflowId) };
    case 'resolveAdopt': {
      const { workflowId, requestId } = remedy;
      return { when: 'it exists', command: words('resolve', workflowId, '--adopt', requestId ?? placeholder) };
    }
    case 'resolveRecreate':
      return {
        when: 'create it once more; may be paid twice',
        command: words('resolve', remedy.workflowId, '--recreate'),
      };
    case 'resolveAbandon':
      return { when: 'give it up', command: words('resolve', remedy.workflowId, '--abandon') };
    case 'settle': {
      const record = `${remedy.workflowId}/${remedy.createNumber}`;
      const command = words('reconcile', '--settle', `${record}=${remedy.requestId ?? placeholder}`);
      return { when: 'it exists', command };
    }
    case 'settleNone': {
      const record = `${remedy.workflowId}/${remedy.createNumber}`;
      return { when: 'nothing was created', command: words('reconcile', '--settle', `${record}=none`) };
    }
  }
}

function adoptCommand(
  requestId: string,
  how: { readonly account: string | null; readonly folder: string; readonly taskQueue: string | null },
): string {
  const { account, folder, taskQueue } = how;
  const options = [
    ...(account === null || account === 'default' ? [] : ['--account', account]),
    ...(folder === '' ? [] : ['--archive', folder]),
    ...(taskQueue === null ? [] : ['--task-queue', taskQueue]),
  ];
  return requestId.startsWith('-')
    ? words('adopt', ...options, '--', requestId)
    : words('adopt', requestId, ...options);
}

function words(...args: readonly string[]): string {
  return ['longhaul', ...args.map(shellQuoted)].join(' ');
}

/** One word for a POSIX shell. */
function shellQuoted(word: string): string {
  return /^[A-Za-z0-9_./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
