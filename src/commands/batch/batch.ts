import type { Command } from 'commander';
import type { BatchHandle } from '../../client/batch/batch-handle';
import { InputInvalidError, LonghaulError } from '../../client/errors';
import type { Longhaul } from '../../client/longhaul';
import { budgetRemedy, isConcurrency, maxConcurrency, parseBudget } from '../../contract/batch/batch-input';
import { formatCount, printableLine } from '../../core/text';
import { type CommandContext, printJson, withLonghaul } from '../command-context';
import { detachedAnyway, wholeNumber } from '../shared-options';
import { addBatchRunCommand } from './batch-run';
import { batchIdArgument } from './batch-settings';
import { addBatchListCommand } from './batch-list';
import { addBatchResultsCommand } from './batch-results';
import { addBatchReportCommand, addBatchStatusCommand } from './batch-status';
import { createEventEmitter, followBatchToTheEnd } from './follow-batch';

/** `longhaul batch …`: a file of rows, each a task. */
export function addBatchCommand(program: Command, context: CommandContext): void {
  const batch = program
    .command('batch')
    .description('Runs every row of a file as a task, and controls batches that run.')
    .addHelpText('after', '\nExample:\n  $ longhaul batch run photos.jsonl\n');
  addBatchRunCommand(batch, context);
  addBatchStatusCommand(batch, context);
  addBatchVerbs(batch, context);
  addRetryCommand(batch, context);
  addSetConcurrencyCommand(batch, context);
  addSetBudgetCommand(batch, context);
  addBatchStopCommand(batch, context);
  addBatchReportCommand(batch, context);
  addBatchResultsCommand(batch, context);
  addBatchListCommand(batch, context);
}

/** A command to a running batch; `ask` resolves with the answer of its workflow. */
interface BatchVerb {
  readonly verb: string;
  readonly summary: string;
  readonly description: string;
  readonly ask: (batch: BatchHandle) => Promise<string>;
  /** What it does not wait for, where that takes a while. */
  readonly goesOn?: string;
}

const verbs: readonly BatchVerb[] = [
  {
    verb: 'pause',
    summary: 'start no more rows until resume',
    description: 'Starts no more rows until "resume". Those that run go on.',
    ask: (batch) => batch.pause(),
  },
  {
    verb: 'resume',
    summary: 'start rows again, after pause or drain',
    description: 'Starts rows again, after "pause" or "drain".',
    ask: (batch) => batch.resume(),
  },
  {
    verb: 'drain',
    summary: 'end it after the rows that run',
    description: 'Starts no more rows; the batch ends when those that run have ended. Run it again for the rest.',
    ask: (batch) => batch.drain(),
    goesOn: 'do not wait until it has ended',
  },
];

/** `longhaul batch pause|resume|drain ID`. */
function addBatchVerbs(program: Command, context: CommandContext): void {
  for (const { verb, summary, description, ask, goesOn } of verbs) {
    const command = program
      .command(verb)
      .summary(summary)
      .description(description)
      .addArgument(batchIdArgument())
      .option('--json', 'print one JSON object')
      .addHelpText('after', `\nExample:\n  $ longhaul batch ${verb} photos\n`)
      .action((id: string, { json }: { json?: true }) => askBatch(context, id, ask, json ?? false));
    if (goesOn !== undefined) {
      command.addOption(detachedAnyway(`${goesOn}: "batch status --follow" does`));
    }
  }
}

/** `longhaul batch retry ID`. */
function addRetryCommand(program: Command, context: CommandContext): void {
  program
    .command('retry')
    .summary('start rows again that did not succeed')
    .description(
      'Starts rows again that did not succeed: once every row had its turn, or, of a batch that is over, at once. They may be paid anew.',
    )
    .addArgument(batchIdArgument())
    .option('--unpaid', 'of a batch that is over, only rows that were refused before anything was paid')
    .option('--json', 'print one JSON object')
    .addOption(detachedAnyway('do not follow it: "batch status --follow" does'))
    .addHelpText('after', '\nExample:\n  $ longhaul batch retry photos --unpaid\n')
    .action((id: string, { unpaid, json }: { unpaid?: true; json?: true }) =>
      askBatch(context, id, (batch) => (unpaid ? batch.retryUnpaid() : batch.retryFailed()), json ?? false),
    );
}

