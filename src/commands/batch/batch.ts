import type { Command } from 'commander';
import type { BatchHandle } from '../../client/batch/batch-handle';
import { InputInvalidError, LonghaulError, TaskOverError, UnknownTaskError } from '../../client/errors';
import type { Longhaul } from '../../client/longhaul';
import { budgetRemedy, maxConcurrency, parseBudget } from '../../contract/batch/batch-input';
import { repairCommands } from '../../contract/batch/batch-repairs';
import { formatCount, printableLine } from '../../core/text';
import { type CommandContext, print, withLonghaul } from '../command-context';
import { detachedAnyway, readCount } from '../shared-options';
import { addBatchListCommand } from './batch-list';
import { addBatchReportCommand } from './batch-report';
import { addBatchResultsCommand } from './batch-results';
import { addBatchRunCommand, runBatch } from './batch-run';
import { batchIdArgument } from './batch-settings';
import { addBatchStatusCommand } from './batch-status';
import { createEventEmitter, followBatchToTheEnd } from './follow-batch';
import { readCommand } from './remembered-command';

export function addBatchCommand(program: Command, context: CommandContext): void {
  const batch = program
    .command('batch')
    .description('Runs every row of a file as a task, and controls batches that run.')
    .addHelpText('after', '\nExample:\n  $ longhaul batch run photos.jsonl\n');
  addBatchRunCommand(batch, context);
  addBatchStatusCommand(batch, context);
  for (const verb of verbs) addBatchVerb(batch, context, verb);
  addBatchStopCommand(batch, context);
  addBatchReportCommand(batch, context);
  addBatchResultsCommand(batch, context);
  addBatchListCommand(batch, context);
}

interface BatchVerb {
  readonly verb: string;
  readonly summary: string;
  readonly description: string;
  /** In the example, after the id. */
  readonly more?: string;
  readonly argument?: readonly [name: string, description: string];
  readonly option?: readonly [flags: string, description: string];
  /** What it does not wait for. */
  readonly goesOn?: string;
  /** For a batch that is over; false where nothing is known of it. */
  readonly over?: (context: CommandContext, id: string, json: true | undefined) => Promise<boolean>;
  /** Checks its argument before Temporal is asked; then resolves with the answer of the workflow. */
  readonly prepare: (text: string, options: { readonly unpaid?: true }) => (batch: BatchHandle) => Promise<string>;
}

const verbs: readonly BatchVerb[] = [
  {
    verb: 'pause',
    summary: 'start no more rows until resume',
    description: 'Starts no more rows until "resume". Those that run go on.',
    prepare: () => (batch) => batch.pause(),
  },
  {
    verb: 'resume',
    summary: 'start rows, or a batch, again',
    description:
      'Starts rows again, after "pause" or "drain". A batch that is over is run again, as "batch run" does, with the file and the options on record.',
    goesOn: 'do not follow it: "batch status --follow" does',
    prepare: () => (batch) => batch.resume(),
    over: runAgain,
  },
  {
    verb: 'drain',
    summary: 'end it after the rows that run',
    description: 'Starts no more rows; the batch ends when those that run have ended. Run it again for the rest.',
    goesOn: 'do not wait until it has ended: "batch status --follow" does',
    prepare: () => (batch) => batch.drain(),
  },
  {
    verb: 'retry',
    summary: 'start rows again that did not succeed',
    description:
      'Starts rows again that did not succeed: once every row had its turn, or, of a batch that is over, at once. They may be paid anew.',
    more: ' --unpaid',
    option: ['--unpaid', 'of a batch that is over, only rows that were refused before anything was paid'],
    goesOn: 'do not follow it: "batch status --follow" does',
    prepare:
      (_, { unpaid }) =>
      (batch) =>
        unpaid ? batch.retryUnpaid() : batch.retryFailed(),
  },
  {
    verb: 'set-concurrency',
    summary: 'say how many rows run at the same time',
    description: 'Says how many rows run at the same time from now on. Those that run already go on.',
    more: ' 50',
    argument: ['<rows>', `1 to ${maxConcurrency}`],
    prepare: (text) => {
      const rows = readCount('The number of rows', text, maxConcurrency);
      return (batch) => batch.setConcurrency(rows);
    },
  },
  {
    verb: 'set-budget',
    summary: 'say what the batch may cost',
    description: 'Says what the batch may cost from now on. One that waits for a larger budget goes on.',
    more: ' 30EUR',
    argument: ['<amount>', 'such as 30EUR; "none": no limit'],
    prepare: (text) => {
      const budget = text === 'none' ? null : text;
      if (budget === null || parseBudget(budget) !== undefined) return (batch) => batch.setBudget(budget);
      const problem = `The budget is ${JSON.stringify(text)}; give ${budgetRemedy(budget)}, or "none".`;
      throw new InputInvalidError([problem], 'batch');
    },
  },
];

