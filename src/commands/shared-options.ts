import { Argument, Option } from 'commander';
import { checkedTaskId } from '../client/task-id';
import { workflowTaskQueue } from '../contract/task-queues';

/** An option that may be given any number of times; `undefined` when it never is. */
export function repeatable(flags: string, description: string): Option {
  const collect = (value: string, former: readonly string[] = []): readonly string[] => [...former, value];
  return new Option(flags, description).argParser(collect);
}

/** `--task-queue`: for a second, separate set of workers in one namespace. */
export function taskQueueOption(): Option {
  return new Option('--task-queue <name>', `task queue of the workers (default: "${workflowTaskQueue}")`);
}

/** How every command names a task; read before Temporal is asked anything. */
export function idArgument(): Argument {
  return new Argument('<id>', 'the task’s key or workflow id').argParser(checkedTaskId);
}

/** The whole number that a text is, in digits; `NaN` when it is another or none. */
export function wholeNumber(text: string): number {
  return /^\d{1,16}$/.test(text) ? Number(text) : NaN;
}