/** `longhaul batch set-concurrency ID ROWS`. */
function addSetConcurrencyCommand(program: Command, context: CommandContext): void {
  program
    .command('set-concurrency')
    .summary('say how many rows run at the same time')
    .description('Says how many rows run at the same time from now on. Those that run already go on.')
    .addArgument(batchIdArgument())
    .argument('<rows>', `1 to ${maxConcurrency}`)
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul batch set-concurrency photos 50\n')
    .action((id: string, text: string, { json }: { json?: true }) => {
      const rows = wholeNumber(text);
      if (!isConcurrency(rows)) {
        const problem = `The number of rows is ${JSON.stringify(text)}; give a whole number from 1 to ${maxConcurrency}.`;
        throw new InputInvalidError([problem], 'batch');
      }
      return askBatch(context, id, (batch) => batch.setConcurrency(rows), json ?? false);
    });
}

/** `longhaul batch set-budget ID AMOUNT`. */
function addSetBudgetCommand(program: Command, context: CommandContext): void {
  program
    .command('set-budget')
    .summary('say what the batch may cost')
    .description('Says what the batch may cost from now on. One that waits for a larger budget goes on.')
    .addArgument(batchIdArgument())
    .argument('<amount>', 'such as 30EUR; "none": no limit')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul batch set-budget photos 30EUR\n')
    .action((id: string, text: string, { json }: { json?: true }) => {
      const budget = text === 'none' ? null : text;
      if (budget !== null && parseBudget(budget) === undefined) {
        const problem = `The budget is ${JSON.stringify(text)}; give ${budgetRemedy(budget)}, or "none".`;
        throw new InputInvalidError([problem], 'batch');
      }
      return askBatch(context, id, (batch) => batch.setBudget(budget), json ?? false);
    });
}

/** `longhaul batch stop ID`: ends every row that runs, confirmed by the service. */
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
        const undecided = await countUndecided(longhaul, batch);
        await batch.stop();
        context.stderr.write(`Asked ${batch.workflowId} to stop.\n`);
        if (undecided > 0) {
          const many = `${formatCount(undecided)}${undecided === mostUndecided ? ' or more' : ''} rows end`;
          context.stderr.write(
            `${undecided === 1 ? '1 row ends' : many} undecided, as StopUnconfirmed: whether the service created the task is not known, and one that exists runs on and is paid.\n` +
              'Once the batch has ended, "longhaul reconcile" lists them, with the commands that settle them.\n',
          );
        }
        const emit = createEventEmitter(context.stdout, json);
        emit('asked', { workflowId: batch.workflowId, verb: 'stop' });
        if (detach !== true) await followBatchToTheEnd(context, batch, { emit, isJson: json });
      });
    });
}

/** Its rows of which it is not known whether the service created the task; more than these are not counted. */
const mostUndecided = 1_000;

/** What keeps them from being counted must not keep the batch from being stopped. */
async function countUndecided(longhaul: Longhaul, { id }: BatchHandle): Promise<number> {
  const ids: string[] = [];
  try {
    const waiting = { batch: id, status: 'CreateUncertain', running: true, limit: mostUndecided } as const;
    for await (const { workflowId } of longhaul.list(waiting)) ids.push(workflowId);
  } catch (error) {
    if (!(error instanceof LonghaulError)) throw error;
  }
  return ids.length;
}

async function askBatch(
  context: CommandContext,
  id: string,
  ask: (batch: BatchHandle) => Promise<string>,
  isJson: boolean,
): Promise<void> {
  await withLonghaul(context, {}, async (longhaul) => {
    const batch = longhaul.batch(id);
    const words = await ask(batch);
    if (isJson) printJson(context, { workflowId: batch.workflowId, words });
    else context.stdout.write(`${batch.workflowId}: ${printableLine(words)}\n`);
  });
}
