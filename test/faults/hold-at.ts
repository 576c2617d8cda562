import type { ScenarioInput } from '../../reference-service/scenarios/scenario';
import { eventually } from '../support/eventually';
import type { FaultStack } from './fault-stack';
import type { Step } from './matrix';
import { TaskUnderTest } from './task-under-test';

/** What a connection swallows before its reader is missed is a fraction of a file. */
const heldAfterBytes = 64 * 1024;
/** How long the service takes to answer a create or a cancel, so that a fault comes before. */
const answerAfterMs = 6_000;
const checkOften = { everyMs: 20 };
const late: ScenarioInput = { name: 'stall', ms: answerAfterMs };

/**
 * Starts a task and brings it to the middle of a step: a quarter of its file is uploaded, its create is accepted and
 * not answered, it is watched in the queue, its cancel is taken and not answered, a quarter of its output is fetched.
 */
export async function holdAt(step: Step, stack: FaultStack, key: string): Promise<TaskUnderTest> {
  const task = new TaskUnderTest(stack, key, { watch: watchOf(step) });
  await bringTo[step](stack, task);
  return task;
}

/** Lets go whatever {@link holdAt} holds; what a fault has ended is held no more. */
export function letGo(stack: FaultStack, tasks: readonly TaskUnderTest[]): void {
  stack.storageNetwork.release();
  for (const { requestId = '' } of tasks) stack.parts.service.release(requestId);
}

const bringTo: Record<Step, (stack: FaultStack, task: TaskUnderTest) => Promise<void>> = {
  upload: async ({ storageNetwork }, task) => {
    const fault = { kind: 'holdRequest', afterBytes: heldAfterBytes } as const;
    const held = storageNetwork.inject({ markers: ['PUT ', task.key], fault });
    await task.start();
    await eventually(() => held.hitCount === 1, { ...checkOften, what: 'the upload to begin' });
  },
  create: async ({ parts: { service } }, task) => {
    service.scenarios.add({ endpoint: 'create', scenario: late, correlation: task.workflowId });
    await task.start();
    await created(task);
  },
  watch: bringToWatch,
  'watch by activity': bringToWatch,
  stop: async (stack, task) => {
    const requestId = await startHeld(stack, task);
    stack.parts.service.scenarios.add({ endpoint: 'cancel', scenario: late, requestId });
    await task.handle.stop();
    await eventually(() => task.asked('cancel') === 1, { ...checkOften, what: 'the cancel to be sent' });
  },
  archive: async (stack, task) => {
    const requestId = await startHeld(stack, task);
    const fault = { kind: 'holdAnswer', afterBytes: heldAfterBytes } as const;
    const held = stack.storageNetwork.inject({ markers: [`/${requestId}/`, 'X-Amz-Signature='], fault });
    stack.parts.service.release(requestId);
    await eventually(() => held.hitCount === 1, { ...checkOften, what: 'the output to be fetched' });
  },
};

async function bringToWatch(stack: FaultStack, task: TaskUnderTest): Promise<void> {
  await startHeld(stack, task);
  await eventually(() => task.asked('detail') >= 2, { ...checkOften, what: 'the watch to look' });
}

/** How a task of this step's cell is watched. */
export function watchOf(step: Step): 'timer' | 'activity' {
  return step === 'watch by activity' ? 'activity' : 'timer';
}

/** Starts a task that stays in the service's queue, and returns its request id. */
export async function startHeld({ parts: { service } }: FaultStack, task: TaskUnderTest): Promise<string> {
  service.scenarios.add({ endpoint: 'create', scenario: { name: 'hold' }, correlation: task.workflowId });
  await task.start();
  return await created(task);
}

async function created(task: TaskUnderTest): Promise<string> {
  return (await eventually(() => task.requestId, { ...checkOften, what: `the create of ${task.key}` })) ?? '';
}
