import type { TaskView } from '../../src/client/task/task-view';
import { eventually } from '../support/eventually';
import type { Ending } from './matrix';
import type { TaskUnderTest } from './task-under-test';

/** Longer than the longest timeout that a dead worker leaves behind, twice. */
const patience = { withinMs: 90_000, everyMs: 200 };

/**
 * Follows a task to its end, and does what a person has to do on the way, once what is wrong is repaired. Returns the
 * status it ended with.
 */
export async function followToEnd(
  task: TaskUnderTest,
  ending: Ending,
  repair = (): void => undefined,
): Promise<string> {
  await persons[ending]?.(task, repair);
  return await statusAtTheEnd(task);
}

/** The status that an ending of the matrix leads to. */
export function statusOf(ending: Ending): 'Success' | 'Canceled' {
  return ending === 'stopped' || ending === 'stoppedAndKnown' ? 'Canceled' : 'Success';
}

/** What a person does, once they see that it is needed. */
const persons: Partial<Record<Ending, (task: TaskUnderTest, repair: () => void) => Promise<unknown>>> = {
  adopted: async (task) => {
    await visibly('CreateUncertain', task);
    await task.handle.adopt(task.requestId ?? '');
  },
  recreated: async (task) => {
    await visibly('CreateUncertain', task);
    await task.handle.recreate();
  },
  rearchived: async (task, repair) => {
    await visibly('ArchiveIncomplete', task);
    repair();
    await task.handle.rearchive();
  },
  startedAgain: (task) => task.start(true),
  startedAgainUncertain: async (task) => {
    await task.start(true);
    const isDecided = ({ isOver, status }: TaskView): boolean => isOver || status === 'CreateUncertain';
    const { isOver } = await untilView(task, `${task.key} to be over or in doubt`, isDecided);
    if (!isOver) await task.handle.adopt(task.requestId ?? '');
  },
  stoppedAndKnown: (task) => task.start(true),
};

/** Waits until the task stands so. */
async function visibly(status: string, task: TaskUnderTest): Promise<void> {
  await untilView(task, `${task.key} to be ${status}`, (view) => view.status === status);
}

/** Waits until the task's view is as wanted. What cannot be asked now, because something is down, is asked again. */
export async function untilView(
  task: TaskUnderTest,
  what: string,
  isReached: (view: TaskView) => boolean,
): Promise<TaskView> {
  let last: TaskView | undefined;
  const reached = async (): Promise<TaskView | undefined> => {
    last = await task.handle.status();
    return isReached(last) ? last : undefined;
  };
  const found = await eventually(reached, patience).catch((error: unknown) => {
    throw new Error(`waited in vain for ${what}: ${JSON.stringify(last)}`, { cause: error });
  });
  if (found === undefined) throw new Error('No view was found.');
  return found;
}

async function statusAtTheEnd(task: TaskUnderTest): Promise<string> {
  const last = await untilView(task, `${task.key} to be over`, ({ isOver }) => isOver);
  const isGood = last.status === 'Success' || last.status === 'Canceled';
  return isGood ? last.status : JSON.stringify(last);
}
