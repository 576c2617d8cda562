import type { Command } from 'commander';
import { askForOtherArchive } from '../client/archive-of-tasks';
import { diagnose, type Finding } from '../client/diagnose';
import { loadClientConfig, type StagingConfig } from '../config/client-config';
import { ConfigError } from '../config/environment';
import { loadTemporalConnection, type TemporalConnection } from '../config/temporal-connection';
import { loadWorkerConfig } from '../config/worker-config';
import { workflowTaskQueue } from '../contract/task-queues';
import { errorMessage, printableLine } from '../core/text';
import { type CommandContext, type ConnectionOptions, print } from './command-context';
import { exitCodes } from './exit-code';
import { taskQueueOption } from './shared-options';

interface DoctorOptions extends ConnectionOptions {
  readonly fix?: boolean;
  readonly setup?: boolean;
  readonly json?: true;
}

const help = `
What a worker needs (service, keys, storage, archive, input roots) is checked
where LONGHAUL_SERVICE_URL or LONGHAUL_ACCOUNTS_FILE is set: run it there with
the worker's environment. It creates no task and uploads nothing.

--setup is for a step before the first worker starts: it registers missing
search attributes, has a sweep run every hour where none is scheduled, and
checks nothing that needs workers.

Examples:
  $ longhaul doctor
  $ longhaul doctor --setup
`;

export function addDoctorCommand(program: Command, context: CommandContext): void {
  program
    .command('doctor')
    .description(
      'Checks Temporal, its search attributes, the workers, the service and the storage, and says what to do.',
    )
    .option('--fix', 'check everything, and register missing search attributes')
    .option(
      '--setup',
      'check only what the first worker needs of Temporal; register search attributes and an hourly sweep if missing',
    )
    .option('--json', 'print one JSON object')
    .addOption(taskQueueOption())
    .addHelpText('after', help)
    .action(async ({ fix = false, setup = false, json, taskQueue = workflowTaskQueue }: DoctorOptions) => {
      const temporal = loadTemporalConnection(context.env);
      const { config, warnings } = loadClientConfig(context.env);
      const warned = new Set<string>();
      const warn = (warning: string): void => {
        // Client and worker read some of the same variables.
        if (!warned.has(warning)) context.stderr.write(`warning: ${warning}\n`);
        warned.add(warning);
      };
      warnings.forEach(warn);
      const own =
        setup || !hasWorkerSettings(context.env) ? [] : await workerSide(context.env, temporal, taskQueue, warn);
      const staging = setup || config.staging === null ? [] : [await stagingSide(config.staging)];
      const temporalSide = await diagnose({ temporal, taskQueue, fix: fix || setup, setupOnly: setup });
      // Of a clock that is wrong it is said once: by Temporal’s.
      const isClockWrong = temporalSide.some(({ check, isOk }) => check === 'Clock' && !isOk);
      const findings = [...temporalSide, ...own.filter(({ check }) => check !== 'Clock' || !isClockWrong), ...staging];
      const facts = { isOk: findings.every(({ isOk }) => isOk), findings };
      print(context, json, facts, findings.map(findingText).join(''));
      if (!setup && !hasWorkerSettings(context.env)) context.stderr.write(notChecked);
      if (!facts.isOk) context.exitWith(exitCodes.temporalNotReady);
    });
}

const notChecked =
  'Not checked: service, storage, archive and input roots, since neither LONGHAUL_SERVICE_URL nor LONGHAUL_ACCOUNTS_FILE is set here.\n';

/** A machine that only starts tasks has no access to the service, which is not checked there. */
function hasWorkerSettings(env: NodeJS.ProcessEnv): boolean {
  return [env['LONGHAUL_SERVICE_URL'], env['LONGHAUL_ACCOUNTS_FILE']].some((value) => value);
}

async function stagingSide(place: StagingConfig): Promise<Finding> {
  const { withStaging } = await import('./storage-access.js');
  const check = 'Staging';
  try {
    return await withStaging(place, async (staging) => {
      await staging.check();
      return { check, isOk: true, found: `${staging.location} can be read`, remedy: null };
    });
  } catch (error) {
    const remedy = 'Correct LONGHAUL_STAGING and AWS_*; files of commands on this machine are put there.';
    const found = error instanceof ConfigError ? error.problems.join(' ') : errorMessage(error);
    return { check, isOk: false, found, remedy };
  }
}

/** `warn` gets what a worker would log of its configuration. */
async function workerSide(
  env: NodeJS.ProcessEnv,
  temporal: TemporalConnection,
  taskQueue: string,
  warn: (warning: string) => void,
): Promise<Finding[]> {
  try {
    const { config, warnings } = loadWorkerConfig(env);
    warnings.forEach(warn);
    const { diagnoseWorkerSide } = await import('./worker-diagnosis.js');
    return await diagnoseWorkerSide(config, (archive) =>
      // Where Temporal does not answer, other findings say so.
      askForOtherArchive(temporal, taskQueue, archive).catch(() => undefined),
    );
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const remedy = 'Correct the environment (docs/reference/configuration.md).';
    return [{ check: 'Worker’s configuration', isOk: false, found: error.problems.join(' '), remedy }];
  }
}

function findingText({ check, isOk, found, remedy }: Finding): string {
  const advice = remedy === null ? '' : `\n     ${remedy}`;
  return `${isOk ? 'ok  ' : 'FAIL'} ${printableLine(`${check}: ${found}`)}${advice}\n`;
}