function addBatchVerb(program: Command, context: CommandContext, one: BatchVerb): void {
  const { verb, summary, description, more = '', argument, option, goesOn, prepare, over } = one;
  const command = program.command(verb).summary(summary).description(description).addArgument(batchIdArgument());
  if (argument !== undefined) command.argument(...argument);
  if (option !== undefined) command.option(...option);
  command.option('--json', 'print one JSON object');
  if (goesOn !== undefined) command.addOption(detachedAnyway(goesOn));
  command.addHelpText('after', `\nExample:\n  $ longhaul batch ${verb} photos${more}\n`);
  command.action(async (id: string) => {
    const { json, ...options } = command.opts<{ json?: true; unpaid?: true }>();
    const ask = prepare(command.args[1] ?? '', options);
    try {
      await withLonghaul(context, {}, async (longhaul) => {
        const batch = longhaul.batch(id);
        const words = await ask(batch);
        const { workflowId } = batch;
        print(context, json, { workflowId, words }, `${workflowId}: ${printableLine(words)}\n`);
      });
    } catch (error) {
      const isOver = error instanceof TaskOverError || error instanceof UnknownTaskError;
      if (!isOver || (await over?.(context, id, json)) !== true) throw error;
    }
  });
}

async function runAgain(context: CommandContext, id: string, json: true | undefined): Promise<boolean> {
  const command = await readCommand(context, id);
  if (command === undefined) return false;
  const { files, options } = command;
  const first = options.indexOf('--first');
  if (first >= 0) {
    const whole = repairCommands(id, { source: null, files }).run;
    throw new InputInvalidError(
      [`The last run was with --first ${options[first + 1] ?? ''}; "${whole}" runs the whole file.`],
      'batch',
    );
  }
  await runBatch(context, files, { id, json, detach: true });
  return true;
}

function addBatchStopCommand(program: Command, context: CommandContext): void {
  program
    .command('stop')
    .summary('stop every row that runs, and the batch')
    .description(
      'Stops every row that runs, confirmed by the service, starts no more, and prints the table. Rows in CreateUncertain end undecided, as StopUnconfirmed: decide about them before ("longhaul list --batch ID --needs-person"), or settle them afterwards ("longhaul reconcile").',
    )
    .addArgument(batchIdArgument())
    .option('--detach', 'do not wait until it has ended')
    .option('--json', 'print one JSON object a line: what happens, and the result')
    .addHelpText('after', '\nExample:\n  $ longhaul batch stop photos\n')
    .action(async (id: string, { detach, json = false }: { detach?: true; json?: boolean }) => {
      await withLonghaul(context, {}, async (longhaul) => {
        const batch = longhaul.batch(id);
        const undecided = await countUndecided(longhaul, id);
        if (!(await batch.stop())) throw new TaskOverError(batch.workflowId);
        context.stderr.write(`Asked ${batch.workflowId} to stop.\n`);
        if (undecided > 0) {
          const rows = `${formatCount(undecided)}${undecided === maxUndecided ? ' or more' : ''} rows end`;
          context.stderr.write(
            `${undecided === 1 ? '1 row ends' : rows} undecided, as StopUnconfirmed: whether the service created the task is not known, and one that exists runs on and is paid.\n` +
              'Once the batch has ended, "longhaul reconcile" lists them, with the commands that settle them.\n',
          );
        }
        const emit = createEventEmitter(context.stdout, json);
        emit('asked', { workflowId: batch.workflowId, verb: 'stop' });
        if (detach !== true) await followBatchToTheEnd(context, batch, { emit, isJson: json });
      });
    });
}

const maxUndecided = 1_000;

/** Rows whose create is uncertain. A failed count must not keep the batch from being stopped. */
async function countUndecided(longhaul: Longhaul, id: string): Promise<number> {
  const ids: string[] = [];
  try {
    const waiting = { batch: id, status: 'CreateUncertain', running: true, limit: maxUndecided } as const;
    for await (const { workflowId } of longhaul.list(waiting)) ids.push(workflowId);
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
  }
  return ids.length;
}
