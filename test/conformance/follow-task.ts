import { setTimeout as delay } from 'node:timers/promises';
import type { Pace } from './target';
import { NotCheckable } from './verdict';

/** The states of section 3, in the order in which a task goes through them. */
export const STATES = ['Queuing', 'Preparing', 'Running', 'Success', 'Failed', 'Canceled'];
/** Those at which polling stops. */
const TERMINAL_STATES = ['Success', 'Failed', 'Canceled'];

/**
 * Looks at a task again and again until `isOver`, at the given pace, and returns every look.
 *
 * @throws NotCheckable when that takes too long.
 */
export async function lookUntil<Look>(
  look: () => Promise<Look>,
  isOver: (look: Look) => boolean,
  { pollEveryMs, taskWithinMs }: Pace,
): Promise<readonly Look[]> {
  const looks: Look[] = [];
  const deadline = Date.now() + taskWithinMs;
  for (;;) {
    const seen = await look();
    looks.push(seen);
    if (isOver(seen)) return looks;
    if (Date.now() > deadline) throw new NotCheckable(`the task did not get there within ${taskWithinMs} ms`);
    await delay(pollEveryMs);
  }
}

/** Whether a status is one at which polling stops. */
export function isTerminal(status: string): boolean {
  return TERMINAL_STATES.includes(status);
}
