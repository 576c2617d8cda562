import { type FakeService, finalFailure } from './fake-activities';
import type { RunningTask, TestInput } from './task-environment';

/** One way in which a task can go, from its start to its end: recorded for replays, and lived beside others. */
export interface TaskStory {
  readonly name: string;
  readonly input: TestInput;
  /** Prepares the service, and returns what people do with the task until it ends by itself. */
  readonly begin: (service: FakeService) => (task: RunningTask) => Promise<unknown>;
  /** How it ends, in Temporal's words. */
  readonly execution: 'COMPLETED' | 'FAILED' | 'CANCELLED';
  readonly creates: number;
  readonly verbs: readonly string[];
}

export const uncertain = { outcome: 'uncertain', reason: 'the connection was reset' } as const;
export const brokenOutput = finalFailure('OutputUnavailable', 'output 1 has no link');
export const idle = (): Promise<void> => Promise.resolve();

/** Of a story: what the service does from the start, and what people then do; `begin` where one needs the other. */
interface StoryParts extends Partial<TaskStory> {
  readonly ways?: () => Partial<FakeService>;
  readonly act?: (task: RunningTask, service: FakeService) => Promise<unknown>;
}

export function story(name: string, { ways, act = idle, ...parts }: StoryParts): TaskStory {
  const begin: TaskStory['begin'] = (service) => {
    Object.assign(service, ways?.());
    return (task) => act(task, service);
  };
  return { name, input: {}, begin, execution: 'COMPLETED', creates: 1, verbs: [], ...parts };
}
