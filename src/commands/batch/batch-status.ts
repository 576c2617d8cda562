import type { Command } from 'commander';
import type { BatchHandle } from '../../client/batch/batch-handle';
import type { BatchView } from '../../client/batch/batch-view';
import { DecisionRefusedError, InputInvalidError, LonghaulError, noWorkerRemedy } from '../../client/errors';
import { overloadWords } from '../../client/workflow-info';
import { mayExistUnfollowed } from '../../contract/failure-types';
import { isCutOff } from '../../contract/task-advice';
import type { BatchProgress, BatchResult } from '../../contract/batch/batch-messages';
import { formatBudget } from '../../money/batch-budget';
import { formatRowPlace, shownKey } from '../../core/batch/row-place';
import { formatMoney } from '../../money/money';
import { mostFrequent } from '../../core/batch/batch-pace';
import { formatCount, formatCountOf, printableLine } from '../../core/text';
import { formatMoment } from '../../core/time';
import { type CommandContext, printJson, withLonghaul } from '../command-context';
import { exitCodes } from '../exit-code';
import { fit, formatClock } from '../terminal';
import { createEventEmitter, followBatchToTheEnd, printReport } from './follow-batch';
import { batchIdArgument } from './batch-settings';
import { barLine, countsLine, heldUpText, paceLine, findProblem, formatUploads, statesLine } from './batch-display';
import { batchExitCode, endingWord, writeReportPage, writeReportTable } from './batch-report';

/** `longhaul batch status ID`: how far a batch is; `--follow` stays until it ends. */
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
        const { stuck, execution, needPerson } = view;
        if (json) printJson(context, view);
        else {
          const ending = execution === 'COMPLETED' ? await endingOf(batch) : undefined;
          context.stdout.write(`${batchStatusText(view, Date.now(), ending)}\n`);
        }
        // Of one that was cut off, nothing starts the rows any more.
        if (stuck !== null || isCutOff(execution) || needPerson > 0) context.exitWith(exitCodes.needsPerson);
      });
    });
}

/** Undefined where the result cannot be read here. */
async function endingOf(batch: BatchHandle): Promise<BatchResult['ending'] | undefined> {
  try {
    return (await batch.result()).ending;
  } catch (error) {
    if (error instanceof LonghaulError) return undefined;
    throw error;
  }
}

/** `longhaul batch report ID`: the table of a batch that is over. */
export function addBatchReportCommand(program: Command, context: CommandContext): void {
  program
    .command('report')
    .summary('print the table of a batch that is over')
    .description('Prints the table of a batch that is over, for as long as Temporal’s namespace keeps it.')
    .addArgument(batchIdArgument())
    .option('--html <file>', 'instead write a page for a browser, from the archive alone')
    .option('--csv <file>', 'instead fetch results.csv, from the archive alone')
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul batch report photos --html photos.html\n')
    .action(async (id: string, { json = false, html, csv }: { html?: string; csv?: string; json?: boolean }) => {
      if (html !== undefined && csv !== undefined) {
        throw new InputInvalidError(['--html and --csv exclude each other; give one at a time.'], 'batch');
      }
      if (csv !== undefined) {
        await writeReportTable(context, id, { csv, json });
        return;
      }
      if (html !== undefined) {
        await writeReportPage(context, id, { html, json });
        return;
      }
      await withLonghaul(context, {}, async (longhaul) => {
        const batch = longhaul.batch(id);
        const view = await batch.status();
        if (!view.isOver) {
          const words = `It still runs, so there is no result yet: "longhaul batch status ${id}" says how far it is, and with --follow prints the table at its end.`;
          throw new DecisionRefusedError(view.workflowId, words);
        }
        const result = await batch.result();
        if (json) printJson(context, result);
        else printReport(context, { result, view });
        context.exitWith(batchExitCode(result));
      });
    });
}

/**
 * A batch's status as text, with every known field.
 *
 * @internal exported for tests
 */
