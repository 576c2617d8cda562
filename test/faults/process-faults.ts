import { randomUUID } from 'node:crypto';
import type { FaultStack } from './fault-stack';
import { letGo } from './hold-at';
import type { Step, processFaults } from './matrix';
import { untilView } from './follow-to-end';
import type { StackUnderTest, TaskUnderTest } from './task-under-test';

/** A fault of processes and of what they stand on. */
export type ProcessFault = keyof typeof processFaults;

/** The tasks that a fault hits, each in the middle of its step. */
export type HeldTasks = Partial<Record<Step, TaskUnderTest>>;

/** Injects the fault, lets go what was held, and repairs what does not recover by itself. */
export async function injectProcessFault(what: ProcessFault, stack: FaultStack, tasks: HeldTasks): Promise<void> {
  const all = Object.values(tasks);
  const goOn = (): void => {
    letGo(stack, all);
  };
  await injections[what](stack, tasks, goOn);
  goOn();
}

const injections: Record<ProcessFault, (stack: FaultStack, tasks: HeldTasks, goOn: () => void) => Promise<void>> = {
  'the worker is killed': (stack) => stack.killWorkerAndStartAgain(),
  'the worker is told to stop': (stack) => stack.stopWorkerAndStartAgain(),
  'Temporal is killed and started again': (stack) => stack.killTemporalAndStartAgain(),
  'the callback receiver is killed': async (stack, tasks, goOn) => {
    await stack.killReceiver();
    goOn();
    for (const task of Object.values(tasks)) await untilView(task, `${task.key} to be over`, ({ isOver }) => isOver);
    await stack.startReceiver();
  },
  'the service is down for a while': async ({ serviceNetwork }, { upload, create, watch }, goOn) => {
    await serviceNetwork.refuse();
    goOn();
    await noticed(upload, ({ problem }) => problem?.code === 'Retrying');
    await noticed(create, ({ status }) => status === 'CreateUncertain');
    await noticed(watch, ({ failedPolls }) => (failedPolls ?? 0) >= 3);
    await serviceNetwork.accept();
  },
  'the archive cannot be written for a while': async (stack, { upload, archive }, goOn) => {
    stack.takeArchiveAway();
    goOn();
    await noticed(upload, ({ problem }) => problem?.message.startsWith('createTask: ') ?? false);
    await noticed(archive, ({ problem }) => problem?.code === 'Retrying');
    stack.bringArchiveBack();
  },
  'an operator terminates the workflow': async (stack, tasks) => {
    const ends = Object.values(tasks).map(({ workflowId }) => {
      return stack.parts.client.workflow.getHandle(workflowId).terminate('an operator at work');
    });
    await Promise.all(ends);
  },
  'an operator resets the workflow to its beginning': async (stack, tasks) => {
    await Promise.all(Object.values(tasks).map(({ workflowId }) => resetToBeginning(stack, workflowId)));
  },
};

async function noticed(task: TaskUnderTest | undefined, isNoticed: Parameters<typeof untilView>[2]): Promise<void> {
  if (task !== undefined) await untilView(task, `${task.key} to notice`, isNoticed);
}

/** As the Web UI's "Reset" does it: to the end of the first workflow task. */
export async function resetToBeginning({ parts: { client } }: StackUnderTest, workflowId: string): Promise<void> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes != null);
  await client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    reason: 'an operator at work',
    requestId: randomUUID(),
    workflowTaskFinishEventId: first?.eventId ?? null,
  });
}
