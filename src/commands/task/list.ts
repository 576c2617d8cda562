import { Readable } from 'node:stream';
import type { Command } from 'commander';
import { InputInvalidError, UnknownTaskError } from '../../client/errors';
import type { Longhaul } from '../../client/longhaul';
import type { ListedTask } from '../../client/task/list-tasks';
import { checkListOptions, listedProblems, type ListTasksOptions } from '../../client/task/list-tasks';
import type { FailureType } from '../../contract/failure-types';
import { formatProblem } from '../../contract/problem';
import { type LonghaulStatus, statesThatWait } from '../../core/task-state';
import { formatCount, printableLine } from '../../core/text';
import { wallClock } from '../../core/time';
import { type CommandContext, printJson, withLonghaul } from '../command-context';
import { exitCodes } from '../exit-code';
import { sinceMs } from '../reconcile-options';
import { readCount, repeatable } from '../shared-options';
import { formatClock, tableLines } from '../terminal';
import { cutOffText } from './task-text';

interface ListOptions {
  /** As typed: checked with the other filters. */
  readonly status?: LonghaulStatus;
  readonly app?: string;
  readonly account?: string;
  readonly batch?: string;
  readonly tag?: readonly string[];
  readonly keyPrefix?: string;
  readonly since?: string;
  readonly until?: string;
  readonly failure?: FailureType;
  readonly needsPerson?: true;
  /** True: any. As typed: checked with the other filters. */
  readonly problem?: true | 'NeedsPerson';
  readonly limit: string;
  readonly json?: true;
}

const defaultLimit = '20';

export function addListCommand(program: Command, context: CommandContext): void {
  program
    .command('list')
    .description('Lists tasks, those that run first, then those that ended last, as long as Temporal keeps them.')
    .option('--status <status>', 'only these: Queuing, Running, CreateUncertain, ArchiveIncomplete, Success, …')
    .option('--app <app>', 'only tasks of this app')
    .option('--account <name>', 'only tasks of this account')
    .option('--batch <id>', 'only rows of this batch')
    .addOption(repeatable('--tag <tag>', 'only tasks with this tag; with all of them when given several times'))
    .option('--key-prefix <text>', 'only tasks whose key begins so; with --batch, rows')
    .option('--since <when>', 'only tasks started since then: 30d, or 2026-03-01')
    .option('--until <when>', 'only tasks started before then')
    .option('--failure <type>', 'only tasks that ended with this failure, such as TaskRejected')
    .option('--needs-person', 'only those that wait for a decision; exit code 5 when there are any')
    .addOption(
      program
        .createOption(
          '--problem [code]',
          `only those that cannot go on now, or for this reason: ${listedProblems.join(', ')}; exit code 5 as well`,
        )
        .conflicts('needsPerson'),
    )
    .option('--limit <count>', 'at most this many; a line on standard error says when there are more', defaultLimit)
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  $ longhaul list --status Running --limit 5\n')
    .action(async ({ limit, json, tag, since, until, needsPerson, problem: asked, ...given }: ListOptions) => {
      const problems: string[] = [];
      const count = collecting(problems, () => readCount('--limit', limit)) ?? 0;
      const from = collecting(problems, () => momentOf('--since', since));
      const to = collecting(problems, () => momentOf('--until', until));
      const problem = needsPerson ? 'NeedsPerson' : asked === true ? undefined : asked;
      // A filter that is there must have a value.
      const filter = {
        ...given,
        ...(problem !== undefined && { problem }),
        ...(tag !== undefined && { tags: tag }),
        ...(from !== undefined && { since: from }),
        ...(to !== undefined && { until: to }),
      };
      collecting(problems, () => {
        checkListOptions(filter);
      });
      if (problems.length > 0) throw new InputInvalidError(problems, 'arguments');
      await withLonghaul(context, {}, async (longhaul) => {
        const find = asked === true ? findProblems : listFirst;
        const { tasks, isCut, lookedAt } = await find(longhaul, filter, count);
        if (json) printJson(context, { tasks });
        else if (tasks.length === 0) context.stdout.write('no tasks\n');
        else context.stdout.write(`${listText(tasks, Date.now())}${problemLines(tasks, Date.now())}`);
        if (isCut) context.stderr.write(`the first ${count}; more: --limit ${Math.max(100, 5 * count)}\n`);
        if (lookedAt !== null) context.stderr.write(lookedAtLine(lookedAt));
        if ((asked ?? needsPerson) && tasks.length > 0) context.exitWith(exitCodes.needsPerson);
      });
    });
}

