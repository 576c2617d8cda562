import type { Command } from 'commander';
import { type InstalledSweep, isSweepInterval, type SweepStatus } from '../client/sweeps';
import type { SweepInput, SweepResult, UnfollowedPolicy } from '../contract/sweep';
import { InputInvalidError } from '../client/errors';
import { printableLine } from '../core/text';
import { formatDuration, formatMoment, parseDuration } from '../core/time';
import {
  type CommandContext,
  type ConnectionOptions,
  print,
  warnOfMissingWorkers,
  withLonghaul,
} from './command-context';
import { exitCodes } from './exit-code';
import { taskQueueOption, wholeNumber } from './shared-options';

interface PlanOptions extends ConnectionOptions {
  readonly window?: string;
  readonly verify?: true;
  readonly rearchive?: true;
  readonly unfollowed?: string;
  readonly json?: true;
}

const help = `
A sweep compares Temporal, the archive and the service as "longhaul reconcile"
does, in a worker, and tells what is not safe: in the metric longhaul_not_safe
of every worker, in the log of one, in a report in the archive (.sweeps/) and on
its page in the Web UI. It changes nothing unless --rearchive or --unfollowed
has it do so, and creates nothing in any case.

Exit code of "status" and "run": 0 when all is safe, else 5; of "status" 6 when
no sweep runs by itself, or none has ended as it should.

Examples:
  $ longhaul sweep install --every 1h
  $ longhaul sweep install --every 1h --rearchive --unfollowed adopt
  $ longhaul sweep status
`;

export function addSweepCommand(program: Command, context: CommandContext): void {
  const sweep = program
    .command('sweep')
    .description('Has workers look on a schedule for what was paid for and is not safe.')
    .addHelpText('after', help);
  const install = sweep
    .command('install')
    .description('Has a sweep run every so often, from now on; changes one that is there.')
    .addOption(taskQueueOption())
    .option('--every <duration>', 'five minutes to thirty days', '1h');
  withPlan(install).action(async (options: PlanOptions & { readonly every: string }) => {
    const everyMs = readInterval(options.every);
    await withLonghaul(context, options, async ({ sweeps }) => {
      await sweeps.install(everyMs, readPlan(options));
      context.stdout.write(`A sweep runs every ${formatDuration(everyMs)}, and now. See "longhaul sweep status".\n`);
      await warnOfMissingWorkers(context, [options.taskQueue]);
    });
  });

  sweep
    .command('status')
    .description('Shows when sweeps run, and what the last one found.')
    .option('--json', 'print one JSON object')
    .addOption(taskQueueOption())
    .action(async (options: PlanOptions) => {
      await withLonghaul(context, options, async ({ sweeps }) => {
        const status = await sweeps.status();
        print(context, options.json, status, statusText(status));
        // A sweep counts as running from its start on, whether or not a worker takes it.
        if (status.installed !== null) await warnOfMissingWorkers(context, [options.taskQueue]);
        if (status.last !== null && isUnsafe(status.last)) context.exitWith(exitCodes.needsPerson);
        else if (!isWatched(status)) context.exitWith(exitCodes.temporalNotReady);
      });
    });

  const run = sweep
    .command('run')
    .description('Sweeps once, now: as the schedule would, unless options say otherwise.')
    .option('--json', 'print one JSON object')
    .addOption(taskQueueOption());
  withPlan(run).action(async (options: PlanOptions) => {
    await withLonghaul(context, options, async ({ sweeps }) => {
      context.stderr.write('A worker sweeps …\n');
      await warnOfMissingWorkers(context, [options.taskQueue]);
      const result = await sweeps.run(readPlan(options));
      print(context, options.json, result, resultText(result));
      if (isUnsafe(result)) context.exitWith(exitCodes.needsPerson);
    });
  });

  sweep
    .command('remove')
    .description('Ends the schedule.')
    .addOption(taskQueueOption())
    .action(async (options: ConnectionOptions) => {
      await withLonghaul(context, options, async ({ sweeps }) => {
        const wasThere = await sweeps.remove();
        context.stdout.write(wasThere ? 'No sweep runs by itself any more.\n' : 'No sweep was installed.\n');
      });
    });
}