export function batchStatusText(view: BatchView, nowMs: number, ending?: BatchResult['ending']): string {
  const { workflowId, isOver, execution, startedAt, endedAt, source, stuck, url, batchId, refused, failure } = view;
  const elapsedMs = (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(startedAt);
  const hasTable = execution === 'COMPLETED' || execution === 'CANCELLED';
  const over = `${overWord(view, ending)}, over after ${formatClock(elapsedMs)}${hasTable ? `; see "longhaul batch report ${batchId}"` : ''}`;
  const facts: readonly (readonly [string, string | null])[] = [
    ['state', isOver ? over : `runs for ${formatClock(elapsedMs)}`],
    ['row file', source],
    ['failure', failure === null ? null : `${failure.type}: ${failure.message}`],
    [
      'refused',
      refused === null ? null : `a later run${refused.at === null ? '' : ` (${refused.at})`}: ${refused.reason}`,
    ],
    ['stuck', stuck?.message ?? null],
    ['note', noteText(view)],
    ...progressFacts(view, elapsedMs, nowMs),
    ['next', isOver ? nextText(view) : null],
    ['page', url],
  ];
  const lines = facts.flatMap(([name, words]) => (words === null ? [] : [`  ${name.padEnd(13)}${words}`]));
  return [workflowId, ...lines, ...failureLines(view)].map((line) => fit(line, Infinity)).join('\n');
}

function noteText({ isOverloaded, progress, stuck, isOver, taskQueue }: BatchView): string | null {
  if (isOverloaded) return overloadWords;
  if (progress !== null || stuck !== null) return null;
  return `No worker answered, so this is all that is known.${isOver ? '' : ` ${noWorkerRemedy(taskQueue)}`}`;
}

/** What is left to do for a batch that is over and has no table that says so, or left tasks that nothing follows. */
function nextText({ workflowId, batchId, execution, progress }: BatchView): string | null {
  if (isCutOff(execution)) {
    const goOn = `longhaul batch retry ${batchId} takes it up again: it follows rows that run, starts the others, and creates those that failed anew`;
    return `rows that ran go on, and are paid: ${goOn}. To end them instead: longhaul list --batch ${batchId}, then longhaul stop ${workflowId}:KEY of each`;
  }
  const failures = progress?.report?.failures ?? progress?.failures ?? {};
  const unfollowed = mayExistUnfollowed.reduce((sum, type) => sum + (failures[type] ?? 0), 0);
  if (unfollowed === 0) return null;
  return `longhaul reconcile: of ${formatCountOf(unfollowed, 'row')} the service may have the task, which is paid then, and nothing follows it`;
}

/** `Refused`: it failed before it started a row. */
function overWord({ execution, failure, progress }: BatchView, ending?: BatchResult['ending']): string {
  if (failure !== null && progress?.state === 'Opening') return 'Refused';
  return endingWord(execution, ending) ?? `Cut off (${execution.toLowerCase()})`;
}

function progressFacts(
  { progress, retrying, needPerson, uploading, createsHeldUp, isOver }: BatchView,
  elapsedMs: number,
  nowMs: number,
): [string, string | null][] {
  if (progress === null) return [];
  const { concurrency, badRows, pausedAt, toRetry, batchId } = progress;
  const known = isOver ? { ...progress, budget: null } : progress;
  const shown = { progress: known, retrying, needPerson, uploading, createsHeldUp };
  const problem = findProblem(shown);
  // A budget has a line of its own, and of a batch that is over nothing waits for one any more.
  const isSaid = problem?.kind === 'budget' || (isOver && problem?.kind === 'dailyBudget');
  return [
    ['progress', barLine(progress, elapsedMs)],
    [
      'rows',
      `${countsLine(progress)}${isOver ? '' : `; at most ${concurrency} at a time${countedAt(progress, nowMs)}`}`,
    ],
    [
      'paused',
      isOver || pausedAt === undefined
        ? null
        : `since ${formatMoment(pausedAt)}, for ${formatClock(nowMs - Date.parse(pausedAt))}; longhaul batch resume ${batchId}`,
    ],
    [
      'to be tried',
      toRetry === undefined || toRetry === 0
        ? null
        : `${formatCountOf(toRetry, 'row')} again, once every row had its turn`,
    ],
    ['running rows', isOver ? null : (statesLine(progress, nowMs) ?? null)],
    ['held up', isOver ? null : (heldUpText(shown) ?? null)],
    ['attempt', attemptText(progress)],
    ['pace', isOver ? null : paceLine(progress, nowMs)],
    ['uploads', formatUploads(shown) ?? null],
    ...costFacts(progress, isOver),
    ['left out', badRows === 0 ? null : formatCountOf(badRows, 'bad row')],
    ['failures', failuresText(progress)],
    ['problem', problem === undefined || isSaid ? null : problem.words],
  ];
}

function countedAt({ lastMovedAt }: BatchProgress, nowMs: number): string {
  return lastMovedAt == null ? '' : `; as of ${formatClock(Math.max(0, nowMs - Date.parse(lastMovedAt)))} ago`;
}

function attemptText({ attempt, state }: BatchProgress): string | null {
  if (attempt === undefined || attempt.of === 1) return null;
  const again = attempt.number > 1 && state !== 'Ended' ? '; rows that failed run again, and count as running' : '';
  return `${attempt.number} of ${attempt.of}${again}`;
}

/** By type. While the batch runs they are counted by attempt: a row that failed twice is one that failed. */
function failuresText({ failures, failed, report }: BatchProgress): string | null {
  const types = mostFrequent(report?.failures ?? failures);
  if (types.length === 0) return null;
  const count = types.reduce((sum, [, times]) => sum + times, 0);
  const words = types.map(([type, times]) => `${times} ${type}`).join(', ');
  return count === failed ? words : `${words}; of this run, each attempt counted`;
}

/** What the rows cost so far; nothing where no price is known. */
function costFacts({ costs, budget, running, batchId }: BatchProgress, isOver: boolean): [string, string][] {
  if (budget != null && isOver) {
    return [['budget', formatBudget({ ...budget, places: Math.max(1, budget.places) }, 0)]];
  }
  if (budget != null) {
    const more = budget.places > 0 ? '' : `; longhaul batch set-budget ${batchId} AMOUNT, or drain to end it`;
    return [['budget', `${formatBudget(budget, running)}${more}`]];
  }
  return costs === undefined || costs.sums.length === 0 ? [] : [['costs', costs.sums.map(formatMoney).join(' and ')]];
}

function failureLines({ progress, batchId, isOver }: BatchView): string[] {
  const failures = progress?.lastFailures ?? [];
  // Newest first; a row that was tried several times is among them once for each.
  const latest = failures.filter(({ key }, index) => failures.findIndex((other) => other.key === key) === index);
  const rowsByWords = new Map<string, string[]>();
  for (const row of latest) {
    const rows = rowsByWords.get(row.message) ?? [];
    rowsByWords.set(row.message, [...rows, `${shownKey(row)} (${formatRowPlace(row)})`]);
  }
  const lines = [...rowsByWords].map(([words, rows]) => {
    const count = rows.length === 1 ? '' : `${rows.length} rows, `;
    return printableLine(`  failed: ${count}${rows.join(', ')}: ${words}`);
  });
  const more = (progress?.failed ?? 0) - latest.length;
  if (lines.length === 0 || more <= 0) return lines;
  const how = isOver ? `batch report ${batchId}` : `list --batch ${batchId} --status Failed`;
  return [...lines, `  and ${formatCount(more)} more that failed: longhaul ${how}`];
}