async function listFirst(longhaul: Longhaul, filter: ListTasksOptions, count: number): Promise<FoundTasks> {
  const tasks: ListedTask[] = [];
  // One more than is shown tells whether there are more.
  for await (const task of longhaul.list({ ...filter, limit: count + 1 })) tasks.push(task);
  const shown = await withProblemsOfCreates(longhaul, tasks.slice(0, count));
  return { tasks: shown, isCut: tasks.length > count, lookedAt: null };
}

function momentOf(option: string, text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(sinceMs(text, Date.now(), option));
}

/** Adds the problems of what cannot be used to those of the other options. */
function collecting<Value>(problems: string[], read: () => Value): Value | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof InputInvalidError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

function listText(tasks: readonly ListedTask[], nowMs: number): string {
  const header = ['STATUS', 'STARTED (UTC)', 'TOOK', 'APP', 'TASK', 'REQUEST ID'];
  const waited: readonly string[] = statesThatWait;
  const rows = tasks.map((task) => {
    // A task that failed while it waited keeps that status.
    const isGivenUp = task.execution === 'FAILED' && waited.includes(task.status);
    return [
      `${shownState(task)}${isGivenUp ? ' (failed)' : ''}`,
      wallClock(task.startedAt),
      formatClock((task.endedAt === null ? nowMs : Date.parse(task.endedAt)) - Date.parse(task.startedAt)),
      task.app ?? '-',
      task.workflowId,
      task.requestId ?? '-',
    ].map(printableLine);
  });
  return tableLines([header, ...rows])
    .map((line) => `${line}\n`)
    .join('');
}

function problemLines(tasks: readonly ListedTask[], nowMs: number): string {
  const lines = tasks.flatMap(({ workflowId, problem, undecodable }) => [
    ...(problem === null ? [] : [printableLine(`${workflowId}: ${formatProblem(problem, nowMs)}`)]),
    ...(undecodable.length === 0 ? [] : [`${workflowId}: not decodable, so not shown: ${undecodable.join(', ')}`]),
  ]);
  return lines.length === 0 ? '' : `\n${lines.join('\n')}\n`;
}

/** Of a workflow that was terminated, timed out or has a problem: the last status that it reported. */
function shownState({ status, execution, problem }: ListedTask): string {
  if (problem !== null && problem.code !== 'NeedsPerson') return `${status} (${problem.code})`;
  return `${status}${cutOffText(execution)}`;
}

export interface FoundTasks {
  /** In Temporal's order, at most as many as asked for. */
  readonly tasks: readonly ListedTask[];
  /** Whether there are more among those that were looked at. */
  readonly isCut: boolean;
  /** How many tasks were asked about, if more run: there may be others. Null: all. */
  readonly lookedAt: number | null;
}

/** No list of Temporal has every problem: each running task is asked, at most so many. */
const maxLookedAt = 1_000;
/** Questions to Temporal at the same time. */
const atOnce = 20;

/** The rest of the filter holds as for any list. Throws what a list throws. */
export async function findProblems(
  longhaul: Longhaul,
  filter: ListTasksOptions,
  count: number,
  most = maxLookedAt,
): Promise<FoundTasks> {
  const running: ListedTask[] = [];
  for await (const task of longhaul.list({ ...filter, running: true, limit: most + 1 })) running.push(task);
  const asked = await withProblems(longhaul, running.slice(0, most), () => true);
  const tasks = asked.filter(({ problem }) => problem !== null && problem.code !== 'HeldBack');
  const isCut = tasks.length > count;
  return { tasks: tasks.slice(0, count), isCut, lookedAt: running.length > most ? most : null };
}

/** Tasks of a list that are asked why they are not created. */
const maxAsked = 100;

async function withProblemsOfCreates(longhaul: Longhaul, tasks: readonly ListedTask[]): Promise<readonly ListedTask[]> {
  let asked = 0;
  return await withProblems(longhaul, tasks, ({ status, isOver }) => {
    return status === 'Creating' && !isOver && ++asked <= maxAsked;
  });
}

async function withProblems(
  longhaul: Longhaul,
  tasks: readonly ListedTask[],
  isAsked: (task: ListedTask) => boolean,
): Promise<readonly ListedTask[]> {
  const ask = async (task: ListedTask): Promise<ListedTask> => {
    if (!isAsked(task)) return task;
    try {
      return { ...task, problem: await longhaul.task(task.workflowId).problem() };
    } catch (error) {
      // It ended meanwhile, and Temporal has forgotten it.
      if (error instanceof UnknownTaskError) return task;
      throw error;
    }
  };
  return (await Readable.from(tasks).map(ask, { concurrency: atOnce }).toArray()) as ListedTask[];
}

export function lookedAtLine(lookedAt: number): string {
  return `looked at the first ${formatCount(lookedAt)} tasks that run, and more run: narrow it down, with --app, --account, --batch, --tag or --until\n`;
}