function withPlan(command: Command): Command {
  return command
    .option('--window <days>', 'leave out what began or was archived before (default: 30)')
    .option('--verify', 'also hash every archived file, which reads all of them')
    .option('--rearchive', 'archive again what is not archived, or damaged')
    .option(
      '--unfollowed <policy>',
      'a task that runs and no workflow follows: report, adopt or stop (default: report)',
    );
}

function readInterval(text: string): number {
  const everyMs = parseDuration(text);
  if (isSweepInterval(everyMs)) return everyMs;
  throw new InputInvalidError([`--every is ${JSON.stringify(text)}; give 5m to 30d, such as 1h.`], 'sweep');
}

/** Undefined when no option was given. */
function readPlan({ window, verify, rearchive, unfollowed }: PlanOptions): SweepInput | undefined {
  const windowDays = window === undefined ? undefined : wholeNumber(window);
  // Checked with the rest of the input.
  const input = { windowDays, verify, rearchive, unfollowed: unfollowed as UnfollowedPolicy | undefined };
  return Object.values(input).every((value) => value === undefined) ? undefined : input;
}

function isUnsafe({ unsafe }: SweepResult): boolean {
  return Object.values(unsafe).some((count) => count > 0);
}

/** Whether sweeps run by themselves and end in time: else nothing says that all is safe. */
function isWatched({ installed, newest, last }: SweepStatus): boolean {
  if (installed === null || installed.problems.length > 0 || installed.everyMs === null || installed.isPaused)
    return false;
  const isLate = installed.dueAt !== null && Date.parse(installed.dueAt) < Date.now();
  const hasFailed = newest !== null && newest.execution !== 'COMPLETED' && newest.execution !== 'RUNNING';
  return last !== null && !isLate && !hasFailed;
}

function statusText({ installed, newest, newestUrl, last }: SweepStatus): string {
  const where = newestUrl === null ? '' : `: ${newestUrl}`;
  return [
    installed === null ? 'No sweep is installed: longhaul sweep install --every 1h' : installedText(installed),
    ...(newest === null || newest.execution === 'COMPLETED'
      ? []
      : [`The newest one, ${newest.workflowId}, is ${newest.execution.toLowerCase()}${where}`]),
    ...(last === null ? ['None has ended yet.', ''] : ['', resultText(last)]),
  ].join('\n');
}

function installedText({ everyMs, plan, problems, isPaused, nextAt }: InstalledSweep): string {
  if (problems.length > 0) {
    const words = problems.map((problem) => `  - ${printableLine(problem)}`).join('\n');
    return `The Schedule's input was changed by hand, and no sweep can begin; run "longhaul sweep install" again:\n${words}`;
  }
  if (everyMs === null) return 'The Schedule in Temporal starts no sweep any more; run "longhaul sweep install" again.';
  const comes = nextAt === null ? '' : `; the next one at ${formatMoment(nextAt)}`;
  const next = isPaused ? '; it is paused in Temporal' : comes;
  const { windowDays, verify, rearchive, unfollowed } = plan;
  const parts = [`of the last ${windowDays} days`];
  if (verify) parts.push('hashing every file');
  if (rearchive) parts.push('archiving again');
  if (unfollowed !== 'report') parts.push(`--unfollowed ${unfollowed}`);
  return `A sweep runs every ${formatDuration(everyMs)} (${parts.join(', ')})${next}.`;
}

function resultText({ endedAt, handled, report, text }: SweepResult): string {
  const care = handled === 0 ? '' : `Taken care of by it: ${handled}.\n`;
  return `The last sweep ended at ${formatMoment(endedAt)}.\n${text}${care}Report: ${report}\n`;
}
