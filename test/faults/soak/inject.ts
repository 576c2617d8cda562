import { setTimeout as delay } from 'node:timers/promises';
import type { EndpointName } from '../../../reference-service/endpoint-name';
import type { ScenarioInput } from '../../../reference-service/scenarios/scenario';
import type { NetworkFault } from '../../support/faulty-connection';
import type { FaultStack } from '../fault-stack';
import { resetToBeginning } from '../process-faults';
import { busyAnswer } from '../start-with-fault';
import type { StackUnderTest, TaskUnderTest } from '../task-under-test';
import type { PlainFaultName, SoakFault, SoakFaultName } from './plan';

const endpoints: readonly EndpointName[] = ['create', 'detail', 'upload-token', 'commit', 'outputs', 'cancel', 'list'];

/** Lets one fault of the plan happen, and ends it. Returns whether there was anything for it to hit. */
export async function inject(stack: FaultStack, fault: SoakFault, started: readonly TaskUnderTest[]): Promise<boolean> {
  return await deeds[fault.name](stack, fault, started);
}

type Deed<Stack> = (stack: Stack, fault: SoakFault<string>, started: readonly TaskUnderTest[]) => Promise<boolean>;

/** Those that need no more than a service and Temporal. */
export const plainDeeds: Record<PlainFaultName, Deed<StackUnderTest>> = {
  repliesLost: order({ name: 'drop-reply' }),
  answered500: order({ name: 'answer-error' }),
  refused429: order({ name: 'refuse', reason: 'rateLimited' }),
  answeredRubbish: order({ name: 'rubbish', as: 'html' }),
  credentialsExpired: orderAt('upload-token', { name: 'expired-credentials' }),
  linksExpired: orderAt('outputs', { name: 'expired-links' }),
  workflowTerminated: (stack, { victim }, started) =>
    toOneOf(started, victim, ({ workflowId }) =>
      stack.parts.client.workflow.getHandle(workflowId).terminate('an operator at work'),
    ),
  workflowReset: (stack, { victim }, started) =>
    toOneOf(started, victim, ({ workflowId }) => resetToBeginning(stack, workflowId)),
};

const deeds: Record<SoakFaultName, Deed<FaultStack>> = {
  ...plainDeeds,
  workerKilled: always((stack) => stack.killWorkerAndStartAgain()),
  workerStopped: always((stack) => stack.stopWorkerAndStartAgain()),
  temporalKilled: always((stack) => stack.killTemporalAndStartAgain()),
  receiverKilled: always(async (stack, { forMs }) => {
    await stack.killReceiver();
    await delay(forMs);
    await stack.startReceiver();
  }),
  archiveAway: always(async (stack, { forMs }) => {
    stack.takeArchiveAway();
    await delay(forMs);
    stack.bringArchiveBack();
  }),
  serviceDown: always(async ({ serviceNetwork }, { forMs }) => {
    await serviceNetwork.refuse();
    await delay(forMs);
    await serviceNetwork.accept();
  }),
  connectionsReset: always(({ serviceNetwork }) => {
    serviceNetwork.resetAll();
  }),
  requestsReset: always(({ serviceNetwork }, { times, victim }) => {
    const fault: NetworkFault = { kind: victim % 2 === 0 ? 'resetBefore' : 'resetAfter' };
    serviceNetwork.inject({ markers: ['/v1/'], fault, times });
  }),
  storage503: onStorage(busyAnswer),
  uploadsReset: onStorage({ kind: 'resetBefore' }, 'upload'),
  downloadsCut: onStorage({ kind: 'cutAnswer', afterBytes: 100_000 }, 'download'),
};

/** What always has something to hit. */
function always<Stack>(deed: (stack: Stack, fault: SoakFault<string>) => unknown): Deed<Stack> {
  return async (stack, fault) => {
    await deed(stack, fault);
    return true;
  };
}

function order(scenario: ScenarioInput): Deed<StackUnderTest> {
  return (stack, fault, started) => {
    const endpoint = endpoints[fault.victim % endpoints.length] ?? 'detail';
    return orderAt(endpoint, scenario)(stack, fault, started);
  };
}

function orderAt(endpoint: EndpointName, scenario: ScenarioInput): Deed<StackUnderTest> {
  return always(({ parts: { service } }, { times }) => {
    service.scenarios.add({ endpoint, scenario, times });
  });
}

/** Only what Longhaul asks of the storage: the service's own requests are signed otherwise. */
function onStorage(fault: NetworkFault, what?: 'upload' | 'download'): Deed<FaultStack> {
  return always(({ storageNetwork }, { times, victim }) => {
    const isUpload = what === undefined ? victim % 2 === 0 : what === 'upload';
    storageNetwork.inject({ markers: [isUpload ? 'x-amz-security-token: ' : 'X-Amz-Signature='], fault, times });
  });
}

/** An operator's slip; one task may be over by then, and Temporal may be away. */
async function toOneOf(
  started: readonly TaskUnderTest[],
  victim: number,
  deed: (task: TaskUnderTest) => Promise<unknown>,
): Promise<boolean> {
  const task = started[victim % Math.max(1, started.length)];
  if (task === undefined) return false;
  try {
    if ((await task.handle.status()).isOver) return false;
    await deed(task);
    return true;
  } catch {
    return false;
  }
}
