import { statesThatWait } from '../core/task-state';
import type { Problem } from './problem';
import { operatorChoices } from './task-advice';

const waits: Readonly<Record<string, string>> = {
  CreateUncertain: 'It is not known whether the service created the task.',
  ArchiveIncomplete: 'It succeeded, and not every output could be archived.',
};

interface StatedTask {
  readonly workflowId: string;
  readonly status: string;
  readonly since: string | null;
  /** Of its workflow or its watch. */
  readonly words: string | null;
  readonly isHeldBack?: boolean;
}

/** The problem of a task that is not over, by its state. */
export function stateProblem({ workflowId, status, since, words, isHeldBack = false }: StatedTask): Problem | null {
  if (statesThatWait.some((state) => state === status)) {
    const commands = operatorChoices(status, workflowId).map(({ command }) => command);
    const message = words ?? waits[status] ?? status;
    return { code: 'NeedsPerson', message, since, remedy: `Decide: ${commands.join(', or ')}` };
  }
  if (words === null) return null;
  return { code: isHeldBack ? 'HeldBack' : 'Retrying', message: words, since: null, remedy: null };
}
