import type { TaskInput, TaskTuning } from './task-input';

/**
 * What a task's input chose although a worker's operator may not want it; it goes along to the activities that upload
 * and create, which know what is allowed.
 */
export interface TaskChoices {
  readonly tuning?: Partial<TaskTuning>;
  readonly onUncertain?: 'recreate';
}

/** The choices of an input; undefined when it made none. */
export function taskChoices(input: TaskInput): TaskChoices | undefined {
  const { tuning, onUncertain } = { onUncertain: undefined, ...input };
  const choices: TaskChoices = {
    ...(tuning !== undefined && { tuning }),
    ...(onUncertain === 'recreate' && { onUncertain }),
  };
  return Object.keys(choices).length === 0 ? undefined : choices;
}
