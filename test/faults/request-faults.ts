import type { EndpointName } from '../../reference-service/endpoint-name';
import type { ScenarioInput } from '../../reference-service/scenarios/scenario';
import type { InjectedFault } from '../support/injected-fault';
import type { NetworkFault } from '../support/faulty-connection';
import type { FaultStack } from './fault-stack';
import type { Step } from './matrix';
import type { TaskUnderTest } from './task-under-test';

/** What waits for requests: at the service itself, on the way to it, or on the way to its storage. */
export type RequestFault =
  | { readonly at: 'service'; readonly scenario: ScenarioInput; readonly times?: number }
  | { readonly at: 'serviceNetwork' | 'storageNetwork'; readonly fault: NetworkFault; readonly times?: number };

/** Faults that wait for a task's requests. */
export interface InjectedRequestFault {
  /** How many requests each of them has hit so far. */
  hits(): readonly number[];
  /** Nothing more is to go wrong; what the service itself was ordered goes on. */
  lift(): void;
}

/** What a step asks the service. */
const endpointsOf: Record<Step, readonly EndpointName[]> = {
  upload: ['upload-token', 'commit'],
  create: ['create'],
  watch: ['detail'],
  'watch by activity': ['detail'],
  stop: ['cancel'],
  archive: ['outputs'],
};

/** The end of each endpoint's path (specification, section 4). */
const pathOf: Partial<Record<EndpointName, string>> = {
  'upload-token': '/upload/token',
  commit: '/input_resource/commit',
  create: '/openapi/create',
  detail: '/openapi/detail',
  cancel: '/openapi/cancel',
  outputs: '/openapi/outputs',
};

/**
 * Lays a fault for the requests of this step. A task that is created is meant by its request id, its create by the
 * workflow's id; uploads name nobody, so only one task may upload meanwhile.
 */
export function injectRequestFault(
  fault: RequestFault,
  step: Step,
  stack: FaultStack,
  task: TaskUnderTest,
): InjectedRequestFault {
  if (fault.at === 'service') return orderAtService(fault, step, stack, task);
  const injected = (fault.at === 'serviceNetwork' ? serviceMarkers(step, task) : storageMarkers(step, task)).map(
    (markers) => stack[fault.at].inject({ markers, fault: fault.fault, times: fault.times ?? 1 }),
  );
  return together(injected);
}

function orderAtService(
  { scenario, times = 1 }: RequestFault & { at: 'service' },
  step: Step,
  { parts: { service } }: FaultStack,
  task: TaskUnderTest,
): InjectedRequestFault {
  const whose = aimAt(step, task);
  const counts = endpointsOf[step].map((endpoint) => {
    const before = service.ledger.count({ endpoint, ...whose });
    service.scenarios.add({ endpoint, scenario, times, ...whose });
    return (): number => Math.min(times, service.ledger.count({ endpoint, ...whose }) - before);
  });
  return { hits: () => counts.map((count) => count()), lift: () => undefined };
}

function aimAt(step: Step, { requestId, workflowId }: TaskUnderTest): { correlation?: string; requestId?: string } {
  if (step === 'upload') return {};
  return step === 'create' || requestId === undefined ? { correlation: workflowId } : { requestId };
}

function serviceMarkers(step: Step, task: TaskUnderTest): string[][] {
  const whose = Object.values(aimAt(step, task));
  return endpointsOf[step].map((endpoint) => [pathOf[endpoint] ?? '', ...whose]);
}

function storageMarkers(step: Step, { key, requestId }: TaskUnderTest): string[][] {
  if (step === 'upload') return [['PUT ', key]];
  return step === 'archive' && requestId !== undefined ? [[`/${requestId}/`, 'X-Amz-Signature=']] : [];
}

function together(injected: readonly InjectedFault[]): InjectedRequestFault {
  return {
    hits: () => injected.map(({ hitCount }) => hitCount),
    lift: () => {
      for (const fault of injected) fault.lift();
    },
  };
}
