import { Readable } from 'node:stream';
import type { Command } from 'commander';
import type { BatchHandle } from '../../client/batch/batch-handle';
import { LonghaulError } from '../../client/errors';
import type { ListedBatch } from '../../client/batch/list-batches';
import { rowsThatWait, stateWord } from '../../contract/batch/batch-facts';
import type { BatchProgress, BatchResult } from '../../contract/batch/batch-messages';
import { formatProblem, type Problem } from '../../contract/problem';
import { isCutOff } from '../../contract/task-advice';
import { ConfigError } from '../../config/environment';
import { formatCount, printableLine } from '../../core/text';
import { wallClock } from '../../core/time';
import { type CommandContext, print, withLonghaul } from '../command-context';
import { readCount } from '../shared-options';
import { formatClock, tableLines } from '../terminal';
import { endingWord } from './batch-report';

interface ListOptions {
  readonly running?: true;
  readonly limit: string;
  readonly json?: true;
}

/** How many rows are in which state; of a batch that is over, nothing runs or waits. */
type RowStates = Pick<BatchProgress, 'rows' | 'success' | 'failed' | 'canceled' | 'running'> &
  Pick<BatchResult, 'notStarted'>;

/** What `status` or the result say of a batch. */
interface BatchCounts {
  /** Null when neither a result nor a worker tells them. */
  readonly counts: RowStates | null;
  readonly ending?: BatchResult['ending'];
  readonly needPerson?: number;
  /** Of its rows, too. */
  readonly problem?: Problem | null;
}

export type ShownBatch = Omit<BatchCounts, 'problem'> & ListedBatch;

const defaultLimit = '20';
const asksAtOnce = 5;

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
      const count = readCount('--limit', limit);
      await withLonghaul(context, {}, async (longhaul) => {
        const withCounts = async (batch: ListedBatch): Promise<ShownBatch> => {
          return { ...batch, ...(await readCounts(longhaul.batch(batch.batchId), batch)) };
        };
        const listed = Readable.from(longhaul.listBatches({ running, limit: count }));
        const shown = listed.map(withCounts, { concurrency: asksAtOnce });
        const batches = (await shown.toArray()) as readonly ShownBatch[];
        print(context, json, { batches }, listText(batches, Date.now()));
      });
    });
}

/** By its result, or by a worker. A batch that cannot be read does not fail the list. @internal exported for tests */
export async function readCounts(
  batch: Pick<BatchHandle, 'status' | 'result'>,
  { isOver, execution, state }: Pick<ListedBatch, 'isOver' | 'execution' | 'state'>,
): Promise<BatchCounts> {
  try {
    // The status of a run that was refused is that of the run before.
    if (state === 'Refused') return { counts: null };
    if (execution === 'COMPLETED') {
      const { rows, success, failed, canceled, notStarted, ending } = await batch.result();
      return { counts: { rows, success, failed, canceled, notStarted, running: 0 }, ending };
    }
    const { progress, needPerson, problem } = await batch.status();
    if (progress === null) return { counts: null };
    const { rows, success, failed, canceled, running, waiting } = progress;
    // Tasks of a batch that was cut off run on.
    const isEnded = isOver && !isCutOff(execution);
    const counts = { rows, success, failed, canceled, notStarted: waiting, running: isEnded ? 0 : running };
    return isOver ? { counts } : { counts, needPerson, problem };
  } catch (error) {
    if (error instanceof LonghaulError || error instanceof ConfigError) return { counts: null };
    throw error;
  }
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
      shown(counts === null ? undefined : counts.running - rowsThatWait(counts, batch.needPerson)),
      shown(counts?.notStarted),
      batchId,
    ].map(printableLine);
  });
  const problems = batches.flatMap(({ workflowId, batchId, problem, state }) => [
    ...(problem === null ? [] : [printableLine(`${workflowId}: ${formatProblem(problem, nowMs)}`)]),
    ...(state === 'Refused'
      ? [
          `The last run of ${workflowId} was refused before it started a row: longhaul batch status ${batchId} says why.`,
        ]
      : []),
  ]);
  if (batches.some(({ counts, state, problem }) => counts === null && state !== 'Refused' && problem === null)) {
    problems.push('?: no worker answered, or the result cannot be read; longhaul batch status ID says more.');
  }
  return `${[...tableLines([header, ...rows]), ...problems].join('\n')}\n`;
}

/** Of a workflow that was cut off or has a problem: the last state that it reported. */
function stateText({ state, execution, problem, ending, counts, needPerson = 0 }: ShownBatch): string {
  const known = stateWord(state ?? execution.toLowerCase(), counts?.running ?? 0, needPerson);
  if (problem !== null) return problem.code === 'NeedsPerson' ? known : `${known} (${problem.code})`;
  if (state === 'Refused') return state;
  const result = counts === null || ending === undefined ? undefined : { ...counts, ending };
  return endingWord(execution, result) ?? (isCutOff(execution) ? `${known} (${execution.toLowerCase()})` : known);
}
