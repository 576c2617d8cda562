import type { PollResult } from '../contract/activities';
import type { DeadlineName } from '../domain/passed-deadline';

/** What was seen of the task, with what follows from it by the clock of whoever looked. */
export interface Sighting {
  readonly poll: PollResult;
  /** "No such task" has lasted longer than "not visible yet" can explain. */
  readonly isLost: boolean;
  /** A deadline that has passed. */
  readonly deadline: DeadlineName | undefined;
}

/** A way to watch: comes back with what there is to see next, which the task's state then tells as well. */
export type NextSighting = () => Promise<Sighting>;
