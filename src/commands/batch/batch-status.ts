import type { Command } from 'commander';
import type { BatchHandle } from '../../client/batch/batch-handle';
import type { BatchView } from '../../client/batch/batch-view';
import { LonghaulError } from '../../client/errors';
import { lastFailures, rowsThatWait, stateWord } from '../../contract/batch/batch-facts';
import type { BatchProgress, BatchResult } from '../../contract/batch/batch-messages';
import { mayExistUnfollowed } from '../../contract/failure-types';
import { formatProblem } from '../../contract/problem';
import { formatCount, formatCountOf, printableLine } from '../../core/text';
import { type CommandContext, printJson, withLonghaul } from '../command-context';
import { exitCodes } from '../exit-code';
import { fit, formatClock } from '../terminal';
import { terminalFacts } from './batch-display';
import { type Ending, endingWord } from './batch-report';
import { batchIdArgument } from './batch-settings';
import { createEventEmitter, followBatchToTheEnd } from './follow-batch';

export function addBatchStatusCommand(program: Command, context: CommandContext): void {
  program
    .command('status')
    .summary('show how far it is, or follow it')
    .description('Shows how far a batch is, what failed last, and when it will be over.')
    .addArgument(batchIdArgument())
    .option('--follow', 'stay until it ends and print the table, as "batch run" does')
    .option('--json', 'print one JSON object, or one a line with --follow')
    .addHelpText('after', '\nExample:\n  $ longhaul batch status photos --follow\n')
    .action(async (id: string, { follow, json = false }: { follow?: true; json?: boolean }) => {
      await withLonghaul(context, {}, async (longhaul) => {
        const batch = longhaul.batch(id);
        if (follow === true) {
          await followBatchToTheEnd(context, batch, { emit: createEventEmitter(context.stdout, json), isJson: json });
          return;
        }
        const view = await batch.status();
        const { problem, needPerson } = view;
        if (json) printJson(context, view);
        else {
          const ending = view.execution === 'COMPLETED' ? await resultOf(batch) : undefined;
          context.stdout.write(`${batchStatusText(view, Date.now(), ending)}\n`);
        }
        // Nothing starts the rows of a batch that was cut off.
        const isStopped = problem?.code === 'Stuck' || problem?.code === 'CutOff';
        if (isStopped || needPerson > 0) context.exitWith(exitCodes.needsPerson);
      });
    });
}

/** Undefined where the result cannot be read here. */
async function resultOf(batch: BatchHandle): Promise<BatchResult | undefined> {
  try {
    return await batch.result();
  } catch (error) {
    if (error instanceof LonghaulError) return undefined;
    throw error;
  }
}

/** @internal exported for tests */
export function batchStatusText(view: BatchView, nowMs: number, ending?: Ending): string {
  const { workflowId, isOver, execution, startedAt, endedAt, source, url, batchId, refused } = view;
  const { failure, progress, problem } = view;
  const elapsedMs = (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt);
  const hasTable = execution === 'COMPLETED' || execution === 'CANCELLED';
  const over = `${overWord(view, ending)}, over after ${formatClock(elapsedMs)}${hasTable ? `; see "longhaul batch report ${batchId}"` : ''}`;
  const facts = progress === null ? [] : terminalFacts({ ...view, progress }, nowMs);
  const all: readonly (readonly [string, string | null])[] = [
    ['state', isOver ? over : `${progress === null ? 'Runs' : stateOf(view, progress)} for ${formatClock(elapsedMs)}`],
    ['rows of', source],
    ['failure', failure && `${failure.type}: ${failure.message}`],
    ['refused', refused && `a later run${refused.at === null ? '' : ` (${refused.at})`}: ${refused.reason}`],
    ['problem', progress === null || isOver ? problem && formatProblem(problem, nowMs) : null],
    ...facts.map(({ name, value }) => [name.toLowerCase(), value] as const),
    ['next', isOver ? nextText(view) : null],
    ['page', url],
  ];
  const lines = all.flatMap(([name, words]) => (words === null ? [] : [`  ${name.padEnd(14)}${words}`]));
  return [workflowId, ...lines, ...failureLines(view)].map((line) => fit(line, Infinity)).join('\n');
}

/** What is left to do for a batch that ended and left tasks that nothing follows. */
function nextText({ progress }: BatchView): string | null {
  const failures = progress?.report?.failures ?? progress?.failures ?? {};
  const unfollowed = mayExistUnfollowed.reduce((sum, type) => sum + (failures[type] ?? 0), 0);
  if (unfollowed === 0) return null;
  return `longhaul reconcile: of ${formatCountOf(unfollowed, 'row')} the service may have the task, which is paid then, and nothing follows it`;
}

function stateOf({ needPerson }: BatchView, progress: BatchProgress): string {
  return stateWord(progress.state, progress.running, rowsThatWait(progress, needPerson));
}

/** `Refused`: it failed before it started a row. */
function overWord({ execution, failure, progress }: BatchView, ending?: Ending): string {
  if (failure !== null && progress?.state === 'Opening') return 'Refused';
  return endingWord(execution, ending) ?? `Cut off (${execution.toLowerCase()})`;
}

function failureLines({ progress, batchId, isOver }: BatchView): string[] {
  if (progress === null) return [];
  const lines = lastFailures(progress, printableLine).map((line) => `  failed: ${line}`);
  const more = progress.failed - new Set(progress.lastFailures.map(({ key }) => key)).size;
  if (lines.length === 0 || more <= 0) return lines;
  const how = isOver ? `batch report ${batchId}` : `list --batch ${batchId} --status Failed`;
  return [...lines, `  and ${formatCount(more)} more that failed: longhaul ${how}`];
}
