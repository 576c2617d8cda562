import { Readable } from 'node:stream';
import type { Longhaul } from '../../client/longhaul';
import type { ListedTask } from '../../client/task/list-tasks';
import type { HeldUp } from '../../client/task/pending-work';
import type { ListTasksOptions } from '../../client/task/task-filter';
import { formatCount, printableLine } from '../../domain/text';
import { formatMoment } from '../../domain/time';

/** A task that cannot go on now. */
export type HeldUpTask = ListedTask & { readonly heldUp: HeldUp };

/** What was found of held-up tasks. */
export interface HeldUpTasks {
  /** In Temporal's order, at most as many as asked for. */
  readonly tasks: readonly HeldUpTask[];
  /** Whether there are more than these among those that were looked at. */
  readonly isCut: boolean;
  /** How many tasks were looked at, if more run: there may be others. Null: all that run. */
  readonly lookedAt: number | null;
}

/** No list of Temporal knows it, so each task that runs is asked about: so many at most. */
const maxLookedAt = 1_000;
/** Questions to Temporal at the same time. */
const atOnce = 20;

/** The tasks that run and are held up; the rest of the filter holds as for any list. Throws what a list throws. */
export async function findHeldUpTasks(
  longhaul: Longhaul,
  filter: Omit<ListTasksOptions, 'limit'>,
  count: number,
  most = maxLookedAt,
): Promise<HeldUpTasks> {
  const running: ListedTask[] = [];
  for await (const task of longhaul.list({ ...filter, running: true, limit: most + 1 })) running.push(task);
  const looked = running.slice(0, most);
  const found = Readable.from(looked).map(
    async (task: ListedTask) => {
      const heldUp = await heldUpOf(longhaul, task.workflowId);
      return [heldUp === null ? null : { ...task, heldUp }];
    },
    { concurrency: atOnce },
  );
  const tasks: HeldUpTask[] = [];
  for await (const [task] of found as AsyncIterable<[HeldUpTask | null]>) if (task !== null) tasks.push(task);
  const isCut = tasks.length > count;
  return { tasks: tasks.slice(0, count), isCut, lookedAt: running.length > most ? looked.length : null };
}

/** So many of the tasks of a list are asked why they are not created. */
const maxAsked = 100;

/** The same tasks; those that wait for their create with what keeps them from it. */
export async function withHeldUpCreates(
  longhaul: Longhaul,
  tasks: readonly ListedTask[],
): Promise<readonly (ListedTask & Partial<HeldUpTask>)[]> {
  let asked = 0;
  const told = Readable.from(tasks).map(
    async (task: ListedTask) => {
      if (task.status !== 'Creating' || task.isOver || (asked += 1) > maxAsked) return task;
      const heldUp = await heldUpOf(longhaul, task.workflowId);
      return heldUp === null ? task : { ...task, heldUp };
    },
    { concurrency: atOnce },
  );
  return (await told.toArray()) as (ListedTask & Partial<HeldUpTask>)[];
}

async function heldUpOf(longhaul: Longhaul, workflowId: string): Promise<HeldUp | null> {
  const { UnknownTaskError } = await import('../../client/errors.js');
  try {
    return await longhaul.task(workflowId).heldUp();
  } catch (error) {
    // It ended since it was listed, and Temporal has forgotten it.
    if (error instanceof UnknownTaskError) return null;
    throw error;
  }
}

/** Why a task is held up, as a line. */
export function heldUpLine({ workflowId, heldUp: { activity, since, words } }: HeldUpTask): string {
  return printableLine(`${workflowId} is held up since ${formatMoment(since)}: ${activity}: ${words}`);
}

/** That there may be more. */
export function lookedAtLine(lookedAt: number): string {
  return `looked at the first ${formatCount(lookedAt)} tasks that run, and more run: narrow it down, with --app, --account, --batch, --tag or --until\n`;
}
