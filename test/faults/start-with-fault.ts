import { eventually } from '../support/eventually';
import type { NetworkFault } from '../support/faulty-connection';
import { type InjectedRequestFault, injectRequestFault, type RequestFault } from './request-faults';
import type { FaultStack } from './fault-stack';
import { startHeld, watchOf } from './hold-at';
import type { requestFaults, Step } from './matrix';
import { TaskUnderTest } from './task-under-test';

/** A fault of requests and answers. */
export type RequestFaultName = keyof typeof requestFaults;

/** A task on its way, and what waited for it. */
export interface FaultedTask {
  readonly task: TaskUnderTest;
  readonly injected: readonly InjectedRequestFault[];
}

/** What a storage says that has too much to do. */
export const busyAnswer: NetworkFault = {
  kind: 'answer',
  text: 'HTTP/1.1 503 Slow Down\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
};

/** On the way to the service and to its storage alike. */
function onEveryWay(fault: NetworkFault, times: number): RequestFault[] {
  return [
    { at: 'serviceNetwork', fault, times },
    { at: 'storageNetwork', fault, times },
  ];
}

const faultsOf: Record<RequestFaultName, readonly RequestFault[]> = {
  'connections are reset before the request arrives': onEveryWay({ kind: 'resetBefore' }, 1),
  'connections are reset after the request was sent': onEveryWay({ kind: 'resetAfter' }, 1),
  'replies are lost': [{ at: 'service', scenario: { name: 'drop-reply' } }],
  'replies and callbacks are lost': [
    { at: 'service', scenario: { name: 'drop-reply' } },
    { at: 'service', scenario: { name: 'lose-callbacks' } },
  ],
  'the service does what it is asked and answers 500': [{ at: 'service', scenario: { name: 'answer-error' } }],
  'the service refuses with 429': [{ at: 'service', scenario: { name: 'refuse', reason: 'rateLimited' }, times: 3 }],
  'the service answers rubbish': [{ at: 'service', scenario: { name: 'rubbish', as: 'html' } }],
  'the storage answers 503': [{ at: 'storageNetwork', fault: busyAnswer, times: 3 }],
  'the storage answers 503 for longer than retries last': [
    { at: 'storageNetwork', fault: busyAnswer, times: Infinity },
  ],
  'the credentials have expired': [{ at: 'service', scenario: { name: 'expired-credentials' }, times: 2 }],
  'the links have expired': [{ at: 'service', scenario: { name: 'expired-links' }, times: 2 }],
  'the download breaks off': [{ at: 'storageNetwork', fault: { kind: 'cutAnswer', afterBytes: 100_000 }, times: 2 }],
};

/** Short, and yet enough for an archive that nothing hinders, on a busy machine. */
const archiveGraceMs = 10_000;

/** Starts a task and lets it run into the injected fault at this step. */
export async function startWithFault(
  name: RequestFaultName,
  step: Step,
  stack: FaultStack,
  key: string,
): Promise<FaultedTask> {
  const isForLong = faultsOf[name].some(({ times }) => times === Infinity);
  const tuning = isForLong ? { archiveGraceMs } : {};
  const task = new TaskUnderTest(stack, key, { tuning, watch: watchOf(step) });
  const inject = (): InjectedRequestFault[] =>
    faultsOf[name].map((fault) => injectRequestFault(fault, step, stack, task));
  return { task, injected: await runInto[step](stack, task, inject) };
}

type Inject = () => readonly InjectedRequestFault[];

const runInto: Record<
  Step,
  (stack: FaultStack, task: TaskUnderTest, inject: Inject) => Promise<readonly InjectedRequestFault[]>
> = {
  upload: async (_stack, task, inject) => {
    const injected = inject();
    await task.start();
    // Until then, what waits for uploads would meet another task's.
    await eventually(() => task.requestId, { withinMs: 60_000, what: `the create of ${task.key}` });
    return injected;
  },
  create: async (_stack, task, inject) => {
    const injected = inject();
    await task.start();
    return injected;
  },
  watch: runWatchInto,
  'watch by activity': runWatchInto,
  stop: async (stack, task, inject) => {
    await startHeld(stack, task);
    const injected = inject();
    await task.handle.stop();
    return injected;
  },
  archive: async (stack, task, inject) => {
    const requestId = await startHeld(stack, task);
    const injected = inject();
    stack.parts.service.release(requestId);
    return injected;
  },
};

async function runWatchInto(
  stack: FaultStack,
  task: TaskUnderTest,
  inject: Inject,
): Promise<readonly InjectedRequestFault[]> {
  const requestId = await startHeld(stack, task);
  const injected = inject();
  await eventually(() => haveHit(injected), { what: 'the watch to be hit' });
  const seen = task.asked('detail');
  await eventually(() => task.asked('detail') > seen + 1, { what: 'the watch to look again' });
  stack.parts.service.release(requestId);
  return injected;
}

/** Whether every one of these has hit a request. */
export function haveHit(injected: readonly InjectedRequestFault[]): boolean {
  return injected.flatMap((one) => one.hits()).every((hits) => hits > 0);
}
