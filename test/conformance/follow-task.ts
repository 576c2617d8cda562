import { setTimeout as delay } from 'node:timers/promises';
import type { Pace } from './target';
import { NotCheckable } from './verdict';

/** The states of section 3, in the order in which a task goes through them. */
export const STATES = ['Queuing', 'Preparing', 'Running', 'Success', 'Failed', 'Canceled'];
const TERMINAL_STATES = ['Success', 'Failed', 'Canceled'];

/**
 * Polls a task until `isOver`, at the given pace, and returns what each poll found.
 *
 * @throws NotCheckable when that takes too long.
 */
export async function pollUntil<Poll>(
  poll: () => Promise<Poll>,
  isOver: (poll: Poll) => boolean,
  { pollEveryMs, taskWithinMs }: Pace,
): Promise<readonly Poll[]> {
  const polls: Poll[] = [];
  const deadline = Date.now() + taskWithinMs;
  for (;;) {
    const seen = await poll();
    polls.push(seen);
    if (isOver(seen)) return polls;
    if (Date.now() > deadline) throw new NotCheckable(`the task did not get there within ${taskWithinMs} ms`);
    await delay(pollEveryMs);
  }
}

export function isTerminal(status: string): boolean {
  return TERMINAL_STATES.includes(status);
}
