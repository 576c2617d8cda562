import { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { BatchHandle } from '../../client/batch/batch-handle';
import { InputInvalidError, LonghaulError } from '../../client/errors';
import type { ListedBatch } from '../../client/batch/list-batches';
import type { BatchProgress, BatchResult } from '../../contract/batch/batch-messages';
import { isCutOff } from '../../contract/task-advice';
import { ConfigError } from '../../config/environment';
import { formatCount, printableLine } from '../../core/text';
import { wallClock } from '../../core/time';
import { type CommandContext, printJson, withLonghaul } from '../command-context';
import { wholeNumber } from '../shared-options';
import { formatClock, tableLines } from '../terminal';
import { endingWord } from './batch-report';

interface ListOptions {
  readonly running?: true;
  readonly limit: string;
  readonly json?: true;
}

/** How many rows are in which state; of one that is over, nothing runs or waits. */
type RowStates = Pick<BatchProgress, 'rows' | 'success' | 'failed' | 'canceled' | 'running' | 'waiting'> &
  Pick<BatchResult, 'notStarted'>;

/** A batch and its rows; null when neither a result nor a worker tells. */
export type ShownBatch = ListedBatch & { readonly counts: RowStates | null; readonly ending?: BatchResult['ending'] };

const defaultLimit = '20';
const asksAtOnce = 5;

/** `longhaul batch list`: the batches of this namespace. */
export function addBatchListCommand(program: Command, context: CommandContext): void {
  program
    .command('list')
    .summary('list batches, those that run first')
    .description('Lists batches with their rows, those that run first, as long as Temporal’s namespace keeps them.')
    .option('--running', 'only those that are not over')
    .option('--limit <count>', 'at most this many', defaultLimit)
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul batch list --running\n')
    .action(async ({ running, limit, json }: ListOptions) => {
      const count = wholeNumber(limit);
      if (!Number.isSafeInteger(count) || count < 1) {
        throw new InputInvalidError([`--limit is ${JSON.stringify(limit)}; give a whole number from 1 on.`], 'batch');
      }
      await withLonghaul(context, {}, async (longhaul) => {
        const withCounts = async (batch: ListedBatch): Promise<ShownBatch> => {
          return { ...batch, ...(await readCounts(longhaul.batch(batch.batchId), batch)) };
        };
        const listed = Readable.from(longhaul.listBatches({ running, limit: count }));
        const shown = listed.map(withCounts, { concurrency: asksAtOnce });
        const batches = (await shown.toArray()) as readonly ShownBatch[];
        if (json) printJson(context, { batches });
        else context.stdout.write(listText(batches, Date.now()));
      });
    });
}

/**
 * Of its result, or of a worker, as `batch status` has it. A batch that cannot be read does not fail the list.
 *
 * @internal exported for tests
 */
export async function readCounts(
  batch: Pick<BatchHandle, 'status' | 'result'>,
  { isOver, execution, state }: Pick<ListedBatch, 'isOver' | 'execution' | 'state'>,
): Promise<Pick<ShownBatch, 'counts' | 'ending'>> {
  try {
    if (!isOver) return { counts: toStates((await batch.status()).progress) };
    // Its status is that of the run before.
    if (state === 'Refused') return { counts: null };
    if (execution !== 'COMPLETED') {
      const counts = toStates((await batch.status()).progress);
      return { counts: counts && (isCutOff(execution) ? counts : { ...counts, running: 0, waiting: 0 }) };
    }
    const { rows, success, failed, canceled, notStarted, ending } = await batch.result();
    return { counts: { rows, success, failed, canceled, notStarted, running: 0, waiting: 0 }, ending };
  } catch (error) {
    if (error instanceof LonghaulError || error instanceof ConfigError) return { counts: null };
    throw error;
  }
}

function toStates(progress: BatchProgress | null): RowStates | null {
  if (progress === null) return null;
  const { rows, success, failed, canceled, running, waiting } = progress;
  return { rows, success, failed, canceled, running, waiting, notStarted: waiting };
}

/** @internal exported for tests */
export function listText(batches: readonly ShownBatch[], nowMs: number): string {
  // prettier-ignore
  const header = [
    'STATE', 'STARTED (UTC)', 'AGE', 'TOOK', 'ROWS', 'SUCCEEDED', 'FAILED', 'CANCELED', 'RUNNING', 'NOT STARTED', 'BATCH',
  ];
  const rows = batches.map((batch) => {
    const { batchId, counts, startedAt, endedAt } = batch;
    const startedMs = Date.parse(startedAt);
    // A run that was refused has started no row.
    const unknown = batch.state === 'Refused' ? '-' : '?';
    const shown = (count: number | undefined): string => (count === undefined ? unknown : formatCount(count));
    return [
      stateText(batch),
      wallClock(startedAt),
      formatClock(nowMs - startedMs),
      formatClock((endedAt === null ? nowMs : Date.parse(endedAt)) - startedMs),
      shown(counts?.rows),
      shown(counts?.success),
      shown(counts?.failed),
      shown(counts?.canceled),
      shown(counts?.running),
      shown(counts?.notStarted),
      batchId,
    ].map(printableLine);
  });
  const problems: string[] = [];
  let isUnanswered = false;
  for (const { workflowId, batchId, counts, stuck, state } of batches) {
    if (stuck !== null) problems.push(`${workflowId} is stuck. ${stuck.message}`);
    if (state === 'Refused') {
      const where = `longhaul batch status ${batchId} says why`;
      problems.push(`The last run of ${workflowId} was refused before it started a row: ${where}.`);
    }
    isUnanswered ||= counts === null && state !== 'Refused' && stuck === null;
  }
  if (isUnanswered)
    problems.push('?: no worker answered, or the result cannot be read; longhaul batch status ID says more.');
  return `${[...tableLines([header, ...rows]), ...problems].join('\n')}\n`;
}

/** The state of a workflow that was cut off or is stuck is the last that it reported. */
function stateText({ state, execution, stuck, ending }: ShownBatch): string {
  const known = state ?? execution.toLowerCase();
  if (stuck !== null) return `${known} (stuck)`;
  if (state === 'Refused') return state;
  return endingWord(execution, ending) ?? (isCutOff(execution) ? `${known} (${execution.toLowerCase()})` : known);
}
