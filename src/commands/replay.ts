import { Client } from '@temporalio/client';
import { type Command, InvalidArgumentError } from 'commander';
import { connectTemporal } from '../client/connect-temporal';
import { toClientError } from '../client/temporal-access';
import { loadClientConfig } from '../config/client-config';
import { longhaulVersion } from '../core/version';
import { loadTemporalConnection } from '../config/temporal-connection';
import { boundedText, printableLine } from '../core/text';
import { redact } from '../core/redact';
import type { ReplayedExecution } from '../replay';
import { type CommandContext, print } from './command-context';
import { exitCodes } from './exit-code';

interface ReplayCommandOptions {
  readonly query?: string;
  readonly closed: number;
  readonly json?: true;
}

const defaultClosed = 200;
/** Of those that cannot go on; the rest is counted. */
const maxNamed = 50;
const maxReasonLength = 400;
const progressEvery = 100;

const help = `
Run it with the new version before it is rolled out, against the namespace that
it goes to. It needs Temporal only, changes nothing, and reads one history at a
time. Exit code 5: this build cannot go on with at least one open execution,
which would stand still until the version before is back
(docs/guides/versions.md). Those that are over are shown, and decide nothing.

Example:
  $ longhaul replay
  $ longhaul replay --query 'TaskQueue = "longhaul"' --closed 1000
`;

export function addReplayCommand(program: Command, context: CommandContext): void {
  program
    .command('replay')
    .description('Replays the histories of open tasks and batches, and of the newest ended ones, against this build.')
    .option('--query <filter>', 'only these, in Temporal’s list filter language')
    .option('--closed <count>', 'so many that are over, too', parseCount, defaultClosed)
    .option('--json', 'print one JSON object')
    .addHelpText('after', help)
    .action((options: ReplayCommandOptions) => replay(context, options));
}

async function replay(context: CommandContext, { query, closed, json }: ReplayCommandOptions): Promise<void> {
  const temporal = loadTemporalConnection(context.env);
  const { codecKeys } = loadClientConfig(context.env).config;
  const { createLogger } = await import('../worker/logger.js');
  const { closeRuntime, installRuntime } = await import('../worker/temporal-runtime.js');
  const { replayExecutions } = await import('../replay.js');
  // What the SDK says of a failed replay is printed below.
  installRuntime(createLogger({ level: 'fatal' }));
  const counts = { open: 0, closed: 0, failed: 0, closedFailed: 0 };
  const failures: (ReplayedExecution & { readonly failure: string })[] = [];
  const connection = await connectTemporal(temporal).catch(async (error: unknown) => {
    await closeRuntime();
    throw error;
  });
  try {
    const client = new Client({ connection, namespace: temporal.namespace });
    for await (const execution of replayExecutions({ client, closed, codecKeys, query })) {
      counts[execution.isOpen ? 'open' : 'closed'] += 1;
      if (execution.failure !== null) {
        counts[execution.isOpen ? 'failed' : 'closedFailed'] += 1;
        const failure = redact(boundedText(execution.failure, maxReasonLength));
        if (failures.length < maxNamed) failures.push({ ...execution, failure });
      }
      const replayed = counts.open + counts.closed;
      if (replayed % progressEvery === 0) {
        context.stderr.write(`${replayed} replayed, ${counts.failed} of them cannot go on\n`);
      }
    }
  } catch (error) {
    throw toClientError(error, { ...temporal, workflowId: '' });
  } finally {
    await connection.close();
    await closeRuntime();
  }
  const facts = { version: longhaulVersion, isOk: counts.failed === 0, ...counts, failures };
  print(context, json, facts, toText(counts, failures));
  if (counts.failed > 0) context.exitWith(exitCodes.needsPerson);
}

interface Counts {
  readonly open: number;
  readonly closed: number;
  /** Of those that are open: they alone decide. */
  readonly failed: number;
  readonly closedFailed: number;
}

function toText({ open, closed, failed, closedFailed }: Counts, failures: readonly ReplayedExecution[]): string {
  const lines = failures.map(({ workflowId, runId, isOpen, failure }) =>
    printableLine(`${workflowId} (${isOpen ? 'open' : 'over'}, run ${runId}): ${failure}`),
  );
  const more = failed + closedFailed - lines.length;
  if (more > 0) lines.push(`… and ${more} more`);
  const verdict =
    failed === 0
      ? 'it goes on with all that are open.'
      : `it cannot go on with ${failed} that are open: do not roll it out (docs/guides/versions.md).`;
  const past = closedFailed === 0 ? '' : ` ${closedFailed} that are over could not be replayed, which does no harm.`;
  const what = `Replayed ${open} open and ${closed} ended ones with longhaul ${longhaulVersion}`;
  return [...lines, `${what}: ${verdict}${past}\n`].join('\n');
}

function parseCount(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('give a whole number, such as 200.');
  return Number(text);
}
